import { type Edge, EdgeError, type RuleCount } from '../../drivers/edge/index.ts';
import { type Context, statement, transaction } from '../../platform/index.ts';
import { noteCounts } from '../analytics/drops.ts';
import { nodeBefore } from '../edges/places.ts';
import { addressOf, prefixFrom, single } from '../prefix.ts';
import { type EdgeOf, inTurnOf } from './turn.ts';

/** Of the time this much goes by between two readings of all: with tens of thousands of rules one takes seconds. */
const restPerReading = 20;
/** So many rows are written at once. */
const batch = 5_000;

// Of an address that another node looks after, that one counts what comes through both; what is dropped comes to one of them alone.
const keepCounts = statement<
  { rule_id: number; writing: string },
  {
    nodeId: number;
    rules: number[];
    writings: string[];
    addresses: string[];
    packets: number[];
    bytes: number[];
    droppedPackets: number[];
    droppedBytes: number[];
  }
>(
  'shield.keepCounts',
  `insert into shield_counts as c (rule_id, writing, address, node_id, packets, bytes, dropped_packets, dropped_bytes)
   select r.id, w.writing, w.address, :nodeId, w.packets, w.bytes, w.dropped_packets, w.dropped_bytes
   from unnest(:rules::int[], :writings::text[], :addresses::inet[], :packets::bigint[], :bytes::bigint[],
     :droppedPackets::bigint[], :droppedBytes::bigint[])
     as w(rule_id, writing, address, packets, bytes, dropped_packets, dropped_bytes)
   join shield_rules r on r.id = w.rule_id
   where (r.action = 'deny' and r.limiter_id is null and r.rate is null)
     or not exists (select 1 from addresses a join placements p on p.service_id = a.service_id
       where a.address = w.address and a.state = 'taken' and ${nodeBefore('p')} <> :nodeId)
   order by r.id, w.writing
   on conflict (rule_id, writing) do update set packets = greatest(c.packets, excluded.packets),
     bytes = greatest(c.bytes, excluded.bytes), dropped_packets = greatest(c.dropped_packets, excluded.dropped_packets),
     dropped_bytes = greatest(c.dropped_bytes, excluded.dropped_bytes)
   returning rule_id, writing`,
);
// What an edge does not list any more has counted its last packet.
const foldForgotten = (name: string, of: string) =>
  statement<never, { nodeId: number; addresses: string[]; writings: string[] }>(
    name,
    `with gone as (
       delete from shield_counts c where node_id = :nodeId and ${of}
         and not exists (select 1 from unnest(:writings::text[]) as w(writing) where w.writing = c.writing)
       returning rule_id, packets, bytes, dropped_packets, dropped_bytes)
     insert into shield_counts as c (rule_id, writing, packets, bytes, dropped_packets, dropped_bytes)
     select rule_id, '', sum(packets)::bigint, sum(bytes)::bigint, sum(dropped_packets)::bigint, sum(dropped_bytes)::bigint
     from gone group by rule_id order by rule_id
     on conflict (rule_id, writing) do update set packets = c.packets + excluded.packets, bytes = c.bytes + excluded.bytes,
       dropped_packets = c.dropped_packets + excluded.dropped_packets,
       dropped_bytes = c.dropped_bytes + excluded.dropped_bytes`,
  );
const foldSome = foldForgotten('shield.foldForgotten', 'address = any(:addresses::inet[])');
const foldAll = foldForgotten('shield.foldAllForgotten', 'cardinality(:addresses::inet[]) = 0');

type Counted = RuleCount & { rule: number };

/**
 * Reads again and again what the rules of a node have counted, all of them at once: to list many chains one by one takes an edge
 * longer than to list everything. Only what has changed is written down.
 */
