import { readFileSync } from 'node:fs';
import type { Edge, Packet, Policy, Rule } from '../src/drivers/edge/index.ts';
import { nftablesEdge } from '../src/drivers/edge/index.ts';
import { type EdgeNetwork, edgeNetwork } from '../src/drivers/edge/suite/network.testbed.ts';
import { runAsRoot } from '../src/platform/host/program.ts';
import { countedOf, seenSince } from '../src/shield/watch/seen.ts';
import { undo } from './house.ts';
import { cpuMs, familyOf, nowMs, type Spread, spreadOf } from './measure.ts';
import type { Figure } from './table.ts';

export interface EdgeOptions {
  rounds: number;
  /** Of packets, for each layout in each round. */
  seconds: number;
  /** With ten rules each. */
  destinations: number;
}

const rulesEach = 10;
/** Packets go to some of the destinations, so that not all of them meet the same chain. */
const addressed = 32;
const written = 500;
/** A hundredth of a second is the least that is told of another process. */
const readingsARound = 20;

/**
 * The packet filter: what rules cost a packet, by CPU time from the sender to the guest, which holds still where throughput does
 * not; what replacing costs, and what they take of the kernel's memory. Each layout stands in a network of its own, and packets
 * go to them by turns. What the sender costs alone, measured where packets are dropped as they come in, counts for none.
 */
export async function measureEdge({ rounds, seconds, destinations }: EdgeOptions): Promise<Figure[]> {
  const [none, dropped, watched, few, many, neighbours] = await Promise.all(
    ['none', 'dropped', 'watched', 'few', 'many', 'neighbours'].map(async () => {
      const network = await edgeNetwork();
      undo.push(() => network.close());
      return { network, edge: nftablesEdge({ bridged: false, inside: network.inside }) };
    }),
  );
  if (!none || !dropped || !watched || !few || !many || !neighbours) throw new Error('a network is missing');
  const all = Array.from({ length: destinations }, (_, nth) => addressOf(nth));
  await runAsRoot(dropped.network.inside(['nft', '-f', '-']), {
    input: [
      'add table netdev bench',
      'add chain netdev bench in { type filter hook ingress device world priority 0; }',
      'add rule netdev bench in ip daddr 10.0.0.0/9 drop\n',
    ].join('\n'),
  });
  const some = all.slice(0, addressed);
  await watched.edge.replace(some.map((destination) => policyOf(destination, [])));
  await few.edge.replace(all.slice(0, 10).map((destination) => policyOf(destination, passedRules())));
  await neighbours.edge.replace([policyOf(all[0] ?? '', neighbouringRules())]);
  const before = kernelKib();
  for (let at = 0; at < all.length; at += written)
    await many.edge.replace(
      all.slice(at, at + written).map((destination) => policyOf(destination, passedRules())),
    );
  const kibPerRule = (kernelKib() - before) / (destinations * rulesEach);

  const layouts = { none, dropped, watched, few, many, neighbours };
  const ns = await packetCosts(layouts, some, { rounds, seconds, watching: watched.edge });
  const count = destinations * rulesEach;
  const share = (name: keyof typeof layouts) => forwardingShare(ns, name);
  const costs = (name: keyof typeof layouts) => `${Math.round(spreadOf(ns[name] ?? []).median)} ns a packet`;
  const against = 'the same without rules, by CPU time for a packet, the sender left out';
  const ratio = (name: string, value: Spread, atLeast: number, amounts: string): Figure => {
    return {
      name,
      against,
      value,
      unit: 'ratio',
      target: { atLeast },
      amounts,
      limit: 'the kernel, rule by rule',
    };
  };
  return [
    ratio(
      `Packets past ${count.toLocaleString('en')} rules of ${destinations.toLocaleString('en')} addresses, ten of them passed`,
      share('many'),
      0.7,
      `${costs('many')}; none ${costs('none')}, the sender ${costs('dropped')}`,
    ),
    {
      ...ratio(
        'The same, as a share of the speed past 100 rules',
        shareOf(ns, 'many', 'few'),
        0.9,
        costs('few'),
      ),
      against: 'ten addresses with ten rules each, the sender left out',
    },
    ratio(
      'Packets past 100 rules of ports and sources on one address',
      share('neighbours'),
      0.6,
      costs('neighbours'),
    ),
    ratio('Packets that are only watched, sampled too', share('watched'), 0.88, costs('watched')),
    {
      name: 'Kernel memory a rule',
      against: 'none',
      value: spreadOf([kibPerRule * 1.024]),
      unit: 'kB',
      target: { atMost: 1.2 },
      amounts: `${count.toLocaleString('en')} rules, ${destinations.toLocaleString('en')} chains`,
      limit: 'a counter and two matches each',
    },
    ...(await replacing(many, all, rounds)),
    await reading(watched.edge, rounds),
  ];
}

interface Layout {
  network: EdgeNetwork;
  edge: Edge;
}

/** Nanoseconds a packet, each layout once a round. */
async function packetCosts(
  layouts: Record<string, Layout>,
  addresses: readonly string[],
  { rounds, seconds, watching }: { rounds: number; seconds: number; watching: Edge },
): Promise<Record<string, number[]>> {
  const ns: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round += 1) {
    const names = Object.keys(layouts);
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const layout = layouts[name];
      if (layout === undefined) continue;
      const to =
        name === 'few' ? addresses.slice(0, 10) : name === 'neighbours' ? addresses.slice(0, 1) : addresses;
      if (name === 'watched') await watching.readSamples();
      const { sent, cpuMs } = await layout.network.flood(to.map(packetTo), seconds);
      if (name === 'watched') await watching.readSamples();
      ns[name] = [...(ns[name] ?? []), (cpuMs * 1e6) / sent];
    }
  }
  return ns;
}

/** The speed of forwarding, beside none: what is left of a packet's cost without the sender's. */
function forwardingShare(ns: Record<string, number[]>, name: string): Spread {
  return shareOf(ns, name, 'none');
}

function shareOf(ns: Record<string, number[]>, name: string, than: string): Spread {
  const sender = spreadOf(ns.dropped ?? []).median;
  return spreadOf(
    (ns[name] ?? []).map((cost, nth) => ((ns[than]?.[nth] ?? Number.NaN) - sender) / (cost - sender)),
  );
}

/** One address's rules, and a hundred addresses' at once, in calls of nft that do nothing. */
async function replacing(
  { edge, network }: Layout,
  all: readonly string[],
  rounds: number,
): Promise<Figure[]> {
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
    empty.push(await timed(() => runAsRoot(network.inside(['nft', '-f', '-']), { input: '' })));
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
  await network.send(addresses.flatMap((each) => kinds.map((kind) => ({ ...packetTo(each), ...kind }))));
  const percent: number[] = [];
  let before = countedOf(await counting.readTraffic());
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
