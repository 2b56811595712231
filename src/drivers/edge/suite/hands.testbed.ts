import type { Edge, EdgeCapability, Match, Packet, Policy, Rule, TcpFlag } from '../contract.ts';
import { judge } from '../judge.ts';

/** What the suite needs to know of the engine it tests. */
export interface EdgeUnderTest {
  edge: Edge;
  /**
   * Sends packets to guests in this order, and says which got through. Guests are at 10.0.0.0/8 and 2001:db8:7::/48, the world
   * is all the rest.
   */
  send(packets: readonly Packet[], how?: { bridged?: boolean }): Promise<boolean[]>;
  /** Spreads them over time, and says of each as well at which millisecond it went out. */
  sendPaced(packets: readonly Packet[], perSecond: number): Promise<{ arrived: boolean[]; atMs: number[] }>;
  /** Lets time pass until it is so. */
  until(isSo: () => Promise<boolean>): Promise<void>;
  close(): Promise<void>;
}

/** The engine under test, from when there is one, and ways to look at it. */
export interface Given extends Pick<EdgeUnderTest, 'send' | 'sendPaced' | 'until'> {
  readonly edge: Edge;
  can(capability: EdgeCapability): boolean;
  passes(one: Packet): Promise<boolean | undefined>;
  /** Packets and bytes by rule, over all writings. */
  counted(destination: string, of?: 'policy' | 'mitigation'): Promise<Record<string, [number, number]>>;
  packetsOf(destination: string, id: number | null): Promise<number | undefined>;
  /** What is held of a destination: `policy 1`, `trial 2`. */
  held(destination: string): Promise<string[]>;
}

export function givenBy(test: () => EdgeUnderTest): Given {
  const counted: Given['counted'] = async (destination, of = 'policy') => {
    const sums: Record<string, [number, number]> = {};
    for (const each of (await test().edge.readRules([destination])).filter((count) => count.of === of)) {
      const [packets, bytes] = sums[String(each.rule)] ?? [0, 0];
      sums[String(each.rule)] = [packets + each.packets, bytes + each.bytes];
    }
    return sums;
  };
  return {
    get edge() {
      return test().edge;
    },
    can: (capability) => test().edge.capabilities.includes(capability),
    send: (packets, how) => test().send(packets, how),
    sendPaced: (packets, perSecond) => test().sendPaced(packets, perSecond),
    until: (isSo) => test().until(isSo),
    passes: async (one) => (await test().send([one]))[0],
    counted,
    packetsOf: async (destination, id) => (await counted(destination))[String(id)]?.[0],
    held: async (destination) =>
      (await test().edge.list())
        .filter((each) => each.destination === destination)
        .map(({ as, generation }) => `${as} ${generation}`)
        .toSorted(),
  };
}

export type Family = 4 | 6;
export const families: readonly Family[] = [4, 6];
export const flags: readonly TcpFlag[] = ['fin', 'syn', 'rst', 'psh', 'ack', 'urg'];

let last = 0;
/** Of a guest that no test has used yet. */
export function freshAddress(family: Family): string {
  last += 1;
  return family === 4 ? `10.${last >> 8}.${last & 255}.1` : `2001:db8:7:${last.toString(16)}::1`;
}

export function packet(destination: string, other: Partial<Packet> = {}): Packet {
  const isSix = destination.includes(':');
  return {
    source: isSix ? '2001:db8:2::5' : '198.18.2.5',
    destination,
    protocol: 17,
    ports: { source: 40_000, destination: 5_353 },
    flags: null,
    dscp: 10,
    ecn: 1,
    ttl: 64,
    length: 120,
    fragment: false,
    ...other,
  };
}

export function policy(
  destination: string,
  generation: number,
  rules: Policy['rules'],
  other: Partial<Policy> = {},
): Policy {
  return { destination, generation, rules, unmatched: 'permit', ...other };
}

export function rule(
  id: number,
  action: Rule['action'],
  match: Match = {},
  limit: Rule['limit'] = null,
): Rule {
  return { id, action, match, limit };
}

export function times(count: number, one: Packet): Packet[] {
  return Array.from({ length: count }, () => one);
}

export function whole(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

/** Packets and bytes by rule, by the one function. */
export function expectedCounts(wanted: Policy, sent: readonly Packet[]): Record<string, [number, number]> {
  const sums: Record<string, [number, number]> = Object.fromEntries(
    [...wanted.rules.map(({ id }) => id), null].map((id) => [String(id), [0, 0]]),
  );
  for (const one of sent) {
    const sum = sums[String(judge(wanted, one).rule?.id ?? null)];
    if (sum === undefined) continue;
    sum[0] += 1;
    sum[1] += one.length;
  }
  return sums;
}
