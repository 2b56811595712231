import { randomBytes } from 'node:crypto';
import {
  type Book,
  checkOverlaps,
  notNewer,
  notOlder,
  toConfirm,
  type Wanted,
  type Writing,
  wanted,
} from './book.ts';
import { checkMitigation, checkPolicy, checkSeconds, checkTrace } from './check.ts';
import type {
  AddressTraffic,
  Edge,
  EdgeCapability,
  Mitigation,
  Packet,
  Policy,
  Rule,
  RuleCount,
  Traced,
  TrafficKind,
  Version,
} from './contract.ts';
import { countedAs } from './counted.ts';
import { type Handshake, handshakesOf } from './handshakes.ts';
import { judgeOf, type Verdict } from './judge.ts';
import { type Bucket, bucketOf } from './limit.ts';
import { addressNumber, addressText, canonical, isIn, parsePrefix, prefixText } from './prefix.ts';
import { reflectors } from './reflectors.ts';
import { levels, samplesSince } from './sampling.ts';

export interface MemoryEdgeOptions {
  /** Milliseconds, for limits and trials. Default: the time of day. */
  now?: () => number;
  /** From 0 to below 1, for samples. Default: chance. */
  random?: () => number;
}

/** Packets have to be told to it, since none pass by. */
export interface MemoryEdge extends Edge {
  /** Whether the packet gets through. */
  pass(packet: Packet): boolean;
}

interface Kept extends Writing {
  of: 'policy' | 'mitigation';
  /** Null goes on to whatever stands behind. */
  decide(packet: Packet): Verdict | null;
  /** Of a measure: what becomes of a packet that the policy permits. */
  answer: ((packet: Packet) => Handshake) | null;
  counts: Map<number | null, Count>;
  buckets: Map<string, Bucket>;
  endsAt: number | null;
}

type Count = Pick<RuleCount, 'packets' | 'bytes' | 'droppedPackets' | 'droppedBytes'>;

const capabilities: readonly EdgeCapability[] = [
  'rules',
  'trials',
  'counters',
  'traffic',
  'samples',
  'trace',
  'limits',
  'limits_by_source',
  'bridged',
  'blackholes',
  'synproxy',
];

