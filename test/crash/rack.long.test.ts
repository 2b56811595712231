import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provision } from '../../src/dedicated/install/provision.ts';
import { comeBack } from '../../src/dedicated/return/comeBack.ts';
import { openRackWorld, type RackWorld } from './rackWorld.ts';
import { everyThird, failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';

/** Kills the product at every boundary of the sagas of dedicated servers, while the servers go on. */
describe.each(['once', 'twice'] as const)(
  'with every step done %s, kill -9',
  { timeout: 3_600_000 },
  (steps) => {
    let rack: RackWorld;
    beforeAll(async () => {
      rack = await openRackWorld({ INNKEEPER_REPEAT_STEPS: steps === 'twice' ? 'on' : 'off' });
    }, 300_000);
    afterAll(() => rack?.stop());

    it.each([
      ['on the way to its customer leaves a server that is delivered once', provision, 'delivered'],
      ['on its way back leaves a server that was wiped once, and is in stock', comeBack, 'returned'],
    ] as const)('%s', async (_, saga, which) => {
      const { world, [which]: scenario } = rack;
      const passed = (await failpointsOf(world, scenario)).filter((name) => name.startsWith(saga.name));
      expect(stepsOf(passed)).toEqual(saga.steps.map(({ name }) => `${saga.name}/${name}`));
      expect(await world.audit()).toEqual([]);
      const swept = await sweepCrashes(world, scenario, steps === 'once' ? passed : everyThird(passed));
      console.log(`${scenario.name}, every step ${steps}: ${JSON.stringify(swept)}`);
    });
  },
);
