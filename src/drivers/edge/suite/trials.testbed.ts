import { beforeEach, describe, expect, it } from 'vitest';
import { freshAddress, type Given, packet, policy, rule, whole } from './hands.testbed.ts';

export function describeTrials(given: Given): void {
  const { counted, held, packetsOf, passes } = given;
  describe('a trial', () => {
    beforeEach(({ skip }) => skip(!given.can('trials'), 'nothing can be tried out'));
    it('ends by itself, and what was in force before is so again, each counted', async () => {
      const address = freshAddress(4);
      await given.edge.replace([policy(address, 1, [rule(1, 'deny')])]);
      await given.edge.try([policy(address, 2, [rule(2, 'permit')])], 10);
      expect(await passes(packet(address))).toBe(true);
      expect(await held(whole(address))).toEqual(['policy 1', 'trial 2']);
      const endsInMs = (await given.edge.list()).find(({ as }) => as === 'trial')?.endsInMs ?? 0;
      expect(endsInMs > 0 && endsInMs <= 10_000, String(endsInMs)).toBe(true);
      await given.until(async () => !(await passes(packet(address))));
      expect(await held(whole(address))).toEqual(['policy 1']);
      const sums = await counted(address);
      expect(sums[1]?.[0]).toBe(1);
      const trial = (await given.edge.readRules([address])).filter(({ generation }) => generation === 2);
      expect(trial.every(({ isOver }) => isOver)).toBe(true);
      await given.edge.forget(trial.map(({ writing }) => writing));
      expect((await counted(address))[2]).toBeUndefined();
    });

    it('stays in force when it is confirmed, with its counters, and only while it lasts', async () => {
      const [one, other] = [freshAddress(4), freshAddress(6)];
      const both = (generation: number) => [one, other].map((destination) => ({ destination, generation }));
      await given.edge.replace([policy(one, 1, [])]);
      await given.edge.try(
        [one, other].map((address) => policy(address, 2, [rule(2, 'deny')])),
        60,
      );
      expect(await given.send([packet(one), packet(other)])).toEqual([false, false]);
      const over = expect.objectContaining({ code: 'trial_over', permanent: true });
      await expect(given.edge.confirm(both(3))).rejects.toEqual(over);
      await given.edge.confirm(both(2));
      await given.edge.confirm(both(2));
      expect([await held(whole(one)), await held(whole(other))]).toEqual([['policy 2'], ['policy 2']]);
      expect(await given.send([packet(one), packet(other)])).toEqual([false, false]);
      expect([await packetsOf(one, 2), await packetsOf(other, 2)]).toEqual([2, 2]);
      await given.edge.try([policy(one, 3, [])], 1);
      await given.until(async () => !(await passes(packet(one))));
      await expect(given.edge.confirm([{ destination: one, generation: 3 }])).rejects.toEqual(over);
      expect(await held(whole(one))).toEqual(['policy 2']);
    });

    it('is confirmed for all destinations of a call or for none', async () => {
      const [one, other] = [freshAddress(4), freshAddress(4)];
      await given.edge.try([policy(one, 1, [rule(1, 'deny')])], 60);
      await expect(
        given.edge.confirm([one, other].map((destination) => ({ destination, generation: 1 }))),
      ).rejects.toMatchObject({ code: 'trial_over' });
      expect(await held(whole(one))).toEqual(['trial 1']);
    });

    it('can be taken back, tried anew, and gives way to what is newer', async () => {
      const address = freshAddress(6);
      const version = (generation: number) => [{ destination: address, generation }];
      await given.edge.replace([policy(address, 1, [])]);
      await given.edge.try([policy(address, 2, [rule(2, 'deny')])], 60);
      await given.edge.takeBack(version(1));
      expect(await passes(packet(address))).toBe(false);
      await given.edge.takeBack(version(2));
      await given.edge.takeBack(version(2));
      expect(await passes(packet(address))).toBe(true);
      await given.edge.try([policy(address, 3, [rule(3, 'deny')])], 60);
      await given.edge.try([policy(address, 4, [rule(4, 'deny')])], 60);
      await given.edge.try([policy(address, 3, [])], 60);
      expect(await held(whole(address))).toEqual(['policy 1', 'trial 4']);
      await given.edge.replace([policy(address, 2, [])]);
      expect(await held(whole(address))).toEqual(['policy 2', 'trial 4']);
      expect(await passes(packet(address))).toBe(false);
      await given.edge.replace([policy(address, 5, [])]);
      expect(await held(whole(address))).toEqual(['policy 5']);
      expect(await passes(packet(address))).toBe(true);
      await given.edge.try([policy(address, 4, [rule(4, 'deny')])], 60);
      expect(await passes(packet(address))).toBe(true);
    });

    it('goes on for longer when it is asked for again', async () => {
      const address = freshAddress(4);
      await given.edge.try([policy(address, 1, [rule(1, 'deny')])], 2);
      await given.edge.try([policy(address, 1, [rule(1, 'deny')])], 60);
      expect(
        (await given.edge.list()).find(
          ({ as, destination }) => as === 'trial' && destination === whole(address),
        )?.endsInMs,
      ).toBeGreaterThan(30_000);
      await given.edge.takeBack([{ destination: address, generation: 1 }]);
      expect(await held(whole(address))).toEqual([]);
    });

    it('lasts for whole seconds', async () => {
      for (const seconds of [0, -1, 0.5, Number.NaN, 86_401]) {
        await expect(given.edge.try([policy(freshAddress(4), 1, [])], seconds)).rejects.toMatchObject({
          code: 'policy_invalid',
        });
      }
    });
  });
}