/** For tests of rules, and for load: everything in this process, judged by the one function. */
export function memoryEdge({ now = Date.now, random = Math.random }: MemoryEdgeOptions = {}): MemoryEdge {
  const book = { policies: new Map(), trials: new Map(), mitigations: new Map() } satisfies Book as {
    [Kind in keyof Book]: Map<string, Kept>;
  };
  const over: Kept[] = [];
  const traffic = new Map<string, AddressTraffic>();
  const tracers = new Set<(traced: Traced) => void>();
  const samples = samplesSince(now);
  /** Null before the first reading. */
  let sampling: { oneIn: number; buckets: Bucket[] } | null = null;

  const retire = (kept: Kept | undefined) => {
    if (kept !== undefined) over.push(kept);
  };
  const take = (kind: keyof Book, destination: string) => {
    retire(book[kind].get(destination));
    book[kind].delete(destination);
  };
  const endTrials = () => {
    for (const [destination, { endsAt }] of book.trials) {
      if (endsAt !== null && endsAt <= now()) take('trials', destination);
    }
  };
  const put = (kind: keyof Book, destination: string, kept: Kept) => {
    take(kind, destination);
    book[kind].set(destination, kept);
  };

  function find(kind: keyof Book, address: bigint, family: 4 | 6): Kept | undefined {
    const single = book[kind].get(`${addressText(family, address)}/${family === 4 ? 32 : 128}`);
    if (single !== undefined) return single;
    for (const kept of book[kind].values()) {
      if (kept.network.family === family && isIn(kept.network, address)) return kept;
    }
    return undefined;
  }

  function countTraffic(packet: Packet): void {
    const add = (kind: TrafficKind, of: number | null) => {
      const key = `${packet.destination} ${kind} ${of}`;
      const entry = traffic.get(key) ?? { address: packet.destination, kind, of, packets: 0, bytes: 0 };
      traffic.set(key, { ...entry, packets: entry.packets + 1, bytes: entry.bytes + packet.length });
    };
    if (packet.protocol !== null) add('protocol', countedAs(packet.protocol));
    if (packet.flags?.includes('syn') && !packet.flags.includes('ack')) add('syn', null);
    if (packet.fragment) add('fragment', null);
    const port = packet.ports?.source;
    if (packet.protocol === 17 && port !== undefined && port in reflectors) add('reflection', port);
  }

  function sample(packet: Packet): void {
    if (sampling === null) return;
    let standsFor = 1;
    for (const [level, bucket] of sampling.buckets.entries()) {
      const oneIn = level === 0 ? sampling.oneIn : levels.coarser;
      standsFor *= oneIn;
      if (random() * oneIn >= 1) return;
      if (!bucket(packet.length, now())) continue;
      samples.add(packet, standsFor);
      return;
    }
  }

  /** Null goes on to what stands behind. */
  function meet(kept: Kept, packet: Packet): Pick<Traced, 'action' | 'by'> | null {
    const verdict = kept.decide(packet);
    const rule = verdict?.rule?.id ?? null;
    const count = kept.counts.get(rule);
    if (verdict === null || count === undefined) return null;
    const by = { of: kept.of, destination: prefixText(kept.network), generation: kept.generation, rule };
    count.packets += 1;
    count.bytes += packet.length;
    if (verdict.rule?.limit && !withinLimit(kept, verdict.rule, packet)) {
      count.droppedPackets += 1;
      count.droppedBytes += packet.length;
      return { action: 'deny', by };
    }
    return verdict.action === 'permit' && kept.of === 'mitigation' ? null : { action: verdict.action, by };
  }

  function getsThrough({ answer, counts }: Kept, packet: Packet): boolean {
    const handshake = answer?.(packet) ?? 'passes';
    const count = counts.get(null);
    if (handshake === 'answered' && count !== undefined) {
      count.packets += 1;
      count.bytes += packet.length;
    }
    return handshake === 'passes';
  }

  function withinLimit(kept: Kept, rule: Rule, packet: Packet): boolean {
    if (rule.limit === null) return true;
    const key = `${rule.id} ${rule.limit.per === 'rule' ? '' : packet[rule.limit.per]}`;
    const bucket = kept.buckets.get(key) ?? bucketOf(rule.limit, now());
    kept.buckets.set(key, bucket);
    return bucket(packet.length, now());
  }

  function keep(of: Kept['of'], { network, generation }: Wanted<unknown>, parts: Parts): Kept {
    const counts = new Map(
      parts.counts.map((id): [number | null, Count] => [
        id,
        { packets: 0, bytes: 0, droppedPackets: 0, droppedBytes: 0 },
      ]),
    );
    const name = randomBytes(8).toString('hex');
    const { decide, answer = null } = parts;
    return { name, network, generation, of, decide, answer, counts, buckets: new Map(), endsAt: null };
  }

  return {
    kind: 'memory',
    capabilities,

    pass(packet) {
      endTrials();
      const family = packet.destination.includes(':') ? 6 : 4;
      const address = addressNumber(packet.destination);
      const policy = find('trials', address, family) ?? find('policies', address, family);
      const measure = find('mitigations', address, family);
      if (policy !== undefined || measure !== undefined) {
        countTraffic(packet);
        sample(packet);
      }
      const decided = (measure && meet(measure, packet)) ?? (policy && meet(policy, packet));
      const { action, by } = decided ?? { action: 'permit', by: null };
      for (const tracer of tracers) tracer({ packet, action, by });
      return action === 'permit' && (measure === undefined || getsThrough(measure, packet));
    },

    async replace(policies) {
      endTrials();
      const items = notOlder(wanted(policies, checkPolicy), book.policies);
      checkOverlaps(items, book.policies, book.trials);
      for (const each of items) {
        if (book.policies.get(each.destination)?.generation !== each.generation) {
          put('policies', each.destination, keep('policy', each, ofPolicy(each.item)));
        }
        const trial = book.trials.get(each.destination);
        if (trial !== undefined && trial.generation <= each.generation) take('trials', each.destination);
      }
    },

    async try(policies, seconds) {
      checkSeconds(seconds);
      endTrials();
      const items = notOlder(wanted(policies, checkPolicy), book.policies, book.trials);
      checkOverlaps(items, book.policies, book.trials);
      for (const each of items) {
        if (book.policies.get(each.destination)?.generation === each.generation) continue;
        const trial = book.trials.get(each.destination);
        if (trial?.generation === each.generation) trial.endsAt = now() + seconds * 1000;
        else
          put('trials', each.destination, {
            ...keep('policy', each, ofPolicy(each.item)),
            endsAt: now() + seconds * 1000,
          });
      }
    },

    async confirm(versions) {
      endTrials();
      for (const { destination } of toConfirm(wanted(versions), book)) {
        const trial = book.trials.get(destination);
        if (trial === undefined) continue;
        book.trials.delete(destination);
        put('policies', destination, Object.assign(trial, { endsAt: null }));
      }
    },

    async takeBack(versions) {
      for (const { destination } of notNewer(wanted(versions), book.trials)) take('trials', destination);
    },

    async remove(versions) {
      const items = wanted(versions);
      for (const kind of ['trials', 'policies'] as const) {
        for (const { destination } of notNewer(items, book[kind])) take(kind, destination);
      }
    },

    async list() {
      endTrials();
      const held = (kind: keyof Book, as: 'policy' | 'trial' | 'mitigation') =>
        [...book[kind]].map(([destination, { generation, endsAt }]) => {
          return { destination, generation, as, endsInMs: endsAt === null ? null : endsAt - now() };
        });
      return [
        ...held('policies', 'policy'),
        ...held('trials', 'trial'),
        ...held('mitigations', 'mitigation'),
      ];
    },

    async readRules(destinations) {
      endTrials();
      const asked = destinations && new Set(destinations.map(canonical));
      const rows = (isOver: boolean, destination: string, kept: Kept): RuleCount[] => {
        if (asked && !asked.has(destination)) return [];
        const { generation, of, name: writing } = kept;
        return [...kept.counts].map(([rule, count]) => {
          return { destination, generation, of, writing, isOver, rule, ...count };
        });
      };
      return [
        ...[book.policies, book.trials, book.mitigations].flatMap((kind) =>
          [...kind].flatMap(([destination, kept]) => rows(false, destination, kept)),
        ),
        ...over.flatMap((kept) => rows(true, prefixText(kept.network), kept)),
      ];
    },

    async forget(writings) {
      const kept = over.filter(({ name }) => !writings.includes(name));
      over.splice(0, over.length, ...kept);
    },

    async readTraffic() {
      return { addresses: [...traffic.values()], full: [] };
    },

    async readSamples() {
      const taken = samples.take();
      if (sampling?.oneIn !== taken.oneIn) {
        const limit = {
          packetsPerSecond: levels.takenPerSecond,
          per: 'rule',
          burst: levels.takenPerSecond,
        } as const;
        const buckets = Array.from({ length: levels.count }, () => bucketOf(limit, now()));
        sampling = { oneIn: taken.oneIn, buckets };
      }
      return taken.samples;
    },

    async trace(kind, until) {
      checkTrace(kind, until);
      const isOfKind = judgeOf({
        rules: [
          { id: 1, action: 'permit', match: { destination: kind.destination, ...kind.match }, limit: null },
        ],
        unmatched: 'deny',
      });
      const family = parsePrefix(kind.destination).family;
      const found: Traced[] = [];
      let isOver = () => {};
      const over = new Promise<void>((resolve) => {
        isOver = resolve;
      });
      const tracer = (traced: Traced) => {
        if (found.length === until.packets || (traced.packet.destination.includes(':') ? 6 : 4) !== family)
          return;
        if (isOfKind(traced.packet).rule === null) return;
        found.push(traced);
        if (found.length === until.packets) isOver();
      };
      tracers.add(tracer);
      const timer = setTimeout(isOver, until.seconds * 1_000);
      await over;
      clearTimeout(timer);
      tracers.delete(tracer);
      return found;
    },

    async mitigate(mitigation) {
      const items = notOlder(wanted([mitigation], checkMitigation), book.mitigations);
      checkOverlaps(items, book.mitigations);
      for (const each of items) {
        if (book.mitigations.get(each.destination)?.generation === each.generation) continue;
        put('mitigations', each.destination, keep('mitigation', each, ofMeasure(each.item.measure)));
      }
    },

    async release(versions: readonly Version[]) {
      for (const { destination } of notNewer(wanted(versions), book.mitigations))
        take('mitigations', destination);
    },

    async close() {},
  };
}

interface Parts {
  /** What has a counter. */
  counts: RuleCount['rule'][];
  decide: Kept['decide'];
  answer?: Kept['answer'];
}

function ofPolicy(policy: Policy): Parts {
  return { counts: [...policy.rules.map(({ id }) => id), null], decide: judgeOf(policy) };
}

function ofMeasure(measure: Mitigation['measure']): Parts {
  if (measure.kind === 'blackhole') return { counts: [null], decide: () => ({ action: 'deny', rule: null }) };
  const judged = judgeOf({ rules: measure.rules, unmatched: 'permit' });
  const exempt = measure.exempt.map(parsePrefix);
  const isExempt = ({ source }: Packet) => exempt.some((network) => isIn(network, addressNumber(source)));
  return {
    counts: [...measure.rules.map(({ id }) => id), ...(measure.synproxy === undefined ? [] : [null])],
    decide: (packet) => {
      const verdict = isExempt(packet) ? null : judged(packet);
      return verdict?.rule ? verdict : null;
    },
    ...(measure.synproxy !== undefined && { answer: handshakesOf(measure.synproxy, measure.exempt) }),
  };
}
