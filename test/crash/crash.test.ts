import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provision } from '../../src/vps/install/provision.ts';
import { scenarioOf } from './scenarios.ts';
import { everyThird, failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';
import { openWorld, type World } from './world.ts';

/**
 * The main job, killed at two steps of three: after what one did and before it is remembered, and at the next one after that.
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

  it('loses nothing and doubles nothing, before and after a step is remembered', async () => {
    const scenario = scenarioOf('pay');
    const failpoints = await failpointsOf(world, scenario);
    expect(stepsOf(failpoints).filter((step) => step.startsWith('vps.provision/'))).toHaveLength(
      provision.steps.length,
    );
    const mine = everyThird(failpoints.filter(isInTheMiddle));
    for (const kind of ['after do', 'recorded'])
      expect(mine.filter((name) => name.endsWith(`: ${kind}`)).length).toBeGreaterThan(1);
    const swept = await sweepCrashes(world, scenario, mine);
    console.log(`killed at ${mine.join(', ')}: ${JSON.stringify(swept)}`);
  });
});

function isInTheMiddle(name: string): boolean {
  return (
    /^vps\.provision\/\w+: (after do|recorded)$/.test(name) || /^(payInvoice|vps\.provision: done)/.test(name)
  );
}
