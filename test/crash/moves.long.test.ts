import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { moveMachine } from '../../src/vps/moves/move.ts';
import { type MovesWorld, openMovesWorld } from './movesWorld.ts';
import { failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';

describe.each(['once', 'twice'] as const)(
  'with every step done %s, kill -9',
  { timeout: 3_600_000 },
  (steps) => {
    let moves: MovesWorld;
    beforeAll(async () => {
      moves = await openMovesWorld(steps === 'once' ? 58 : 59, {
        INNKEEPER_REPEAT_STEPS: steps === 'twice' ? 'on' : 'off',
      });
    }, 300_000);
    afterAll(() => moves?.stop());

    it.each(['live', 'cold'] as const)('at every failpoint of an evacuation, %s', async (how) => {
      const { world, scenarios } = moves;
      const failpoints = await failpointsOf(world, scenarios[how]);
      const mine = failpoints.filter((name) => name.startsWith('vps.move'));
      expect(stepsOf(mine)).toEqual(moveMachine.steps.map(({ name }) => `vps.move/${name}`));
      expect(await world.audit()).toEqual([]);
      const swept = await sweepCrashes(world, scenarios[how], failpoints);
      console.log(`an evacuation, ${how}, every step ${steps}: ${JSON.stringify(swept)}`);
    });
  },
);
