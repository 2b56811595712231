import { describeManagement } from '../managementConformance.ts';
import { reasonToSkip, testbed } from './testbed.ts';

const skip = await reasonToSkip('debian-12');
if (skip) console.warn(`Debian 12 in QEMU is not tested: ${skip}`);

describeManagement(
  'Debian 12 in QEMU',
  async () => {
    const bed = await testbed(6, 'debian-12', { memoryMib: 512, cpuCores: 2, diskGib: 3 });
    return {
      ...bed,
      hypervisor: bed.open(),
      again: async () => bed.open(),
      guestShutsDown: async (spec) => void (await bed.inGuest(spec, 'poweroff').catch(() => undefined)),
      lose: bed.kill,
      silence: async (spec, silent) => {
        await bed.inGuest(spec, `kill -${silent ? 'STOP' : 'CONT'} $(pidof qemu-ga)`);
      },
      readyTimeoutMs: 300_000,
      shutdownTimeoutMs: 120_000,
    };
  },
  skip,
);
