import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provision } from '../../src/dedicated/install/provision.ts';
import { reinstall } from '../../src/dedicated/reinstall/saga.ts';
import { rescue, rescueOff } from '../../src/dedicated/rescue/sagas.ts';
import { comeBack } from '../../src/dedicated/return/comeBack.ts';
import { enrolment } from '../../src/fleet/enrolment/enrol.ts';
import { again } from './rackAgain.ts';
import { openRackWorld, type RackWorld } from './rackWorld.ts';
import { everyThird, failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';

/** Kills the product at every boundary of the sagas of dedicated servers, while the servers go on. */
describe.each(['once', 'twice'] as const)(
  'with every step done %s, kill -9',
  { timeout: 3_600_000 },
  (steps) => {
    let rack: RackWorld;
    beforeAll(async () => {
      rack = await openRackWorld({ INNKEEPER_REPEAT_STEPS: steps === 'twice' ? 'on' : 'off' });
    }, 300_000);
    afterAll(() => rack?.stop());

    it.each([
      ['on the way to its customer leaves a server that is delivered once', provision, 'delivered'],
      [
        'while a server is reinstalled leaves one that was wiped and installed once',
        reinstall,
        'reinstalled',
      ],
      ['on the way into the rescue system leaves a server that is there', rescue, 'rescued'],
      ['on the way out of it leaves a server that starts its disks', rescueOff, 'rescuedNoMore'],
      ['on its way back leaves a server that was wiped once, and is in stock', comeBack, 'returned'],
      ['while a server is enrolled leaves one that is ready, with a BMC of ours', enrolment, 'enrolled'],
    ] as const)('%s', async (_, saga, which) => {
      const { world, [which]: scenario } = { ...rack, ...again };
      const passed = (await failpointsOf(world, scenario)).filter((name) =>
        [`${saga.name}/`, `${saga.name}:`].some((own) => name.startsWith(own)),
      );
      expect(stepsOf(passed)).toEqual(saga.steps.map(({ name }) => `${saga.name}/${name}`));
      expect(await world.audit()).toEqual([]);
      const swept = await sweepCrashes(world, scenario, steps === 'once' ? passed : everyThird(passed));
      console.log(`${scenario.name}, every step ${steps}: ${JSON.stringify(swept)}`);
    });
  },
);
