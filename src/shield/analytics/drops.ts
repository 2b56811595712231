import type { Edge, RuleCount } from '../../drivers/edge/index.ts';
import { type Context, statement } from '../../platform/index.ts';
import { type Amount, nothing, sum } from '../watch/seen.ts';

/** Of one destination, what a rule of its policy or of a measure has decided about since it was asked last. */
export interface Decided {
  destination: string;
  of: RuleCount['of'];
  rule: number | null;
  all: Amount;
  aboveLimit: Amount;
}

interface Ledger {
  last: Map<string, RuleCount>;
  decided: Map<string, Decided>;
  /** What was there already when this process came: what it had counted until then is nobody's news. Null: not known yet. */
  inherited: Set<string> | null;
}

/** Of edges of this process. */
const ledgers = new WeakMap<Edge, Ledger>();

function ledgerOf(edge: Edge): Ledger {
  const known = ledgers.get(edge);
  if (known !== undefined) return known;
  const ledger: Ledger = { last: new Map(), decided: new Map(), inherited: null };
  ledgers.set(edge, ledger);
  return ledger;
}

export function inheritCounts(edge: Edge, destinations: readonly string[]): void {
  ledgerOf(edge).inherited ??= new Set(
    destinations.flatMap((each) => [`${each} policy`, `${each} mitigation`]),
  );
}

/** Adds what an edge has counted since it was read before. */
export function noteCounts(edge: Edge, counts: readonly RuleCount[]): void {
  const { last, decided, inherited } = ledgerOf(edge);
  const first = new Set<string>();
  for (const count of counts) {
    const { destination, of, rule } = count;
    const key = `${count.writing} ${rule}`;
    const isOld = inherited?.has(`${destination} ${of}`) ?? true;
    const before = last.get(key) ?? (isOld ? count : null);
    if (isOld) first.add(`${destination} ${of}`);
    last.set(key, count);
    const all = difference(count.packets, count.bytes, before?.packets, before?.bytes);
    if (all.packets === 0) continue;
    const { droppedPackets, droppedBytes } = count;
    const aboveLimit = difference(droppedPackets, droppedBytes, before?.droppedPackets, before?.droppedBytes);
    const place = `${destination} ${of} ${rule}`;
    const sums = decided.get(place) ?? { destination, of, rule, all: nothing, aboveLimit: nothing };
    decided.set(place, { ...sums, all: sum(sums.all, all), aboveLimit: sum(sums.aboveLimit, aboveLimit) });
  }
  for (const each of first) inherited?.delete(each);
  // A writing that is over is listed until it is forgotten, and never again.
  const listed = new Set(counts.map(({ writing, rule }) => `${writing} ${rule}`));
  const asked = new Set(counts.map(({ destination, of }) => `${destination} ${of}`));
  for (const [key, { destination, of }] of last)
    if (asked.has(`${destination} ${of}`) && !listed.has(key)) last.delete(key);
}

function difference(packets: number, bytes: number, lastPackets = 0, lastBytes = 0): Amount {
  return { packets: Math.max(0, packets - lastPackets), bytes: Math.max(0, bytes - lastBytes) };
}

/** All of it, which is then forgotten. */
export function takeDecided(edge: Edge): Decided[] {
  const ledger = ledgerOf(edge);
  const taken = ledger.decided;
  ledger.decided = new Map();
  return [...taken.values()];
}

const denying = statement<{ id: number }, { ids: number[] }>(
  'shield.denyingRules',
  `select id from shield_rules where id = any(:ids::int[]) and action = 'deny'`,
);
const denyingUnmatched = statement<{ destination: string }, { destinations: string[] }>(
  'shield.denyingUnmatched',
  `select address::cidr::text as destination from shield_addresses
   where address::cidr = any(:destinations::cidr[]) and unmatched = 'deny'`,
);

/** From here on up a rule of a measure lets through what is below its rate; those below drop all that they match. */
export const limitsFrom = 1_000;

/** By destination, what of it was dropped. Of a rule that is gone since, nobody knows. */
export async function droppedOf(ctx: Context, decided: readonly Decided[]): Promise<Map<string, Amount>> {
  const ids = decided.flatMap(({ of, rule }) => (of === 'policy' && rule !== null ? [rule] : []));
  const open = decided.flatMap(({ of, rule, destination }) =>
    of === 'policy' && rule === null ? [destination] : [],
  );
  const denies = new Set(ids.length === 0 ? [] : (await ctx.db.many(denying, { ids })).map(({ id }) => id));
  const closed = new Set(
    open.length === 0
      ? []
      : (await ctx.db.many(denyingUnmatched, { destinations: open })).map(({ destination }) => destination),
  );
  const isDenied = ({ of, rule, destination }: Decided) => {
    if (of === 'mitigation') return rule !== null && rule < limitsFrom;
    return rule === null ? closed.has(destination) : denies.has(rule);
  };
  const found = new Map<string, Amount>();
  for (const each of decided) {
    const amount = isDenied(each) ? each.all : each.aboveLimit;
    if (amount.packets > 0) found.set(each.destination, sum(found.get(each.destination) ?? nothing, amount));
  }
  return found;
}
