import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reasonWithoutGuests } from '../../src/drivers/hypervisor/proxmox/testbed.ts';
import { moveIntoCluster } from '../../src/vps/moves/intoCluster.ts';
import { type MovesWorld, openMovesWorld } from './movesWorld.ts';
import { everyThird, failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';

/**
 * A machine of the product's own host that goes into a cluster, with the product killed at every third step, after what it did or once that is
 * remembered, and every step done twice. `intoCluster.long.test.ts` has every failpoint.
 */
const reason = await reasonWithoutGuests();
if (reason !== null) console.warn(`Moves into a cluster are not killed in the middle: ${reason}`);

describe.skipIf(reason !== null)(
  'kill -9 of the product while a machine goes into a cluster',
  {
    timeout: 400_000,
  },
  () => {
    let moves: MovesWorld;
    beforeAll(async () => {
      moves = await openMovesWorld(60, { INNKEEPER_REPEAT_STEPS: 'on' });
    }, 300_000);
    afterAll(() => moves?.stop());

    it('leaves it there and nowhere else, running, and its customer with the lock gone', async () => {
      const { world, intoCluster } = moves;
      const passed = await failpointsOf(world, intoCluster);
      const mine = passed.filter((name) => name.startsWith('vps.moveIntoCluster'));
      expect(stepsOf(mine)).toEqual(moveIntoCluster.steps.map(({ name }) => `vps.moveIntoCluster/${name}`));
      expect(await world.audit()).toEqual([]);
      const some = everyThird(mine.filter((name) => /: (after do|recorded)$/.test(name)));
      const swept = await sweepCrashes(world, intoCluster, some);
      console.log(`killed at ${some.join(', ')}: ${JSON.stringify(swept)}`);
    });
  },
);
