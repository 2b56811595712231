import { afterAll, beforeAll, expect, it } from 'vitest';
import { recoverMachine } from '../../src/vps/recovery/saga.ts';
import { openRecoveryWorld, type RecoveryWorld } from './recoveryWorld.ts';
import { failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';

/**
 * A machine of a lost node that is made anew elsewhere, with the product killed at five boundaries and every step done twice.
 * `recovery.long.test.ts` has every boundary, and the way back.
 */
let recovery: RecoveryWorld;
beforeAll(async () => {
  recovery = await openRecoveryWorld({ INNKEEPER_REPEAT_STEPS: 'on' });
}, 300_000);
afterAll(() => recovery?.stop());

const boundaries = [
  'vps.recover/place: recorded',
  'vps.recover/disk: after do',
  'vps.recover/arrive: record done: after commit',
  'vps.recover/copies: after do',
  'vps.recover/on: after do',
];

it('a product that dies while a machine is made anew leaves it there once, with its room, its backup and its customer told', {
  timeout: 240_000,
}, async () => {
  const { world, scenario } = recovery;
  const passed = (await failpointsOf(world, scenario)).filter((name) => name.startsWith('vps.recover'));
  expect(await world.audit()).toEqual([]);
  expect(passed).toEqual(expect.arrayContaining(boundaries));
  expect(stepsOf(passed)).toEqual(recoverMachine.steps.map(({ name }) => `vps.recover/${name}`));
  const swept = await sweepCrashes(world, scenario, boundaries);
  await recovery.everybodyBack();
  expect(await world.audit()).toEqual([]);
  console.log(`killed at ${boundaries.join(', ')}: ${JSON.stringify(swept)}`);
});
