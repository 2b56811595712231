import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reasonWithoutGuests } from '../../src/drivers/hypervisor/proxmox/testbed.ts';
import { moveMachine } from '../../src/vps/moves/move.ts';
import { type MovesWorld, openMovesWorld } from './movesWorld.ts';
import { everyThird, failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';

/**
 * A machine that goes to another member with its power off, with the product killed at every third step, after what it did or once that is remembered, and every step
 * done twice. `moves.long.test.ts` has every failpoint, of a move while it runs as well.
 */
const reason = await reasonWithoutGuests();
if (reason !== null) console.warn(`Moves are not killed in the middle: ${reason}`);

describe.skipIf(reason !== null)('kill -9 of the product while a machine moves', { timeout: 300_000 }, () => {
  let moves: MovesWorld;
  beforeAll(async () => {
    moves = await openMovesWorld(57, { INNKEEPER_REPEAT_STEPS: 'on' });
  }, 300_000);
  afterAll(() => moves?.stop());

  it('leaves it on one member, with its room, running, and its customer with the lock gone', async () => {
    const { world, scenarios } = moves;
    const passed = await failpointsOf(world, scenarios.cold);
    const mine = passed.filter((name) => name.startsWith('vps.move'));
    expect(stepsOf(mine)).toEqual(moveMachine.steps.map(({ name }) => `vps.move/${name}`));
    expect(await world.audit()).toEqual([]);
    const some = everyThird(mine.filter((name) => /: (after do|recorded)$/.test(name)));
    const swept = await sweepCrashes(world, scenarios.cold, some);
    console.log(`killed at ${some.join(', ')}: ${JSON.stringify(swept)}`);
  });
});
