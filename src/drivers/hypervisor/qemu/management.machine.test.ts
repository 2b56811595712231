import { describeManagement } from '../managementConformance.ts';
import { reasonToSkip, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');
if (skip) console.warn(`QEMU is not tested: ${skip}`);

describeManagement(
  'QEMU',
  async () => {
    const bed = await testbed(4, 'tiny', {});
    return {
      ...bed,
      hypervisor: bed.open(),
      again: async () => bed.open(),
      guestShutsDown: async (spec) => void (await bed.inGuest(spec, 'poweroff').catch(() => undefined)),
      lose: bed.kill,
      silence: async (spec, silent) => {
        await bed.inGuest(spec, `kill -${silent ? 'STOP' : 'CONT'} $(pidof qemu-ga)`);
      },
      readyTimeoutMs: 150_000,
      shutdownTimeoutMs: 30_000,
    };
  },
  skip,
);
