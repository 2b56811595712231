import { describeManagement } from '../managementConformance.ts';
import { reasonToSkip, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');
if (skip) console.warn(`QEMU is not tested: ${skip}`);

describeManagement(
  'QEMU',
  async () =>
    (await testbed(4, 'tiny', {})).underTest({ readyTimeoutMs: 150_000, shutdownTimeoutMs: 30_000 }),
  skip,
);
