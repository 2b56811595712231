import { describeManagement } from '../managementConformance.ts';
import { reasonToSkip, testbed } from './testbed.ts';

const skip = await reasonToSkip('debian-12');
if (skip) console.warn(`Debian 12 in QEMU is not tested: ${skip}`);

describeManagement(
  'Debian 12 in QEMU',
  async () =>
    (await testbed(6, 'debian-12', { memoryMib: 512, cpuCores: 2, diskGib: 3 })).underTest({
      readyTimeoutMs: 300_000,
      shutdownTimeoutMs: 120_000,
    }),
  skip,
);
