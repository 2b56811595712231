import type { Edge, EdgeCapability } from '../../drivers/edge/index.ts';
import type { Context, TxContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { type At, type FrontRow, findFronts, frontsOf, type Wanted } from '../edges/rows.ts';
import { inTurnOf } from '../enforce/turn.ts';
import { addressOf, prefixFrom, single } from '../prefix.ts';
import { shield } from '../settings.ts';
import { type Limits, limitsFor } from '../watch/limits.ts';
import { nothingSeen, type Seen } from '../watch/seen.ts';
import type { Watched } from '../watch/watched.ts';
import { decide } from './decide.ts';
import {
  type Announcement,
  type Defence,
  type Defences,
  isSettled,
  type Mitigation,
  newDefence,
  type Reason,
} from './defence.ts';
import { tellEdge, withFilter } from './defend.ts';
import { type Announced, withAnnounced, withAnnouncements } from './forRouters.ts';
import {
  findAnnounced,
  findAsked,
  findExempt,
  keepAnnouncements,
  keepFilterOf,
  keepMitigations,
  placeOf,
} from './record.ts';
import type { Lines } from './scene.ts';
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
  /** The networks that routers in front may be told of, and from how much on they are. */
  fronts: readonly FrontRow[];
  lines: Lines;
  /** By edge and address, how it stands with what routers are told. */
  announced: ReadonlyMap<string, Announced>;
  written: Map<number, Mitigation>;
  filters: Map<string, string>;
  /** By edge and address, the generation of what routers are to be told. */
  announcements: Map<string, number>;
}

export function newShelf(): Shelf {
  const never = { pps: Number.POSITIVE_INFINITY, mbps: Number.POSITIVE_INFINITY };
  return {
    ...{ exempt: new Map(), attacked: new Set(), asked: new Map(), fronts: [], announced: new Map() },
    lines: { flowspec: never, blackhole: never },
    ...{ written: new Map(), filters: new Map(), announcements: new Map() },
  };
}

/** Takes up what was written down by whoever followed these addresses before. */
export function shelve(shelf: Shelf, defences: Defences): void {
  for (const each of [...defences.values()].flatMap(({ standing }) => standing))
    shelf.written.set(each.id, each);
  for (const { address, announced } of defences.values())
    for (const { edgeId, generation } of announced)
      shelf.announcements.set(placeOf(edgeId, address), generation);
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
  const attackedNow = [...attacked];
  const pressing = new Set([...attackedNow, ...defences.keys()]);
  const about = new Set([...pressing, ...(all ? enabled : [])]);
  const exempt = await findExempt(ctx, [...about]);
  const kept = all ? [] : [...shelf.exempt].filter(([address]) => !about.has(address));
  const none = [...about].map((address): [string, string[]] => [address, []]);
  shelf.exempt = new Map([...kept, ...none, ...exempt]);
  shelf.attacked = pressing;
  shelf.asked = await findAsked(ctx, defences);
  if (attackedNow.length + defences.size === 0 && !all) return;
  shelf.fronts = await findFronts(ctx);
  const settings = await readSettings(ctx, shield);
  shelf.lines = {
    flowspec: { pps: settings.flowspec_from_pps, mbps: settings.flowspec_from_mbps },
    blackhole: { pps: settings.blackhole_from_pps, mbps: settings.blackhole_from_mbps },
  };
  const told = [...defences.values()].filter(({ announced }) => announced.length > 0);
  shelf.announced = await findAnnounced(
    ctx,
    told.map(({ address }) => address),
  );
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
  /** Addresses that another node looks after now, and whether what is to stand before them stands there. */
  elsewhere: ReadonlyMap<string, boolean>;
  /** Tells routers that this process speaks to, before anything is written down. */
  tell(at: At, wanted: Wanted): void;
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
    tellChanged(before.get(address), told, turn, shelf);
    const settled = isSettled(told);
    const leaving = told.leaving.filter(
      (each) => !(settled && isBefore(each.releasedAt, at) && shelf.written.get(each.id) === each),
    );
    const isWritten = told.isElsewhere || shelf.filters.get(address) === markOf(told);
    const left = leaving.length + told.refused.length + told.announced.length;
    if (settled && isWritten && told.filter === null && left === 0) forgetOf(shelf, told);
    else after.set(address, { ...told, leaving });
  }
  return after;
}

