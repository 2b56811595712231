import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nftablesEdge, type Packet } from '../../drivers/edge/index.ts';
import { type EdgeNetwork, edgeNetwork } from '../../drivers/edge/suite/network.testbed.ts';
import { type Attack, follow, isAttack } from './detect.ts';
import { limitsOf } from './limits.ts';
import { look } from './samples.ts';
import { countedOf, nothingSeen, seenSince } from './seen.ts';
import { withTransfers } from './transfers.ts';
import { nameOfAttack } from './words.ts';

const address = '10.100.9.9';
const datagram = (source: number, length: number): Packet => ({
  ...{ source: '198.18.2.5', destination: address, protocol: 17, ports: { source, destination: 9_999 } },
  ...{ flags: null, dscp: 0, ecn: 0, ttl: 64, length, fragment: false },
});

describe('packets on this host', { timeout: 120_000 }, () => {
  let network: EdgeNetwork;
  beforeAll(async () => {
    network = await edgeNetwork();
  });
  afterAll(() => network?.close());

  it.each([
    ['UDP flood', datagram(40_000, 200)],
    ['NTP reflection', datagram(123, 468)],
  ])('that are a %s are called so within three seconds of the first', async (name, packet) => {
    const edge = nftablesEdge({ bridged: false, inside: network.inside });
    await edge.replace([{ destination: address, generation: 0, rules: [], unmatched: 'permit' }]);
    // What one process can send here on a busy day is above a quarter of what is usual.
    const limits = limitsOf('high', { udp: { pps: 1_000 }, reflection: { pps: 1_000 } });
    let counted = countedOf(await edge.readTraffic());
    let readAt = Date.now();
    const began = Date.now();
    const sending = network.flood([packet], 5);
    let attack: Attack | null = null;
    while (attack === null || !isAttack(attack)) {
      if (Date.now() - began > 20_000) throw new Error('nobody noticed');
      await sleep(1_000 - ((Date.now() - began) % 1_000));
      const now = countedOf(await edge.readTraffic());
      const at = new Date();
      const seen = seenSince(counted, now).get(address) ?? nothingSeen;
      attack = follow(attack, { at, seconds: (at.getTime() - readAt) / 1_000, seen }, limits);
      [counted, readAt] = [now, at.getTime()];
    }
    const tookMs = Date.now() - began;
    expect(nameOfAttack(attack)).toBe(name);
    expect(tookMs).toBeLessThan(3_000);
    const { sent } = await sending;
    // Each packet that was sent is one that was counted, and none besides.
    const all = seenSince(new Map(), countedOf(await edge.readTraffic())).get(address);
    expect(all?.udp.packets).toBeGreaterThanOrEqual(sent);
    await edge.close();
  });

  const fromMany = Array.from({ length: 1_000 }, (_, nth): Packet => {
    const ports = { source: 443, destination: 40_000 + nth };
    return { ...datagram(443, 1_250), source: `198.18.${10 + (nth >> 8)}.${nth & 255}`, ports };
  });
  it.each([
    ['are no attack where they come from few, as a download by QUIC does', [fromMany[7], fromMany[70]], null],
    ['are one where they come from many', fromMany, 'UDP flood'],
  ] as const)('of UDP that are large %s', async (_, packets, name) => {
    const edge = nftablesEdge({ bridged: false, inside: network.inside });
    await edge.replace([{ destination: address, generation: 0, rules: [], unmatched: 'permit' }]);
    // What two senders bring here is above what anybody downloads.
    const limits = limitsOf('high', { udp: { pps: 500 }, total: { pps: 10_000_000, mbps: 1_000_000 } });
    let counted = countedOf(await edge.readTraffic());
    await edge.readSamples();
    const sending = network.flood(
      packets.flatMap((each) => each ?? []),
      7,
    );
    let attack: Attack | null = null;
    let most = 0;
    for (let second = 0; second < 6; second += 1) {
      await sleep(1_000);
      const now = countedOf(await edge.readTraffic());
      const samples = (await edge.readSamples()).map(look);
      const seen = withTransfers(seenSince(counted, now), samples, new Map()).get(address) ?? nothingSeen;
      most = Math.max(most, seen.udp.packets);
      attack = follow(attack, { at: new Date(), seconds: 1, seen }, limits);
      counted = now;
    }
    expect(most).toBeGreaterThan(2_000);
    expect(attack === null || !isAttack(attack) ? null : nameOfAttack(attack)).toBe(name);
    await sending;
    await edge.close();
  });
});
