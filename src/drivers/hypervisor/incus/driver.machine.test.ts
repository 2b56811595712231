import { describeHypervisor } from '../conformance.ts';
import { incusBed, reasonToSkip } from './testbed.ts';

const skip = await reasonToSkip();
if (skip) console.warn(`Incus is not tested: ${skip}`);

describeHypervisor(
  'Incus',
  async () => (await incusBed(31)).underTest({ readyTimeoutMs: 150_000, shutdownTimeoutMs: 30_000 }),
  skip,
);
