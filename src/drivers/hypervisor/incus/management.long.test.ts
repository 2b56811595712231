import { describeManagement } from '../managementConformance.ts';
import { incusBed, reasonToSkip } from './testbed.ts';

const skip = await reasonToSkip();
if (skip) console.warn(`Incus is not tested: ${skip}`);

describeManagement(
  'Incus',
  async () => (await incusBed(32)).underTest({ readyTimeoutMs: 150_000, shutdownTimeoutMs: 30_000 }),
  skip,
);
