import type { Edge, EdgeCapability } from '../../drivers/edge/index.ts';
import type { Context, TxContext } from '../../platform/index.ts';
import { inTurnOf } from '../enforce/turn.ts';
import { addressOf, prefixFrom } from '../prefix.ts';
import { type Limits, limitsFor } from '../watch/limits.ts';
import { nothingSeen, type Seen } from '../watch/seen.ts';
import type { Watched } from '../watch/watched.ts';
import { decide } from './decide.ts';
import {
  type Defence,
  type Defences,
  isSettled,
  type Mitigation,
  newDefence,
  type Reason,
} from './defence.ts';
import { tellEdge, withFilter } from './defend.ts';
import { findAsked, findExempt, keepFilterOf, keepMitigations } from './record.ts';
import { type Counted, withoutSpared } from './tally.ts';
import { tellOfMitigation } from './tell.ts';

/** What the database says of what stands, as it was read last, and what it has been told. */
export interface Shelf {
  /** By address, the sources that rules of its owner permit by name. */
  exempt: ReadonlyMap<string, readonly string[]>;
  /** The addresses that were attacked when that was read. */
  attacked: ReadonlySet<string>;
  /** What somebody wants released. */
  asked: ReadonlyMap<number, Reason>;
  written: Map<number, Mitigation>;
  filters: Map<string, string>;
}

export function newShelf(): Shelf {
  return { exempt: new Map(), attacked: new Set(), asked: new Map(), written: new Map(), filters: new Map() };
}

/** Takes up what was written down by whoever followed these addresses before. */
export function shelve(shelf: Shelf, defences: Defences): void {
  for (const each of [...defences.values()].flatMap(({ standing }) => standing))
    shelf.written.set(each.id, each);
}

/** Reads anew what decisions go by: of addresses that are attacked, and now and then of all where something would be done. */
export async function readShelf(
  ctx: Context,
  shelf: Shelf,
  watched: ReadonlyMap<string, Watched>,
  { defences, attacked, all }: { defences: Defences; attacked: Iterable<string>; all: boolean },
): Promise<void> {
  const enabled = [...watched.values()]
    .filter(({ mode }) => mode === 'enabled')
    .map(({ address }) => address);
  const pressing = new Set([...attacked, ...defences.keys()]);
  const about = new Set([...pressing, ...(all ? enabled : [])]);
  const exempt = await findExempt(ctx, [...about]);
  const kept = all ? [] : [...shelf.exempt].filter(([address]) => !about.has(address));
  const none = [...about].map((address): [string, string[]] => [address, []]);
  shelf.exempt = new Map([...kept, ...none, ...exempt]);
  shelf.attacked = pressing;
  shelf.asked = await findAsked(ctx, defences);
}

/** One reading of all addresses of a node. */
export interface Turn {
  edge: Edge;
  nodeId: number;
  at: Date;
  /** Since the reading before. */
  seconds: number;
  watched: ReadonlyMap<string, Watched>;
  seen: ReadonlyMap<string, Seen>;
  /** By address, the attack that goes on there. */
  attacks: ReadonlyMap<string, number>;
  /** What the filters have counted since the reading before. */
  counted: ReadonlyMap<string, Counted>;
  /** Addresses whose machine is at another node now. */
  elsewhere: ReadonlySet<string>;
}

/** What stands before each address after this reading, and has the edge hold that. */
export async function defend(before: Defences, turn: Turn, shelf: Shelf): Promise<Map<string, Defence>> {
  const { edge, nodeId, at, watched, attacks } = turn;
  const after = new Map<string, Defence>();
  const spared = [...watched.values()].filter(isSpared).map(({ address }) => address);
  for (const address of new Set([...before.keys(), ...attacks.keys(), ...spared])) {
    const wanted = wantedAt(address, before, turn, shelf);
    if (wanted === null || (!before.has(address) && wanted.filter === null)) continue;
    const told = await inTurnOf(nodeId, () => tellEdge(edge, wanted, at));
    const settled = isSettled(told);
    const leaving = told.leaving.filter(
      (each) => !(settled && isBefore(each.releasedAt, at) && shelf.written.get(each.id) === each),
    );
    const isWritten = told.isElsewhere || shelf.filters.get(address) === markOf(told);
    if (settled && isWritten && told.filter === null && leaving.length + told.refused.length === 0)
      forgetOf(shelf, told);
    else after.set(address, { ...told, leaving });
  }
  return after;
}

function isBefore(moment: Date | null, at: Date): boolean {
  return moment !== null && moment < at;
}

function isSpared({ level, whitelist }: Watched): boolean {
  return level !== 'off' && whitelist.length > 0;
}

