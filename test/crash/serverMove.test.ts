import { afterAll, beforeAll, expect, it } from 'vitest';
import { move } from '../../src/dedicated/move/saga.ts';
import { openRackWorld, type RackWorld } from './rackWorld.ts';
import { movingServer } from './serverMove.ts';
import { failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';

/**
 * A service on its way from one server to another, with the product killed in the middle of it while both servers go on, and every step done twice. `serverMove.long.test.ts` has
 * every boundary.
 */
let rack: RackWorld;
beforeAll(async () => {
  rack = await openRackWorld({ INNKEEPER_REPEAT_STEPS: 'on' });
}, 300_000);
afterAll(() => rack?.stop());

it('a product that dies leaves a service that is on one server, and the one before wiped', {
  timeout: 400_000,
}, async () => {
  const { world } = rack;
  const scenario = movingServer(rack);
  const passed = await failpointsOf(world, scenario);
  expect([...new Set(stepsOf(passed).filter((name) => name.startsWith(`${move.name}/`)))]).toEqual(
    move.steps.map(({ name }) => `${move.name}/${name}`),
  );
  expect(await world.audit()).toEqual([]);
  // The one before is off and nobody remembers, the other one was started, the service went over.
  for (const boundary of ['off: after do', 'start: after do', 'ready: recorded'])
    console.log(
      `killed at ${move.name}/${boundary}: ${JSON.stringify(await sweepCrashes(world, scenario, [`${move.name}/${boundary}`]))}`,
    );
});