export function createRuleCounter(ctx: Context, nodeId: number, edgeOf: EdgeOf): () => Promise<void> {
  let known = new Map<string, number>();
  let writings = '';
  let restsUntilMs = 0;
  return () =>
    inTurnOf(turnOf(nodeId), async () => {
      const begunMs = performance.now();
      if (begunMs < restsUntilMs) return;
      const edge = countingEdge(nodeId, edgeOf);
      if (edge === null) return;
      const counts = (await edge.readRules()).filter(isOfPolicy);
      noteCounts(edge, counts);
      const now = new Map(counts.filter(isOfRule).map((count) => [keyOf(count), sumOf(count)]));
      const changed = counts.filter(isOfRule).filter((count) => known.get(keyOf(count)) !== sumOf(count));
      const kept = new Map([...known].filter(([key, sum]) => now.get(key) === sum));
      for (let at = 0; at < changed.length; at += batch) {
        // Not of rules that are only tried out: what they have counted is written down once they stay.
        const rows = await ctx.db.many(keepCounts, valuesOf(nodeId, changed.slice(at, at + batch)));
        for (const { rule_id: rule, writing } of rows) {
          const key = keyOf({ rule, writing });
          kept.set(key, now.get(key) ?? 0);
        }
      }
      const listed = [...new Set(counts.map(({ writing }) => writing))].toSorted();
      if (listed.join() !== writings) await ctx.db.run(foldAll, { nodeId, addresses: [], writings: listed });
      [known, writings] = [kept, listed.join()];
      await forgetOver(edge, counts);
      restsUntilMs = begunMs + restPerReading * (performance.now() - begunMs);
    });
}

/**
 * Adds up what each writing of these addresses' policies has reached, and has those forgotten that are over: once it is written down,
 * so that no crash counts a packet twice or not at all.
 */
export function countNow(
  ctx: Context,
  nodeId: number,
  edgeOf: EdgeOf,
  addresses: readonly string[],
): Promise<void> {
  return inTurnOf(turnOf(nodeId), async () => {
    const edge = countingEdge(nodeId, edgeOf);
    if (edge === null) return;
    const counts = (await edge.readRules(addresses.map((address) => single(address).text))).filter(
      isOfPolicy,
    );
    noteCounts(edge, counts);
    await transaction(ctx, 'shield.keepCounts', async (tx) => {
      await tx.db.many(keepCounts, valuesOf(nodeId, counts.filter(isOfRule)));
      const writings = [...new Set(counts.map(({ writing }) => writing))];
      await tx.db.run(foldSome, { nodeId, addresses: [...addresses], writings });
    });
    await forgetOver(edge, counts);
  });
}

/** Of its own, as a reading may take seconds and a rule has to be in force within one. */
function turnOf(nodeId: number): string {
  return `counts of ${nodeId}`;
}

/** Null where nothing counts. */
function countingEdge(nodeId: number, edgeOf: EdgeOf): Edge | null {
  try {
    const edge = edgeOf(nodeId);
    return edge.capabilities.includes('counters') ? edge : null;
  } catch (error) {
    if (error instanceof EdgeError && error.code === 'nothing_filters') return null;
    throw error;
  }
}

async function forgetOver(edge: Edge, counts: readonly RuleCount[]): Promise<void> {
  const over = new Set(counts.filter(({ isOver }) => isOver).map(({ writing }) => writing));
  if (over.size > 0) await edge.forget([...over]);
}

function valuesOf(nodeId: number, counts: readonly Counted[]) {
  return {
    nodeId,
    rules: counts.map(({ rule }) => rule),
    writings: counts.map(({ writing }) => writing),
    addresses: counts.map(({ destination }) => addressOf(prefixFrom(destination))),
    packets: counts.map(({ packets }) => packets),
    bytes: counts.map(({ bytes }) => bytes),
    droppedPackets: counts.map(({ droppedPackets }) => droppedPackets),
    droppedBytes: counts.map(({ droppedBytes }) => droppedBytes),
  };
}

function keyOf({ writing, rule }: Pick<Counted, 'writing' | 'rule'>): string {
  return `${writing} ${rule}`;
}

function sumOf({ packets, droppedPackets }: Counted): number {
  return packets + droppedPackets;
}

function isOfPolicy({ of }: RuleCount): boolean {
  return of === 'policy';
}

function isOfRule(count: RuleCount): count is Counted {
  return count.rule !== null;
}
