import { describe, expect, it } from 'vitest';
import type { Packet, PacketKind, Policy, TraceBounds, Traced } from '../contract.ts';
import { judge } from '../judge.ts';
import { families, freshAddress, type Given, packet, policy, rule, times, whole } from './hands.testbed.ts';

export function describeTrace(given: Given): void {
  describe('a trace', () => {
    /** Sends again and again until it ended. */
    const traced = async (
      kind: PacketKind,
      bounds: TraceBounds,
      sent: readonly Packet[],
      how: { bridged?: boolean } = {},
    ) => {
      let isOver = false;
      const tracing = given.edge.trace(kind, bounds).finally(() => {
        isOver = true;
      });
      await given.until(async () => {
        await given.send(sent, how);
        return isOver;
      });
      return tracing;
    };
    const port = (destination: number, source = 40_000) => ({ ports: { source, destination } });
    const told = ({ packet, action, by }: Traced) =>
      `${JSON.stringify([packet.protocol, packet.ports, packet.fragment])} ${action} ${by && `${by.of} ${by.generation} ${by.rule}`}`;

    it.each([false, true])('names the rule that took each packet (bridged: %s)', async (bridged) => {
      if (!given.edge.capabilities.includes('trace')) return;
      if (bridged && !given.edge.capabilities.includes('bridged')) return;
      for (const family of families) {
        const destination = freshAddress(family);
        const udp = (from: number, to: number) => ({
          protocols: [[17, 17]] as const,
          destinationPorts: [[from, to]] as const,
        });
        const wanted: Policy = policy(
          destination,
          3,
          [
            rule(9, 'deny', { ttl: [[7, 7]] }),
            // Neighbours that an engine may put together.
            ...[10, 11, 12, 13, 14].map((id) =>
              rule(id, id % 2 ? 'deny' : 'permit', udp(id * 100, id * 100 + 50)),
            ),
            rule(20, 'permit', udp(2_000, 2_000), { packetsPerSecond: 1, per: 'rule', burst: 1 }),
            rule(21, 'deny', { fragment: true }),
          ],
          { unmatched: 'deny' },
        );
        await given.edge.replace([wanted]);
        const reflected = rule(5, 'deny', { sourcePorts: [[123, 123]] });
        const measure = { kind: 'filter', rules: [reflected], exempt: [] } as const;
        await given.edge.mitigate({ destination, generation: 2, measure });
        const sent = [
          packet(destination, { ttl: 7 }),
          ...[1_000, 1_150, 1_201, 1_299].map((each) => packet(destination, port(each))),
          ...times(2, packet(destination, port(2_000))),
          packet(destination, { ...port(1_000), fragment: true }),
          packet(destination, { ports: null, fragment: true }),
          packet(destination, port(1_000, 123)),
        ];
        const found = await traced({ destination, match: {} }, { packets: 20, seconds: 10 }, sent, {
          bridged,
        });
        expect(found.length).toBe(20);
        const expected = ({ packet, action }: Traced) => {
          if (packet.ports?.source === 123) return { packet, action: 'deny', by: 'mitigation 2 5' } as const;
          const verdict = judge(wanted, packet);
          const decided = verdict.rule?.id === 20 ? action : verdict.action;
          return { packet, action: decided, by: `policy 3 ${verdict.rule?.id ?? null}` } as const;
        };
        for (const each of found) {
          const { by } = expected(each);
          expect(each.by?.destination).toBe(whole(destination));
          expect([each.action, `${each.by?.of} ${each.by?.generation} ${each.by?.rule}`], told(each)).toEqual(
            [expected(each).action, by],
          );
        }
        expect(new Set(found.map(({ by }) => by?.rule))).toEqual(new Set([9, 10, 11, 12, null, 20, 21, 5]));
        expect(found.some(({ action, by }) => by?.rule === 20 && action === 'deny')).toBe(true);
        await given.edge.release([{ destination, generation: 2 }]);
      }
    });

    it('is of packets of the kind alone, as many as were asked for, also where nothing is held', async () => {
      if (!given.edge.capabilities.includes('trace')) return;
      const [free, other] = [freshAddress(4), freshAddress(4)];
      const tcp = packet(free, { protocol: 6, flags: ['syn'] });
      const sent = [packet(free), tcp, { ...tcp, destination: other }, { ...tcp, flags: ['ack'] as const }];
      const kind = { destination: free, match: { protocols: [[6, 6]], flags: { syn: true } } } as const;
      expect(await traced(kind, { packets: 3, seconds: 10 }, sent)).toEqual(
        times(3, tcp).map((packet) => ({ packet, action: 'permit', by: null })),
      );
    });

    it('ends after its time, and refuses what is no kind or too much', async () => {
      if (!given.edge.capabilities.includes('trace')) return;
      const destination = freshAddress(6);
      const kind: PacketKind = { destination, match: {} };
      expect(await traced(kind, { packets: 3, seconds: 1 }, [packet(freshAddress(6))])).toEqual([]);
      const bad: [PacketKind, TraceBounds][] = [
        [kind, { packets: 21, seconds: 1 }],
        [kind, { packets: 0, seconds: 1 }],
        [kind, { packets: 1, seconds: 11 }],
        [
          { destination, match: { sources: ['198.18.0.0/24'] } },
          { packets: 1, seconds: 1 },
        ],
        [
          { destination: 'x; flush ruleset', match: {} },
          { packets: 1, seconds: 1 },
        ],
      ];
      for (const [wrong, bounds] of bad) {
        await expect(given.edge.trace(wrong, bounds)).rejects.toMatchObject({ code: 'policy_invalid' });
      }
    });

    it('says that it cannot where it does not claim to', async () => {
      if (given.edge.capabilities.includes('trace')) return;
      const kind = { destination: freshAddress(4), match: {} };
      await expect(given.edge.trace(kind, { packets: 1, seconds: 1 })).rejects.toMatchObject({
        code: 'not_supported',
      });
    });
  });
}
