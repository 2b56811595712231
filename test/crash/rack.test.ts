import { afterAll, beforeAll, expect, it } from 'vitest';
import { provision } from '../../src/dedicated/install/provision.ts';
import { comeBack } from '../../src/dedicated/return/comeBack.ts';
import { openRackWorld, type RackWorld } from './rackWorld.ts';
import { stepsOf, sweepCrashes } from './sweep.ts';

/**
 * A dedicated server on its way to its customer and back, with the product killed in the middle of it while the server goes on, and every step done
 * twice. `rack.long.test.ts` has every boundary.
 */
let rack: RackWorld;
beforeAll(async () => {
  rack = await openRackWorld({ INNKEEPER_REPEAT_STEPS: 'on' });
}, 300_000);
afterAll(() => rack?.stop());

const own = (passed: string[], saga: string) => passed.filter((name) => name.startsWith(`${saga}/`));

it('a product that dies leaves a server that is delivered once, and one that came back wiped once', {
  timeout: 240_000,
}, async () => {
  const { world, delivered, returned } = rack;
  for (const [scenario, saga, boundary] of [
    // It was switched on, and nobody remembers.
    [delivered, provision, 'power: after do'],
    // The last disk was wiped, and nobody remembers.
    [returned, comeBack, 'wipe: after do'],
  ] as const) {
    const swept = await sweepCrashes(world, scenario, [`${saga.name}/${boundary}`]);
    expect([...new Set(stepsOf(own(world.passed(), saga.name)))]).toEqual(
      saga.steps.map(({ name }) => `${saga.name}/${name}`),
    );
    console.log(`killed at ${saga.name}/${boundary}: ${JSON.stringify(swept)}`);
  }
});
