import { describe, expect, it } from 'vitest';
import type { Packet } from '../../drivers/edge/index.ts';
import { chance } from '../../drivers/edge/suite/random.testbed.ts';
import { datagram } from '../attacks/flood.testbed.ts';
import { packet } from '../testbed.ts';
import { judgeReading } from './detect.ts';
import { limitsOf } from './limits.ts';
import { look } from './samples.ts';
import { nothingSeen, type Seen } from './seen.ts';
import { withTransfers } from './transfers.ts';
import { nameOfAttack } from './words.ts';

const address = '203.0.113.10';
const random = chance(23);
const whole = (most: number) => Math.floor(random() * most);
const anybody = () => `${11 + whole(180)}.${whole(256)}.${whole(256)}.${1 + whole(250)}`;

/** So many packets a second of something. */
interface Stream {
  pps: number;
  packet: () => Packet;
}

/** What this is called after a second of it, when some 500 of its packets are looked at. */
function nameOf(streams: Stream[], samplesASecond = 500): string | null {
  const all = streams.reduce((sum, { pps }) => sum + pps, 0);
  const oneIn = Math.max(1, Math.round(all / samplesASecond));
  let seen: Seen = nothingSeen;
  const samples = streams.flatMap(({ pps, packet: make }) => {
    const taken = Array.from({ length: Math.round(pps / oneIn) }, () => make());
    const [one = make()] = taken;
    const kind = one.protocol === 6 ? 'tcp' : 'udp';
    const bytes = pps * one.length;
    seen = { ...seen, [kind]: { packets: seen[kind].packets + pps, bytes: seen[kind].bytes + bytes } };
    return taken.map((each) => look({ packet: each, standsFor: oneIn }));
  });
  const found = withTransfers(new Map([[address, seen]]), samples, new Map());
  const limits = limitsOf('medium', {});
  const attack = limits && judgeReading({ seen: found.get(address) ?? nothingSeen, seconds: 1 }, limits);
  return attack === null ? null : nameOfAttack(attack);
}

const udp =
  (source: () => string, ports: () => { source: number; destination: number }, length: number) => () =>
    datagram(address, { source: source(), ports: ports(), length });
const tcp = (source: () => string, length: number) => () =>
  packet(address, {
    ...{ source: source(), flags: ['ack'], length },
    ports: { source: 443, destination: 40_000 + whole(8) },
  });
/** One of so many hosts, each by a conversation of its own. */
const hosts = (count: number) => () => `198.51.100.${1 + whole(count)}`;

const quic: Stream = {
  pps: 83_000,
  packet: udp(hosts(1), () => ({ source: 443, destination: 51_000 }), 1_250),
};
const wide: Stream = {
  pps: 30_000,
  packet: udp(anybody, () => ({ source: 1_024 + whole(60_000), destination: 27_015 }), 1_400),
};
const players: Stream = {
  pps: 9_000,
  packet: udp(hosts(120), () => ({ source: 50_000 + whole(120), destination: 27_015 }), 140),
};

describe('large packets from few that the guest has asked for', () => {
  it('are no attack, however many: a gigabit by QUIC from one host or a dozen, and by TCP', () => {
    expect(nameOf([quic])).toBeNull();
    const dozen = { ...quic, packet: udp(hosts(12), () => ({ source: 443, destination: 51_000 }), 1_250) };
    expect(nameOf([dozen])).toBeNull();
    expect(nameOf([{ pps: 160_000, packet: tcp(hosts(6), 1_500) }])).toBeNull();
    // Ten gigabits, which is above the sum of all.
    expect(nameOf([{ pps: 830_000, packet: tcp(hosts(6), 1_500) }])).toBeNull();
  });

  it('are none beside a game either, and its players are not', () => {
    expect(nameOf([players])).toBeNull();
    expect(nameOf([players, quic])).toBeNull();
    expect(nameOf([{ ...players, pps: 15_000 }, quic])).toBeNull();
  });

  it('hide no flood that comes with them', () => {
    const small = {
      ...wide,
      packet: udp(anybody, () => ({ source: whole(60_000) + 1_024, destination: 53 }), 64),
    };
    expect(nameOf([quic, small])).toBe('UDP flood');
    expect(nameOf([quic, wide])).toBe('UDP flood');
  });

  it('are more than anybody asks for above six gigabits of UDP, for which nobody answers', () => {
    expect(nameOf([{ ...quic, pps: 700_000 }])).toBe('Flood');
  });
});

describe('large packets', () => {
  it('from many are a flood, of UDP and of TCP', () => {
    expect(nameOf([wide])).toBe('UDP flood');
    expect(nameOf([{ pps: 120_000, packet: tcp(anybody, 1_400) }])).toBe('TCP ACK flood');
  });

  it('from few to ever other ports, or to a service, count as they did without samples', () => {
    const anywhere = {
      pps: 30_000,
      packet: udp(hosts(3), () => ({ source: 443, destination: whole(65_536) }), 1_400),
    };
    expect(nameOf([anywhere])).toBe('UDP flood');
    const service = udp(hosts(3), () => ({ source: 50_000, destination: 27_015 }), 1_250);
    expect(nameOf([{ pps: 50_000, packet: service }])).toBeNull();
    expect(nameOf([{ pps: 83_000, packet: service }])).toBe('UDP flood');
  });

  it('of which too few were looked at count as they did without samples', () => {
    expect(nameOf([wide], 30)).toBeNull();
    expect(nameOf([{ ...wide, pps: 61_000 }], 30)).toBe('UDP flood');
    expect(nameOf([{ pps: 160_000, packet: tcp(anybody, 1_400) }], 30)).toBeNull();
  });

  it('from a network of IPv6 are from one', () => {
    const six = (source: () => string) => () => ({
      ...datagram('2001:db8:7::10', {
        source: source(),
        length: 1_250,
        ports: { source: 443, destination: 51_000 },
      }),
      destination: address,
    });
    const within = (most: number) => () =>
      `2001:db8:${whole(most).toString(16)}::${(1 + whole(60_000)).toString(16)}`;
    expect(nameOf([{ pps: 83_000, packet: six(within(1)) }])).toBeNull();
    expect(nameOf([{ pps: 83_000, packet: six(within(60_000)) }])).toBe('UDP flood');
  });
});
