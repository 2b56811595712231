import { beforeEach, describe, expect, it } from 'vitest';
import type { Limit, Packet } from '../contract.ts';
import { type Bucket, bucketOf, bytesOfPacket } from '../limit.ts';
import { families, freshAddress, type Given, packet, policy, rule, times } from './hands.testbed.ts';

const seconds = 4;

/**
 * How many of the packets a limit lets through that went out at these times, the first third aside: until then bursts are used up.
 * A sender that had to wait for its turn makes up for it afterwards, so nothing is said about what it ought to have sent.
 */
function expected(limit: Limit, packets: readonly Packet[], atMs: readonly number[]): number {
  const buckets = new Map<string, Bucket>();
  const through = packets.filter((one, nth) => {
    const key = limit.per === 'rule' ? '' : one[limit.per];
    const now = atMs[nth] ?? Number.NaN;
    const bucket = buckets.get(key) ?? bucketOf(limit, now);
    buckets.set(key, bucket);
    return bucket(one.length, now) && isLate(nth, packets.length);
  });
  return through.length;
}

function isLate(nth: number, of: number): boolean {
  return nth >= of / 3;
}

export function describeLimits(given: Given): void {
  const { passes } = given;
  describe('a limit', () => {
    beforeEach(({ skip }) => skip(!given.can('limits'), 'nothing is limited'));
    /** Sends more than is allowed, and holds what got through to within a tenth of what a bucket of these rates lets through. */
    const holds = async (limit: Limit, packets: readonly Packet[]) => {
      const { arrived, atMs } = await given.sendPaced(packets, packets.length / seconds);
      const through = arrived.filter((did, nth) => did && isLate(nth, packets.length)).length;
      // Of bits an engine may let a second's worth more through at first.
      const more = { ...limit, burst: limit.burst + (limit.bitsPerSecond ?? 0) / 8 / bytesOfPacket };
      const bounds = [limit, more].map((each) => expected(each, packets, atMs));
      const [least, most] = [Math.min(...bounds) * 0.9, Math.max(...bounds) * 1.1];
      expect(through >= least && through <= most, `${through} of ${least} to ${most}`).toBe(true);
      return arrived.filter(Boolean).length;
    };

    it.each(families)('of packets holds the rule to its rate (IPv%i)', async (family) => {
      const address = freshAddress(family);
      const limit = { packetsPerSecond: 500, per: 'rule', burst: 500 } as const;
      await given.edge.replace([policy(address, 1, [rule(1, 'permit', {}, limit)], { unmatched: 'deny' })]);
      const sent = times(2_000 * seconds, packet(address));
      const through = await holds(limit, sent);
      const [count] = (await given.edge.readRules([address])).filter((each) => each.rule === 1);
      const dropped = sent.length - through;
      expect(count).toMatchObject({
        ...{ packets: sent.length, bytes: sent.length * 120 },
        ...{ droppedPackets: dropped, droppedBytes: dropped * 120 },
      });
    });

    it('of bits holds it to that, whatever the length of packets', async () => {
      const address = freshAddress(4);
      const limit = { bitsPerSecond: 1_000 * 8 * 300, per: 'rule', burst: 200 } as const;
      await given.edge.replace([policy(address, 1, [rule(1, 'permit', {}, limit)])]);
      await holds(limit, times(4_000 * seconds, packet(address, { length: 300 })));
    });

    it('of both rates holds to the lower', async () => {
      const address = freshAddress(4);
      const limit = { packetsPerSecond: 400, bitsPerSecond: 10_000_000, per: 'rule', burst: 400 } as const;
      await given.edge.replace([policy(address, 1, [rule(1, 'permit', {}, limit)])]);
      await holds(limit, times(1_600 * seconds, packet(address)));
    });

    it.each(families)('by source gives each its own (IPv%i)', async (family) => {
      if (!given.edge.capabilities.includes('limits_by_source')) return;
      const address = freshAddress(family);
      const limit = { packetsPerSecond: 200, per: 'source', burst: 200 } as const;
      await given.edge.replace([policy(address, 1, [rule(1, 'permit', {}, limit)])]);
      const from = (nth: number) => (family === 4 ? `198.18.3.${nth}` : `2001:db8:3::${nth}`);
      const sent = Array.from({ length: 2_400 * seconds }, (_, nth) =>
        packet(address, { source: from((nth % 3) + 1) }),
      );
      await holds(limit, sent);
      // One that was quiet has all of its own.
      expect(await passes(packet(address, { source: from(9) }))).toBe(true);
    });

    it('by destination gives each address of a network its own', async () => {
      const limit = { packetsPerSecond: 200, per: 'destination', burst: 200 } as const;
      await given.edge.replace([policy('10.210.0.0/24', 1, [rule(1, 'permit', {}, limit)])]);
      const sent = Array.from({ length: 1_600 * seconds }, (_, nth) => packet(`10.210.0.${(nth % 2) + 1}`));
      await holds(limit, sent);
      expect(await passes(packet('10.210.0.9'))).toBe(true);
    });
  });
}
