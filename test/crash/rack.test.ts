import { afterAll, beforeAll, expect, it } from 'vitest';
import { reinstall } from '../../src/dedicated/reinstall/saga.ts';
import { again } from './rackAgain.ts';
import { openRackWorld, type RackWorld } from './rackWorld.ts';
import { stepsOf, sweepCrashes } from './sweep.ts';

/**
 * A dedicated server that is delivered, and reinstalled by its customer, with every step done twice and the product killed in the middle of it while the server goes
 * on. `rack.long.test.ts` has every boundary, and every other way of a server.
 */
let rack: RackWorld;
beforeAll(async () => {
  rack = await openRackWorld({ INNKEEPER_REPEAT_STEPS: 'on' });
}, 300_000);
afterAll(() => rack?.stop());

it('a product that dies when a server was installed, and does not remember, leaves one that was wiped once for each of its systems', {
  timeout: 240_000,
}, async () => {
  const { world } = rack;
  await sweepCrashes(world, again.reinstalled, [`${reinstall.name}/install: after do`]);
  const own = world.passed().filter((name) => name.startsWith(`${reinstall.name}/`));
  expect([...new Set(stepsOf(own))]).toEqual(reinstall.steps.map(({ name }) => `${reinstall.name}/${name}`));
});
