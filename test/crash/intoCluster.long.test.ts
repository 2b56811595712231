import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { moveIntoCluster } from '../../src/vps/moves/intoCluster.ts';
import { type MovesWorld, openMovesWorld } from './movesWorld.ts';
import { failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';

describe.each(['once', 'twice'] as const)(
  'with every step done %s, kill -9',
  { timeout: 3_600_000 },
  (steps) => {
    let moves: MovesWorld;
    beforeAll(async () => {
      moves = await openMovesWorld(steps === 'once' ? 61 : 62, {
        INNKEEPER_REPEAT_STEPS: steps === 'twice' ? 'on' : 'off',
      });
    }, 300_000);
    afterAll(() => moves?.stop());

    it('at every failpoint of a move into a cluster', async () => {
      const { world, intoCluster } = moves;
      const failpoints = await failpointsOf(world, intoCluster);
      const mine = failpoints.filter((name) => name.startsWith('vps.moveIntoCluster'));
      expect(stepsOf(mine)).toEqual(moveIntoCluster.steps.map(({ name }) => `vps.moveIntoCluster/${name}`));
      expect(await world.audit()).toEqual([]);
      const swept = await sweepCrashes(world, intoCluster, failpoints);
      console.log(`a move into a cluster, every step ${steps}: ${JSON.stringify(swept)}`);
    });
  },
);
