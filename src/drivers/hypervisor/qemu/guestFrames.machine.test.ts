import { describeGuestFrames } from '../guestFramesConformance.ts';
import { reasonToSkip, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');
if (skip) console.warn(`Hostile guests of QEMU are not tested: ${skip}`);

const network = 35;

describeGuestFrames(
  'QEMU',
  async () => {
    const bed = await testbed(network, 'tiny', {});
    return {
      ...bed.underTest({ readyTimeoutMs: 120_000, shutdownTimeoutMs: 30_000 }),
      network,
      places: [{ where: 'its host', link: bed.options.bridge.name, inside: [] }],
    };
  },
  skip,
);
