import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recoverMachine } from '../../src/vps/recovery/saga.ts';
import { openRecoveryWorld, type RecoveryWorld } from './recoveryWorld.ts';
import { failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';

describe.each(['once', 'twice'] as const)(
  'with every step done %s, kill -9',
  { timeout: 3_600_000 },
  (steps) => {
    let recovery: RecoveryWorld;
    beforeAll(async () => {
      recovery = await openRecoveryWorld({ INNKEEPER_REPEAT_STEPS: steps === 'twice' ? 'on' : 'off' });
    }, 300_000);
    afterAll(() => recovery?.stop());

    it('at every boundary of a recovery leaves the machine there once, whole, and its customer told', async () => {
      const { world, scenario } = recovery;
      const failpoints = (await failpointsOf(world, scenario)).filter((name) => name.startsWith('vps.'));
      const mine = failpoints.filter((name) => name.startsWith('vps.recover'));
      expect(stepsOf(mine)).toEqual(recoverMachine.steps.map(({ name }) => `vps.recover/${name}`));
      expect(await world.audit()).toEqual([]);
      const swept = await sweepCrashes(world, scenario, failpoints);
      await recovery.everybodyBack();
      expect(await world.audit()).toEqual([]);
      console.log(`a recovery, every step ${steps}: ${JSON.stringify(swept)}`);
    });

    it('at every boundary of the way back leaves the machine with its node, its room there, and nothing half made', async () => {
      const { world, failing } = recovery;
      const failpoints = (await failpointsOf(world, failing)).filter((name) => /undo|: failed/.test(name));
      expect(failpoints.some((name) => name.startsWith('vps.recover/disk'))).toBe(true);
      expect(await world.audit()).toEqual([]);
      const swept = await sweepCrashes(world, failing, failpoints);
      await recovery.everybodyBack();
      expect(await world.audit()).toEqual([]);
      console.log(`a recovery that fails, every step ${steps}: ${JSON.stringify(swept)}`);
    });
  },
);
