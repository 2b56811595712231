import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provision } from '../../src/vps/install/provision.ts';
import { scenarioOf } from './scenarios.ts';
import { everySecond, failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';
import { openWorld, type World } from './world.ts';

/**
 * The main job, killed between what every second step did and the line that remembers it: one rule for all of them.
 * `once.long.test.ts` and `twice.long.test.ts` have every failpoint of every scenario.
 */
describe('kill -9 of the product while a machine is made', {
  timeout: 300_000,
}, () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ env: { INNKEEPER_REPEAT_STEPS: 'on' } });
  });
  afterAll(() => world?.stop());

  it('loses nothing and doubles nothing, after a step', async () => {
    const scenario = scenarioOf('pay');
    const failpoints = await failpointsOf(world, scenario);
    expect(stepsOf(failpoints).filter((step) => step.startsWith('vps.provision/'))).toHaveLength(
      provision.steps.length,
    );
    const mine = everySecond(failpoints.filter(isInTheMiddle));
    expect(mine).not.toEqual([]);
    const swept = await sweepCrashes(world, scenario, mine);
    console.log(`killed after a step: ${JSON.stringify(swept)}`);
  });
});

function isInTheMiddle(name: string): boolean {
  return /^vps\.provision\/\w+: after do$/.test(name) || /^(payInvoice|vps\.provision: done)/.test(name);
}
