import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scenario } from './scenarios.ts';
import { failpointsOf, sweepCrashes } from './sweep.ts';
import { openWorld, type World } from './world.ts';

/** Kills the product at every failpoint that any of the scenarios passes, with every step done once or twice. */
export function sweepEvery(
  scenarios: readonly Scenario[],
  steps: 'once' | 'twice',
  env: Record<string, string> = {},
): void {
  /** What several scenarios pass is crashed in the first of them, unless it does something else in the others. */
  const seen = new Set<string>();

  describe(`with every step done ${steps}, kill -9`, { timeout: 3_600_000 }, () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld({
        env: { ...env, INNKEEPER_REPEAT_STEPS: steps === 'twice' ? 'on' : 'off' },
      });
    });
    afterAll(() => world?.stop());

    it.each(scenarios)('at every failpoint of: $name', async (scenario) => {
      const passed = await failpointsOf(world, scenario);
      const failpoints = scenario.otherwise ? passed : passed.filter((name) => !seen.has(name));
      for (const name of failpoints) seen.add(name);
      expect(await world.audit()).toEqual([]);
      const swept = await sweepCrashes(world, scenario, failpoints);
      console.log(`${scenario.name}, every step ${steps}: ${JSON.stringify(swept)}`);
    });
  });
}
