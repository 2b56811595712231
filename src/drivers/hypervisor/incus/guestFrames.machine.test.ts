import { describeGuestFrames } from '../guestFramesConformance.ts';
import { incusBed, reasonToSkip } from './testbed.ts';

const skip = await reasonToSkip();
if (skip) console.warn(`Hostile guests of Incus are not tested: ${skip}`);

const network = 36;

describeGuestFrames(
  'Incus',
  async () => {
    const bed = await incusBed(network);
    const inside = bed.members[0]?.inside() ?? [];
    return {
      ...bed.underTest({ readyTimeoutMs: 300_000, shutdownTimeoutMs: 30_000 }),
      network,
      places: [
        { where: 'its host', link: bed.options.bridge, inside },
        { where: 'the network behind', link: `iki${network}`, inside: [] },
      ],
    };
  },
  skip,
);
