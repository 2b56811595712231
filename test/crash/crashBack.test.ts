import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scenarioOf } from './scenarios.ts';
import { failpointsBack, sweepFailures } from './sweep.ts';
import { openWorld, type World } from './world.ts';

describe('kill -9 of the product while a machine that cannot be made is taken back', {
  timeout: 300_000,
}, () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ env: { INNKEEPER_REPEAT_STEPS: 'on' } });
  });
  afterAll(() => world?.stop());

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
