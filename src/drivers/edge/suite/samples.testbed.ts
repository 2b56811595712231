import { describe, expect, it } from 'vitest';
import type { Packet, Sample } from '../contract.ts';
import { families, freshAddress, type Given, packet, policy, rule } from './hands.testbed.ts';

export function describeSamples(given: Given): void {
  describe('samples', () => {
    /** Sends, reads until there is enough of these destinations, and then a little more. */
    const sampled = async (
      sent: readonly Packet[],
      isEnough: (found: readonly Sample[]) => boolean,
      how: { bridged?: boolean } = {},
    ) => {
      const destinations = new Set(sent.map(({ destination }) => destination));
      // What the load of tests before made rarer becomes as often again as it was.
      for (let reading = 0; reading < 10; reading += 1) await given.edge.readSamples();
      await given.send(sent, how);
      const found: Sample[] = [];
      let after = 0;
      await given.until(async () => {
        const more = await given.edge.readSamples();
        found.push(...more.filter((each) => destinations.has(each.packet.destination)));
        if (isEnough(found)) after += 1;
        return after > 3;
      });
      return found;
    };
    const total = (samples: readonly Sample[], destination: string) =>
      samples
        .filter((each) => each.packet.destination === destination)
        .reduce((sum, { standsFor }) => sum + standsFor, 0);

    it.each([false, true])(
      'show what packets are, each of few, whatever becomes of it (bridged: %s)',
      async (bridged) => {
        if (!given.edge.capabilities.includes('samples')) return;
        if (bridged && !given.edge.capabilities.includes('bridged')) return;
        for (const family of families) {
          const [address, free] = [freshAddress(family), freshAddress(family)];
          await given.edge.replace([policy(address, 1, [rule(1, 'deny', { protocols: [[17, 17]] })])]);
          const none = { ports: null, flags: null };
          const sent = [
            packet(address),
            packet(address, { dscp: 46, ecn: 3, ttl: 7, length: 1_280 }),
            packet(address, { fragment: true }),
            packet(address, { fragment: true, ...none }),
            packet(address, { protocol: 6, flags: ['syn'] }),
            packet(address, { protocol: 6, flags: ['fin', 'rst', 'psh', 'ack', 'urg'] }),
            packet(address, { protocol: 6, flags: [] }),
            packet(address, { protocol: 47, ...none }),
            packet(address, { protocol: 50, ...none }),
            ...(family === 6
              ? [false, true].map((fragment) => packet(address, { protocol: null, ...none, fragment }))
              : []),
            packet(free),
          ];
          const found = await sampled(sent, ({ length }) => length >= sent.length - 1, { bridged });
          const told = (packets: readonly Packet[]) => packets.map((each) => JSON.stringify(each)).toSorted();
          const shown = found.map(({ packet }) => ({ ...packet }) as Packet);
          expect(told(shown.map(inOrder))).toEqual(told(sent.slice(0, -1).map(inOrder)));
          expect(found.every(({ standsFor }) => standsFor === 1)).toBe(true);
        }
      },
    );

    it('stand for about as many packets as were sent, of each part of them, and are never many', async () => {
      if (!given.edge.capabilities.includes('samples')) return;
      const [loud, quiet] = [freshAddress(4), freshAddress(6)];
      await given.edge.replace([policy(loud, 1, [rule(1, 'deny')]), policy(quiet, 1, [])]);
      // One in sixteen of them goes to the other address.
      const sent = Array.from({ length: 32_000 }, (_, nth) => packet(nth % 16 === 0 ? quiet : loud));
      // Samples of one in 64 in the worst case: bounds are five times what chance makes of that.
      const near = (value: number, of: number) => Math.abs(value - of) < 5 * Math.sqrt(64 * of);
      for (let round = 0; round < 2; round += 1) {
        const began = performance.now();
        const isEnough = (found: readonly Sample[]) =>
          near(total(found, loud), 30_000) && near(total(found, quiet), 2_000);
        const samples = await sampled(sent, isEnough);
        const told = `${total(samples, loud)} and ${total(samples, quiet)}`;
        expect(isEnough(samples), told).toBe(true);
        // So many a second come at most, and as many at once, by each of three steps.
        const seconds = (performance.now() - began) / 1_000;
        expect(samples.length).toBeLessThan(1_000 * 3 * (1 + seconds));
      }
    });

    it('are of what is sent to the addresses held, and to nobody else', async () => {
      if (!given.edge.capabilities.includes('samples')) return;
      const free = freshAddress(4);
      const held = freshAddress(4);
      await given.edge.replace([policy(held, 1, [])]);
      const found = await sampled([packet(free), packet(held)], ({ length }) => length > 0);
      expect(new Set(found.map(({ packet }) => packet.destination))).toEqual(new Set([held]));
    });
  });
}

/** Its fields in one order, and its flags too. */
function inOrder(packet: Packet): Packet {
  const { source, destination, protocol, ports, flags, dscp, ecn, ttl, length, fragment } = packet;
  return {
    ...{ source, destination, protocol, ports, flags: flags?.toSorted() ?? null },
    ...{ dscp, ecn, ttl, length, fragment },
  };
}
