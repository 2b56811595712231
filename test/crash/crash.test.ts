import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provision } from '../../src/vps/install/provision.ts';
import { scenarioOf } from './scenarios.ts';
import { failpointsBack, failpointsOf, stepsOf, sweepCrashes, sweepFailures } from './sweep.ts';
import { openWorld, type World } from './world.ts';

// The main job, killed between what each step did and the line that remembers it. `once.long.test.ts` has every
// failpoint of every scenario.
describe('kill -9 of the product while a machine is made', { timeout: 300_000 }, () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ env: { INNKEEPER_REPEAT_STEPS: 'on' } });
  });
  afterAll(() => world?.stop());

  it('loses nothing and doubles nothing, after any step', async () => {
    const scenario = scenarioOf('pay');
    const failpoints = await failpointsOf(world, scenario);
    expect(stepsOf(failpoints).filter((step) => step.startsWith('vps.provision/'))).toHaveLength(
      provision.steps.length,
    );
    const swept = await sweepCrashes(world, scenario, failpoints.filter(isInTheMiddle));
    console.log(`killed after a step: ${JSON.stringify(swept)}`);
  });

  it('leaves a clean slate when it fails for good, killed on the way back as well', async () => {
    const scenario = scenarioOf('pay');
    const step = 'vps.provision/forget';
    const back = (await failpointsBack(world, scenario, step)).filter((name) =>
      name.endsWith(': after undo'),
    );
    expect(back).toHaveLength(4);
    const swept = await sweepFailures(world, scenario, [
      { step: 'vps.provision/disk' },
      ...back.map((crashAt) => ({ step, crashAt })),
    ]);
    console.log(`killed on the way back: ${JSON.stringify(swept)}`);
  });
});

function isInTheMiddle(name: string): boolean {
  return /^vps\.provision\/\w+: after do$/.test(name) || /^(payInvoice|vps\.provision: done)/.test(name);
}
