import { readFileSync } from 'node:fs';
import type { Edge, Packet, Policy, Rule } from '../src/drivers/edge/index.ts';
import { nftablesEdge } from '../src/drivers/edge/index.ts';
import { frameOf } from '../src/drivers/edge/suite/frames.testbed.ts';
import { edgeNetwork } from '../src/drivers/edge/suite/network.testbed.ts';
import { runAsRoot } from '../src/platform/host/program.ts';
import { countedOf, seenSince } from '../src/shield/watch/seen.ts';
import { undo } from './house.ts';
import { cpuMs, familyOf, nowMs, type Spread, spreadOf } from './measure.ts';
import { dropAt, edgeMac, type PacketPath, packetPath } from './packetPath.ts';
import type { Figure } from './table.ts';

export interface EdgeOptions {
  rounds: number;
  /** Moments for which packets go to each layout in a round. */
  shots: number;
  /** With ten rules each. */
  destinations: number;
}

const rulesEach = 10;
/** Packets go to some of the destinations, so that not all of them meet the same chain. */
const addressed = 32;
const shotMs = 20;
const written = 500;
/** A hundredth of a second is the least that is told of another process. */
const readingsARound = 20;

/**
 * The packet filter: what rules cost a packet; what replacing costs, and what they take of the kernel's memory. A packet's cost is
 * CPU time from the sender to the guest, on one processor. What it costs where packets are dropped as they come in, so the
 * sender's part, counts for none. Each layout stands in networks of its own; packets go to all of them in turn, a moment each, so that what the
 * machine does besides falls on all alike.
 */
export async function measureEdge(options: EdgeOptions): Promise<Figure[]> {
  const { rounds, destinations } = options;
  const all = Array.from({ length: destinations }, (_, nth) => addressOf(nth));
  const layouts = await openLayouts(all);
  const { many, watched } = layouts;
  const before = kernelKib();
  for (let at = 0; at < all.length; at += written)
    await many.edge.replace(
      all.slice(at, at + written).map((destination) => policyOf(destination, passedRules())),
    );
  const kibPerRule = (kernelKib() - before) / (destinations * rulesEach);
  return [
    ...packetFigures(await packetCosts(layouts, options), destinations),
    {
      name: 'Kernel memory a rule',
      against: 'none',
      value: spreadOf([kibPerRule * 1.024]),
      unit: 'kB',
      target: { atMost: 1.2 },
      amounts: `${(destinations * rulesEach).toLocaleString('en')} rules, ${destinations.toLocaleString('en')} chains`,
      limit: 'a counter and two matches each',
    },
    ...(await replacing(many, all, rounds)),
    await reading(watched.edge, rounds),
  ];
}

const names = ['none', 'dropped', 'bare', 'watched', 'few', 'many', 'neighbours'] as const;
type Name = (typeof names)[number];

interface Layout {
  path: PacketPath;
  edge: Edge;
}

async function openLayouts(all: readonly string[]): Promise<Record<Name, Layout>> {
  const opened = await Promise.all(
    names.map(async (name): Promise<[Name, Layout]> => {
      const path = await packetPath();
      undo.push(() => path.close());
      const edge = nftablesEdge({ bridged: false, inside: path.inside });
      undo.push(() => edge.close());
      const count = name === 'few' ? 10 : name === 'neighbours' ? 1 : addressed;
      await path.load(all.slice(0, count).map((each, nth) => frameTo(each, nth + 1)));
      return [name, { path, edge }];
    }),
  );
  const layouts = Object.fromEntries(opened) as Record<Name, Layout>;
  const some = all.slice(0, addressed);
  await dropAt(layouts.dropped.path.inside([]), 'in');
  await runAsRoot(layouts.bare.path.inside(['nft', '-f', '-']), { input: bareText(some) });
  await layouts.watched.edge.replace(some.map((destination) => policyOf(destination, [])));
  await layouts.few.edge.replace(all.slice(0, 10).map((destination) => policyOf(destination, passedRules())));
  await layouts.neighbours.edge.replace([policyOf(all[0] ?? '', neighbouringRules())]);
  return layouts;
}

/** Nanoseconds a packet, of each round the middle of what was shot at each. */
async function packetCosts(
  layouts: Record<Name, Layout>,
  { rounds, shots }: EdgeOptions,
): Promise<Record<Name, number[]>> {
  await settle(layouts);
  const costs = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const ofRound = new Map<Name, number[]>(names.map((name) => [name, []]));
    for (let nth = 0; nth < shots; nth += 1)
      for (const name of nth % 2 === 0 ? names : names.toReversed())
        ofRound.get(name)?.push((await layouts[name].path.shoot(shotMs)).nsEach);
    for (const [name, ns] of ofRound) costs.get(name)?.push(spreadOf(ns).median);
  }
  return Object.fromEntries(costs) as Record<Name, number[]>;
}

