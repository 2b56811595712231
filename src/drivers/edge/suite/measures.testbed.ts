import { describe, expect, it } from 'vitest';
import type { Match } from '../contract.ts';
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