/** Null where nothing is to be done, now or before. */
function wantedAt(address: string, before: Defences, turn: Turn, shelf: Shelf): Defence | null {
  const { at, seconds, watched, attacks, counted, elsewhere, edge } = turn;
  const owner = watched.get(address);
  const known = counted.get(address)?.defence ?? before.get(address);
  if (known !== undefined && elsewhere.has(address)) return leftBehind(known, at);
  const start =
    known ??
    (owner && newDefence({ address, organizationId: owner.organization_id, serviceId: owner.service_id }));
  if (start === undefined) return null;
  const limits = owner === undefined ? null : limitsFor(owner);
  const seen = turn.seen.get(address) ?? nothingSeen;
  // Which packets are transfers, samples show of all that arrives.
  const past = counted.get(address)?.past ?? null;
  const decided = decide(start, {
    ...{ at, seconds, owner, limits, attackId: attacks.get(address) ?? null },
    ...{ seen, past: past === null ? null : { ...past, seen: { ...past.seen, transfers: seen.transfers } } },

    ...{ can: edge.capabilities, asked: shelf.asked },
  });
  return withTerms(decided, owner, limits, shelf, at, edge.capabilities);
}

function withTerms(
  decided: Defence,
  owner: Watched | undefined,
  limits: Limits | null,
  { exempt }: Shelf,
  at: Date,
  can: readonly EdgeCapability[],
): Defence {
  // Where nothing is an attack any more, what stands for good stays as it is.
  if (limits === null && decided.standing.length > 0) return decided;
  const spared = owner !== undefined && isSpared(owner) && can.includes('counters') ? owner.whitelist : [];
  return withFilter(decided, { limits, exempt: exempt.get(decided.address) ?? [], spared }, at);
}

/** The node that has the machine now goes on with what stands. */
function leftBehind(known: Defence, at: Date): Defence {
  const nothing = { ...known, standing: [], leaving: [], refused: [], isElsewhere: true };
  return withFilter(nothing, { limits: null, exempt: [], spared: [] }, at);
}

function forgetOf({ written, filters }: Shelf, { address, leaving }: Defence): void {
  for (const { id } of leaving) written.delete(id);
  filters.delete(address);
}

/** What came to addresses, without what came from those whose traffic is no attack. */
export function seenWithout(
  seen: ReadonlyMap<string, Seen>,
  counted: ReadonlyMap<string, Counted>,
): ReadonlyMap<string, Seen> {
  const spared = [...counted].filter(([, { spares }]) => spares);
  if (spared.length === 0) return seen;
  const without = new Map(seen);
  for (const [address, { spared: theirs }] of spared) {
    const all = seen.get(address);
    if (all !== undefined) without.set(address, withoutSpared(all, theirs));
  }
  return without;
}

/** What of all this is not written down yet. */
export function unwritten(defences: Defences, { written, filters }: Shelf): Defence[] {
  return [...defences.values()].filter(
    (each) =>
      !each.isElsewhere &&
      (filters.get(each.address) !== markOf(each) ||
        [...each.standing, ...each.leaving].some((one) => written.get(one.id) !== one)),
  );
}

/** Writes it down, and what is told of it; after the attacks that it is about. */
export async function keepDefences(
  tx: TxContext,
  nodeId: number,
  some: readonly Defence[],
  { written }: Shelf,
): Promise<void> {
  for (const each of some) {
    const changed = [...each.standing, ...each.leaving].filter((one) => written.get(one.id) !== one);
    await keepMitigations(tx, each, changed);
    await keepFilterOf(tx, nodeId, each);
    for (const one of changed) await tellOfMitigation(tx, each, written.get(one.id) ?? null, one);
  }
}

/** Once it is written. */
export function noteWritten(some: readonly Defence[], { written, filters }: Shelf): void {
  for (const each of some) {
    for (const one of [...each.standing, ...each.leaving]) written.set(one.id, one);
    filters.set(each.address, markOf(each));
  }
}

function markOf({ generation, held, tally }: Defence): string {
  return JSON.stringify([generation, held, tally]);
}

/** Has an edge forget counters once what they counted is written down. */
export async function forgetSpent(edge: Edge, defences: Defences, { filters }: Shelf): Promise<void> {
  const spent = [...defences.values()]
    .filter((each) => each.isElsewhere || filters.get(each.address) === markOf(each))
    .flatMap(({ spent: writings }) => writings);
  if (spent.length > 0) await edge.forget(spent);
}

/**
 * Holds what stands against what the edge has: what it lost is to be told again, what is nobody's is let go of, and what is newer
 * there than all that is known, after a database came back from a backup, is overtaken.
 */
export async function compareFilters(
  edge: Edge,
  nodeId: number,
  defences: Defences,
): Promise<Map<string, Defence>> {
  const held = await inTurnOf(nodeId, async () =>
    (await edge.list()).filter(({ as }) => as === 'mitigation'),
  );
  const byAddress = new Map(held.map((each) => [addressOf(prefixFrom(each.destination)), each.generation]));
  const unknown = held.filter(({ destination }) => !defences.has(addressOf(prefixFrom(destination))));
  if (unknown.length > 0)
    await inTurnOf(nodeId, () =>
      edge.release(unknown.map(({ destination, generation }) => ({ destination, generation }))),
    );
  return new Map(
    [...defences].map(([address, each]) => {
      const there = byAddress.get(address) ?? null;
      if (there === each.held) return [address, each];
      return [
        address,
        { ...each, held: there, generation: Math.max(each.generation, (there ?? 0) + 1), failedAt: null },
      ];
    }),
  );
}
