import { afterAll, beforeAll, expect, it } from 'vitest';
import { move } from '../../src/dedicated/move/saga.ts';
import { openRackWorld, type RackWorld } from './rackWorld.ts';
import { movingServer } from './serverMove.ts';
import { failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';

/** Kills the product at every boundary of a service’s way from one server to another. */
let rack: RackWorld;
beforeAll(async () => {
  rack = await openRackWorld();
}, 300_000);
afterAll(() => rack?.stop());

it('kill -9 at every boundary leaves a service that is on one server, and the one before wiped', {
  timeout: 3_600_000,
}, async () => {
  const { world } = rack;
  const scenario = movingServer(rack);
  const passed = (await failpointsOf(world, scenario)).filter((name) => name.startsWith(`${move.name}/`));
  expect(stepsOf(passed)).toEqual(move.steps.map(({ name }) => `${move.name}/${name}`));
  console.log(`${scenario.name}: ${JSON.stringify(await sweepCrashes(world, scenario, passed))}`);
});