/** Every packet arrives that is not dropped, and samples are as seldom as they are in a flood. */
async function settle(layouts: Record<Name, Layout>): Promise<void> {
  for (const name of names) {
    const { path } = layouts[name];
    const before = await path.arrived();
    const { sent } = await path.shoot(shotMs);
    const arrived = (await path.arrived()) - before;
    if (name === 'dropped' ? arrived > sent / 100 : arrived < sent)
      throw new Error(`${name}: of ${sent} packets ${arrived} arrived`);
  }
  for (let second = 0; second < 4; second += 1) {
    await layouts.watched.edge.readSamples();
    await layouts.watched.path.shoot(1_000);
  }
  await layouts.watched.edge.readSamples();
}

function packetFigures(ns: Record<Name, number[]>, destinations: number): Figure[] {
  const count = (destinations * rulesEach).toLocaleString('en');
  const costs = (name: Name) => `${Math.round(spreadOf(ns[name]).median)} ns a packet`;
  const bare = shareOf(ns, 'bare', 'none').median.toFixed(2);
  const ratio = (name: string, of: Name, atLeast: number, amounts = costs(of)): Figure => ({
    ...{ name, against: 'the same without rules, by CPU time for a packet, the sender left out' },
    ...{ value: shareOf(ns, of, 'none'), unit: 'ratio', target: { atLeast }, amounts },
    limit: 'the kernel, rule by rule',
  });
  return [
    ratio(
      `Packets past ${count} rules of ${destinations.toLocaleString('en')} addresses, ten of them passed`,
      'many',
      0.7,
      `${costs('many')}; none ${costs('none')}, the sender ${costs('dropped')}; of the same ten rules written by hand, nothing watched, ${bare}`,
    ),
    {
      ...ratio('The same, as a share of the speed past 100 rules', 'few', 0.9),
      value: shareOf(ns, 'many', 'few'),
      against: 'ten addresses with ten rules each, the sender left out',
    },
    ratio('Packets past 100 rules of ports and sources on one address', 'neighbours', 0.6),
    ratio('Packets that are only watched, sampled too', 'watched', 0.88),
  ];
}

/** The speed of forwarding beside another's, by round. */
function shareOf(ns: Record<Name, number[]>, name: Name, than: Name): Spread {
  const withoutSender = (of: Name, round: number) => (ns[of][round] ?? Number.NaN) - (ns.dropped[round] ?? 0);
  return spreadOf(ns[name].map((_, round) => withoutSender(than, round) / withoutSender(name, round)));
}

/** The least that ten rules with counters can cost: a map that leads to them, and nothing besides. */
function bareText(destinations: readonly string[]): string {
  const at = 'inet bench';
  const rules = Array.from(
    { length: rulesEach },
    (_, nth) => `ip saddr 198.19.${nth}.0/24 udp sport ${nth + 1} counter drop`,
  );
  const lines = [
    `add table ${at}`,
    `add chain ${at} rules`,
    ...rules.map((rule) => `add rule ${at} rules ${rule}`),
    `add map ${at} policies { type ipv4_addr : verdict; }`,
    `add element ${at} policies { ${destinations.map((each) => `${each} : goto rules`).join(', ')} }`,
    `add chain ${at} edge { type filter hook prerouting priority -450; }`,
    `add rule ${at} edge ip daddr vmap @policies`,
  ];
  return `${lines.join('\n')}\n`;
}

/** One address's rules, and a hundred addresses' at once, in calls of nft that do nothing. */
async function replacing({ edge, path }: Layout, all: readonly string[], rounds: number): Promise<Figure[]> {
  const timed = async (work: () => Promise<unknown>) => {
    const began = nowMs();
    await work();
    return nowMs() - began;
  };
  const [empty, one, hundred]: [number[], number[], number[]] = [[], [], []];
  let generation = 1;
  const replace = (destinations: readonly string[]) => {
    generation += 1;
    return edge.replace(destinations.map((each) => policyOf(each, passedRules(), generation)));
  };
  const forget = async (destinations: readonly string[]) => {
    const over = (await edge.readRules(destinations)).filter(({ isOver }) => isOver);
    await edge.forget(over.map(({ writing }) => writing));
  };
  for (let round = 0; round < Math.min(rounds, 5); round += 1) {
    empty.push(await timed(() => runAsRoot(path.inside(['nft', '-f', '-']), { input: '' })));
    one.push(await timed(() => replace(all.slice(round, round + 1))));
    hundred.push(await timed(() => replace(all.slice(200, 300))));
    await forget(all.slice(round, round + 1));
  }
  const [emptyMs, oneMs] = [spreadOf(empty).median, spreadOf(one).median];
  const count = (all.length * rulesEach).toLocaleString('en');
  return [
    {
      name: `An address's ten rules replaced among ${count}`,
      against: 'calls of nft that do nothing',
      value: spreadOf(one.map((ms) => ms / emptyMs)),
      unit: 'ratio',
      target: { atMost: 25 },
      amounts: `${oneMs.toFixed(0)} ms; an empty call ${emptyMs.toFixed(1)} ms`,
      limit: 'two transactions, for each of which nft asks for all chains',
    },
    {
      name: "A hundred addresses' rules replaced at once",
      against: "one address's",
      value: spreadOf(hundred.map((ms) => ms / oneMs)),
      unit: 'ratio',
      target: { atMost: 2 },
      amounts: `${spreadOf(hundred).median.toFixed(0)} ms`,
      limit: 'the same, and a thousand rules',
    },
  ];
}