/** What is new for routers that this process speaks to. */
function tellChanged(
  before: Defence | undefined,
  { address, announced }: Defence,
  turn: Turn,
  shelf: Shelf,
): void {
  for (const { edgeId, generation, measure } of announced) {
    if (before?.announced.some((each) => each.edgeId === edgeId && each.generation === generation)) continue;
    const nodeId = shelf.fronts.find((each) => each.edge_id === edgeId)?.node_id;
    if (nodeId === turn.nodeId) turn.tell({ edgeId, nodeId }, { address, generation, measure });
  }
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
  const isMet = elsewhere.get(address);
  if (known !== undefined && isMet !== undefined) return leftBehind(known, isMet, at);
  const start =
    known ??
    (owner && newDefence({ address, organizationId: owner.organization_id, serviceId: owner.service_id }));
  if (start === undefined) return null;
  const limits = owner === undefined ? null : limitsFor(owner);
  const seen = turn.seen.get(address) ?? nothingSeen;
  // Which packets are transfers, samples show of all that arrives.
  const past = counted.get(address)?.past ?? null;
  const stateOf = (edgeId: number) => shelf.announced.get(placeOf(edgeId, address));
  const isWritten = ({ edgeId, generation }: Announcement) =>
    shelf.announcements.get(placeOf(edgeId, address)) === generation;
  const informed = withAnnounced(start, { stateOf, isWritten }, at);
  const decided = decide(informed, {
    ...{ at, seconds, owner, limits, attackId: attacks.get(address) ?? null },
    ...{ seen, past: past === null ? null : { ...past, seen: { ...past.seen, transfers: seen.transfers } } },
    ...{ can: edge.capabilities, asked: shelf.asked },
    ...{ fronts: frontsOf(shelf.fronts, address), lines: shelf.lines },
  });
  const spared = [...(shelf.exempt.get(address) ?? []), ...(owner?.whitelist ?? [])];
  const announcing = withAnnouncements(decided, single(address).family, spared, at);
  return withTerms(announcing, owner, limits, shelf, at, edge.capabilities);
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

/** Whoever looks after the address now goes on with what stands; until that filters there, it does so here. */
function leftBehind(known: Defence, isMet: boolean, at: Date): Defence {
  const nothing = { ...known, standing: [], leaving: [], refused: [], announced: [], isElsewhere: true };
  if (!isMet) return nothing;
  return withFilter(nothing, { limits: null, exempt: [], spared: [] }, at);
}

function forgetOf({ written, filters, announcements }: Shelf, { address, leaving }: Defence): void {
  for (const { id } of leaving) written.delete(id);
  for (const place of announcements.keys()) if (place.endsWith(` ${address}`)) announcements.delete(place);
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
export function unwritten(defences: Defences, shelf: Shelf): Defence[] {
  const { written, filters } = shelf;
  return [...defences.values()].filter(
    (each) =>
      !each.isElsewhere &&
      (filters.get(each.address) !== markOf(each) ||
        newOf(each, shelf).length > 0 ||
        [...each.standing, ...each.leaving].some((one) => written.get(one.id) !== one)),
  );
}

/** What routers are to be told, and is not written down yet. */
function newOf({ address, announced }: Defence, { announcements }: Shelf): Announcement[] {
  return announced.filter(
    ({ edgeId, generation }) => announcements.get(placeOf(edgeId, address)) !== generation,
  );
}

/** Writes it down, and what is told of it; after the attacks that it is about. */
export async function keepDefences(
  tx: TxContext,
  nodeId: number,
  some: readonly Defence[],
  shelf: Shelf,
): Promise<void> {
  const { written } = shelf;
  for (const each of some) {
    const changed = [...each.standing, ...each.leaving].filter((one) => written.get(one.id) !== one);
    await keepMitigations(tx, each, changed);
    await keepFilterOf(tx, nodeId, each);
    await keepAnnouncements(tx, each, newOf(each, shelf));
    for (const one of changed) await tellOfMitigation(tx, each, written.get(one.id) ?? null, one);
  }
}

/** Once it is written. */
export function noteWritten(some: readonly Defence[], { written, filters, announcements }: Shelf): void {
  for (const each of some) {
    for (const one of [...each.standing, ...each.leaving]) written.set(one.id, one);
    filters.set(each.address, markOf(each));
    for (const { edgeId, generation } of each.announced)
      announcements.set(placeOf(edgeId, each.address), generation);
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
