import type { Match, Packet, Policy, Ranges, Rule, TcpFlag } from '../contract.ts';

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;

const flags: readonly TcpFlag[] = ['fin', 'syn', 'rst', 'psh', 'ack', 'urg'];
const protocols4 = [1, 4, 6, 6, 6, 17, 17, 17, 47, 50, 132];
const ports = [0, 1, 22, 53, 80, 81, 123, 443, 1_023, 1_024, 5_353, 27_015, 40_000, 65_534, 65_535];
const isSix = (address: string) => address.includes(':');

function whole(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

function pick<Each>(random: Random, of: readonly Each[]): Each {
  return of[whole(random, 0, of.length - 1)] as Each;
}

/** From few numbers, so that rules and packets meet. */
export function randomPacket(random: Random, destination: string): Packet {
  const six = isSix(destination);
  const drawn = pick(random, protocols4);
  const protocol = six && random() < 0.05 ? null : six && drawn === 1 ? 58 : drawn;
  const fragment = random() < 0.2;
  const isLater = fragment && random() < 0.5;
  const hasPorts = (protocol === 6 || protocol === 17) && !isLater;
  return {
    source: randomSource(random, six),
    destination,
    protocol,
    ports: hasPorts ? { source: pick(random, ports), destination: pick(random, ports) } : null,
    flags: hasPorts && protocol === 6 ? flags.filter(() => random() < 0.4) : null,
    dscp: random() < 0.5 ? 0 : whole(random, 0, 63),
    ecn: whole(random, 0, 3),
    // What arrives with one more hop to go is not sent on.
    ttl: random() < 0.5 ? 64 : whole(random, 2, 255),
    length: whole(random, 80, 1_280),
    fragment,
  };
}

function randomSource(random: Random, six: boolean): string {
  const [net, host] = [whole(random, 0, 7), whole(random, 0, 3)];
  return six ? `2001:db8:${net.toString(16)}::${host + 1}` : `198.18.${net}.${host + 1}`;
}

function randomNetwork(random: Random, six: boolean): string {
  const bits = whole(random, 0, 3);
  const net = whole(random, 0, 7) & ~((1 << bits) - 1);
  if (random() < 0.2) return randomSource(random, six);
  return six ? `2001:db8:${net.toString(16)}::/${48 - bits}` : `198.18.${net}.0/${24 - bits}`;
}

function randomRanges(random: Random, of: readonly number[]): Ranges {
  return Array.from({ length: whole(random, 1, 3) }, (): [number, number] => {
    const [one, other] = [pick(random, of), random() < 0.5 ? null : pick(random, of)];
    return other === null ? [one, one] : [Math.min(one, other), Math.max(one, other)];
  });
}

function upTo(most: number): number[] {
  return Array.from({ length: most + 1 }, (_, nth) => nth);
}

/** Half of them of the simple kind that customers write, next to each other. */
export function randomPolicy(random: Random, destination: string): Policy {
  const six = isSix(destination);
  const rules = Array.from({ length: whole(random, 1, 12) }, (_, nth): Rule => {
    const match = random() < 0.6 ? simpleMatch(random, six) : randomMatch(random, destination, six);
    return { id: nth * 7 + 1, action: random() < 0.5 ? 'permit' : 'deny', match, limit: null };
  });
  return { destination, generation: 1, rules, unmatched: random() < 0.5 ? 'permit' : 'deny' };
}

function simpleMatch(random: Random, six: boolean): Match {
  return {
    protocols: [random() < 0.5 ? [6, 6] : [17, 17]],
    ...(random() < 0.7 ? { sources: [randomNetwork(random, six)] } : {}),
    ...(random() < 0.7 ? { destinationPorts: randomRanges(random, ports).slice(0, 1) } : {}),
  };
}

function randomMatch(random: Random, destination: string, six: boolean): Match {
  const match: Match = {};
  const maybe = (share: number) => random() < share;
  if (maybe(0.4))
    match.sources = Array.from({ length: whole(random, 1, 4) }, () => randomNetwork(random, six));
  if (maybe(0.1)) match.destination = destination;
  const kind = random();
  if (kind < 0.3)
    match.protocols = randomRanges(
      random,
      six ? protocols4.map((each) => (each === 1 ? 58 : each)) : protocols4,
    );
  else if (kind < 0.55)
    match.flags = Object.fromEntries(flags.filter(() => maybe(0.3)).map((flag) => [flag, maybe(0.5)]));
  if (match.flags !== undefined && Object.keys(match.flags).length === 0) match.flags = { ack: true };
  if (match.protocols === undefined && maybe(0.3)) match.sourcePorts = randomRanges(random, ports);
  if (match.protocols === undefined && maybe(0.3)) match.destinationPorts = randomRanges(random, ports);
  if (maybe(0.15)) match.dscp = randomRanges(random, upTo(63));
  if (maybe(0.15)) match.ecn = randomRanges(random, upTo(3));
  if (maybe(0.15)) match.ttl = randomRanges(random, upTo(255));
  if (maybe(0.15)) match.lengths = randomRanges(random, upTo(1_400));
  if (maybe(0.15)) match.fragment = maybe(0.5);
  return match;
}
