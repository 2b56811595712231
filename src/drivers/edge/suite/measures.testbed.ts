import { describe, expect, it } from 'vitest';
import type { Match, Packet } from '../contract.ts';
import { families, freshAddress, type Given, packet, policy, rule, times, whole } from './hands.testbed.ts';

export function describeMeasures(given: Given): void {
  const { can, counted, held, packetsOf, passes } = given;
  describe('a measure against an attack', () => {
    it('stands before the policy, spares who is exempt, and is released', async () => {
      if (!can('rules')) return;
      for (const family of families) {
        const address = freshAddress(family);
        const [exempt, other] =
          family === 4 ? ['198.18.7.0/24', '198.18.7.9'] : ['2001:db8:70::/48', '2001:db8:70::9'];
        const reflected: Match = { protocols: [[17, 17]], sourcePorts: [[123, 123]] };
        await given.edge.replace([
          policy(address, 1, [rule(1, 'permit', { protocols: [[17, 17]] })], { unmatched: 'deny' }),
        ]);
        const measure = { kind: 'filter', rules: [rule(5, 'deny', reflected)], exempt: [exempt] } as const;
        await given.edge.mitigate({ destination: address, generation: 2, measure });
        await given.edge.mitigate({ destination: address, generation: 2, measure });
        await given.edge.mitigate({ destination: address, generation: 1, measure: { kind: 'blackhole' } });
        const ntp = packet(address, { ports: { source: 123, destination: 9 } });
        const sent = [
          ntp,
          { ...ntp, source: other },
          packet(address),
          packet(address, { protocol: 47, ports: null }),
        ];
        expect(await given.send(sent)).toEqual([false, true, true, false]);
        expect((await counted(address, 'mitigation'))[5]).toEqual([1, 120]);
        expect(await counted(address)).toEqual({ 1: [2, 240], null: [1, 120] });
        expect(await held(whole(address))).toEqual(['mitigation 2', 'policy 1']);
        await given.edge.release([{ destination: address, generation: 1 }]);
        expect(await passes(ntp)).toBe(false);
        await given.edge.release([{ destination: address, generation: 2 }]);
        expect(await passes(ntp)).toBe(true);
        expect((await counted(address, 'mitigation'))[5]).toEqual([2, 240]);
      }
    });

    it('is forgotten with its generation when it is released, apart from the policy and its generation', async () => {
      const destination = freshAddress(4);
      const measure = { kind: 'filter', rules: [rule(5, 'deny')], exempt: [] } as const;
      await given.edge.replace([policy(destination, 3, [rule(1, 'permit')])]);
      await given.edge.mitigate({ destination, generation: 9, measure });
      await given.edge.remove([{ destination, generation: 9 }]);
      expect(await held(whole(destination))).toEqual(['mitigation 9']);
      await given.edge.replace([policy(destination, 3, [rule(1, 'permit')])]);
      await given.edge.release([{ destination, generation: 8 }]);
      expect(await passes(packet(destination))).toBe(false);
      await given.edge.release([{ destination, generation: 9 }]);
      await given.edge.release([{ destination, generation: 9 }]);
      expect(await held(whole(destination))).toEqual(['policy 3']);
      expect(await passes(packet(destination))).toBe(true);
      await given.edge.mitigate({ destination, generation: 1, measure });
      expect(await passes(packet(destination))).toBe(false);
      // One that does nothing is remembered, and keeps older ones away.
      await given.edge.mitigate({ destination, generation: 2, measure: { ...measure, rules: [] } });
      await given.edge.mitigate({ destination, generation: 1, measure });
      expect(await passes(packet(destination))).toBe(true);
      expect(await held(whole(destination))).toEqual(['mitigation 2', 'policy 3']);
    });

    it('answers who opens a connection in the place of the guest, and leads on what belongs to one', async () => {
      if (!can('synproxy')) return;
      for (const family of families) {
        const address = freshAddress(family);
        const [exempt, friend] =
          family === 4 ? ['198.18.7.0/24', '198.18.7.9'] : ['2001:db8:70::/48', '2001:db8:70::9'];
        const denied = family === 4 ? '198.18.8.1' : '2001:db8:80::1';
        await given.edge.replace([policy(address, 1, [rule(1, 'deny', { sources: [denied] })])]);
        const none = {
          kind: 'filter',
          rules: [rule(5, 'deny', { ttl: [[7, 7]] })],
          exempt: [exempt],
        } as const;
        const measure = {
          ...none,
          synproxy: [
            [80, 80],
            [443, 445],
          ],
        } as const;
        await given.edge.mitigate({ destination: address, generation: 1, measure });
        await given.edge.mitigate({ destination: address, generation: 1, measure });
        const tcp = (flags: Packet['flags'], port = 80, other: Partial<Packet> = {}) =>
          packet(address, { protocol: 6, flags, ports: { source: 40_000, destination: port }, ...other });
        const long = { length: 1_200 };
        const cases: [packet: Packet, passes: boolean][] = [
          [tcp(['syn']), false],
          [tcp(['syn'], 444, { ttl: 9 }), false],
          [tcp(['syn'], 443, { ttl: 7 }), false],
          [tcp(['syn'], 445, { source: denied }), false],
          [tcp(['syn'], 81), true],
          [tcp(['syn'], 446), true],
          [tcp(['syn'], 80, { source: friend }), true],
          [packet(address, { ports: { source: 40_000, destination: 80 } }), true],
          // Who has opened nothing has nothing to acknowledge; what carries data or ends is of a connection from before.
          [tcp(['ack'], 80, { ports: { source: 1, destination: 80 }, length: 60 }), false],
          [tcp(['ack'], 81, { length: 60 }), true],
          [tcp(['ack', 'psh'], 80, { length: 60 }), true],
          [tcp(['ack'], 80, long), true],
          [tcp(['ack', 'fin'], 80, { length: 60 }), true],
          [tcp(['rst'], 80, { length: 60 }), true],
        ];
        expect(await given.send(cases.map(([each]) => each))).toEqual(cases.map(([, passes]) => passes));
        expect(await counted(address, 'mitigation')).toEqual({ 5: [1, 120], null: [2, 240] });
        await given.edge.mitigate({ destination: address, generation: 2, measure: none });
        expect(await passes(tcp(['syn']))).toBe(true);
        await given.edge.mitigate({ destination: address, generation: 3, measure });
        expect(await passes(tcp(['syn'], 443))).toBe(false);
        await given.edge.release([{ destination: address, generation: 3 }]);
        expect(await passes(tcp(['syn'], 443))).toBe(true);
        const over = (await given.edge.readRules([address])).filter(({ isOver }) => isOver);
        await given.edge.forget(over.map(({ writing }) => writing));
        expect(await counted(address, 'mitigation')).toEqual({});
      }
    });

    it('that would answer for the guest is refused where that is not possible, and nothing changes', async () => {
      const destination = freshAddress(4);
      const filter = { kind: 'filter', rules: [], exempt: [] } as const;
      const wrong = can('synproxy')
        ? { code: 'policy_invalid', synproxy: [[80, 79]] as const }
        : { code: 'not_supported', synproxy: [[80, 80]] as const };
      for (const synproxy of [wrong.synproxy, ...(can('synproxy') ? [[]] : [])]) {
        const asked = given.edge.mitigate({ destination, generation: 1, measure: { ...filter, synproxy } });
        await expect(asked).rejects.toMatchObject({ code: wrong.code, permanent: true });
      }
      expect(await held(whole(destination))).toEqual([]);
    });

    it('also stands where no policy does, in a trial too, and as a blackhole swallows all', async () => {
      const address = freshAddress(4);
      if (!can('blackholes')) return;
      await given.edge.mitigate({ destination: address, generation: 1, measure: { kind: 'blackhole' } });
      expect(await passes(packet(address))).toBe(false);
      if (!can('trials')) return;
      await given.edge.try([policy(address, 1, [rule(1, 'permit')])], 60);
      expect(await passes(packet(address))).toBe(false);
      expect((await counted(address, 'mitigation')).null).toEqual([2, 240]);
      const limit = { packetsPerSecond: 1, per: 'rule', burst: 3 } as const;
      const measure = { kind: 'filter', rules: [rule(4, 'permit', {}, limit)], exempt: [] } as const;
      await given.edge.mitigate({ destination: address, generation: 2, measure });
      const began = performance.now();
      const through = (await given.send(times(50, packet(address)))).filter(Boolean).length;
      const refilled = Math.ceil((performance.now() - began) / 1000);
      expect(through >= 3 && through <= Math.min(50, 3 + refilled), String(through)).toBe(true);
      expect(await packetsOf(address, 1)).toBe(through);
      await given.edge.release([{ destination: address, generation: 2 }]);
    });
  });
}
