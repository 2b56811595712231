import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scenarioOf } from './scenarios.ts';
import { failpointsBack, failpointsOf, stepsOf, sweepFailedActions, sweepFailures } from './sweep.ts';
import { openWorld, type World } from './world.ts';

const hour = 3_600_000;

describe('a step that fails for good', { timeout: hour }, () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ env: { INNKEEPER_REPEAT_STEPS: 'on' } });
  });
  afterAll(() => world?.stop());

  it.each(['pay', 'expiry', 'refund'])('ends in a clean slate that staff can retry: %s', async (name) => {
    const scenario = scenarioOf(name);
    const steps = stepsOf(await failpointsOf(world, scenario));
    const swept = await sweepFailures(
      world,
      scenario,
      steps.map((step) => ({ step })),
    );
    console.log(`failures of ${name}: ${JSON.stringify(swept)}`);
  });

  it.each(['stop', 'start', 'restart', 'reinstall', 'snapshot', 'restore', 'password', 'keys'])(
    'of an action lets go of the machine, and the action can be asked for again: %s',
    async (name) => {
      const scenario = scenarioOf(name);
      const passed = await failpointsOf(world, scenario);
      const steps = stepsOf(passed).filter((step) => /^vps\.(?!provision)/.test(step));
      expect(steps.length).toBeGreaterThan(1);
      await sweepFailedActions(world, scenario, steps);
    },
  );

  it('does so when the product dies anywhere on the way back', async () => {
    const scenario = scenarioOf('pay');
    const step = 'vps.provision/forget';
    const back = await failpointsBack(world, scenario, step);
    const swept = await sweepFailures(
      world,
      scenario,
      back.map((crashAt) => ({ step, crashAt })),
    );
    console.log(`killed on the way back: ${JSON.stringify(swept)}`);
  });
});