/** By protocol, of which there are two, and SYNs, fragments, and one port that reflects. */
const countsEach = 5;

/** What is counted of a thousand addresses, once a second. */
async function reading(edge: Edge, rounds: number): Promise<Figure> {
  const addresses = Array.from({ length: 1_000 }, (_, nth) => addressOf(20_000 + nth));
  await edge.replace(addresses.map((destination) => policyOf(destination, [])));
  const network = await edgeNetwork();
  undo.push(() => network.close());
  const counting = nftablesEdge({ bridged: false, inside: network.inside });
  await counting.replace(addresses.map((destination) => policyOf(destination, [])));
  const kinds: Partial<Packet>[] = [
    {},
    { protocol: 6, flags: ['syn'] },
    { ports: null, fragment: true },
    { ports: { source: 53, destination: 9 } },
  ];
  const packets = addresses.flatMap((each) => kinds.map((kind) => ({ ...packetTo(each), ...kind })));
  let before = new Map() as ReturnType<typeof countedOf>;
  // A busy machine lets go of some on their way: every address is to have all its counts.
  for (let nth = 0; before.size < addresses.length * countsEach; nth += 1) {
    if (nth === 10) throw new Error(`only ${before.size} counts came about`);
    await network.send(packets);
    before = countedOf(await counting.readTraffic());
  }
  const percent: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = cpuOfAllMs();
    for (let nth = 0; nth < readingsARound; nth += 1) {
      const now = countedOf(await counting.readTraffic());
      seenSince(before, now);
      before = now;
    }
    percent.push((cpuOfAllMs() - began) / readingsARound / 10);
  }
  return {
    name: 'A reading of 1,000 addresses each second',
    against: 'none',
    value: spreadOf(percent),
    unit: '% of a core',
    target: { atMost: 8 },
    amounts: `${before.size.toLocaleString('en')} counts, read and held against the ones before; all of ours but the kernel's own threads`,
    limit: 'Node, which makes an object and two texts of each count',
  };
}

/** CPU time of this process and of all that it started. */
function cpuOfAllMs(): number {
  const { user, system } = process.cpuUsage();
  const [, ...others] = familyOf(process.pid);
  return (user + system) / 1_000 + endedMs() + others.reduce((sum, pid) => sum + cpuMs(pid, true), 0);
}

/** Of programs that have ended. */
function endedMs(): number {
  return cpuMs(process.pid, true) - cpuMs(process.pid);
}

/** What the kernel has for itself. */
function kernelKib(): number {
  const memory = readFileSync('/proc/meminfo', 'utf8');
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(memory)?.[1] ?? 0);
  return kib('Slab') + kib('Percpu') + kib('VmallocUsed');
}

function addressOf(nth: number): string {
  return `10.${1 + (nth >> 8)}.${nth & 255}.1`;
}

function frameTo(destination: string, mark: number): string {
  return frameOf(packetTo(destination), { from: '02:00:00:00:00:bb', to: edgeMac }, mark).toString('hex');
}

function packetTo(destination: string): Packet {
  return {
    ...{ source: '198.18.2.5', destination, protocol: 17, ports: { source: 40_000, destination: 9_999 } },
    ...{ flags: null, dscp: 0, ecn: 0, ttl: 64, length: 60, fragment: false },
  };
}

function policyOf(destination: string, rules: readonly Rule[], generation = 1): Policy {
  return { destination, generation, rules, unmatched: 'permit' };
}

/** Rules that a packet has to be held against one by one, and none of which it matches. */
function passedRules(): Rule[] {
  return Array.from({ length: rulesEach }, (_, nth) => {
    const match = {
      protocols: [[17, 17]],
      sources: [`198.19.${nth}.0/24`],
      sourcePorts: [[nth + 1, nth + 1]],
    } as const;
    return { id: nth + 1, action: 'deny', match, limit: null };
  });
}

/** As customers write them, next to each other. */
function neighbouringRules(): Rule[] {
  return Array.from({ length: 100 }, (_, nth) => {
    const match = {
      protocols: [[17, 17]],
      sources: [`198.19.${nth}.0/24`],
      destinationPorts: [[1_000 + nth, 1_000 + nth]],
    } as const;
    return { id: nth + 1, action: 'deny', match, limit: null };
  });
}
