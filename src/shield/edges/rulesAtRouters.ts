import {
  type BgpEdge,
  type BgpRouters,
  fittingOf,
  type Held,
  type LeftOut,
  type Policy,
  parsePrefix,
} from '../../drivers/edge/index.ts';
import { type Context, statement } from '../../platform/index.ts';
import type { AddressRow } from '../enforce/addressRows.ts';
import { readPolicies, wordsOf } from '../enforce/apply.ts';
import { addressOf, prefixFrom } from '../prefix.ts';
import type { Peer } from './peers.ts';
import { createRestraint, type Restrain } from './restraint.ts';
import type { RoutersRow } from './rows.ts';
import { type Noted, rulesReader } from './wantedRules.ts';

export interface RulesAsked {
  row: RoutersRow;
  routers: BgpRouters;
  edge: BgpEdge;
  /** What routers hold. */
  held: readonly Held[];
  peers: readonly Peer[];
  /** Addresses whose attacks routers are told of: rules of theirs wait. */
  taken: ReadonlySet<string>;
  /** Whether something may be wanted no more. */
  anew: boolean;
}

const keep = statement<
  never,
  {
    edgeId: number;
    addresses: string[];
    organizations: number[];
    generations: number[];
    routes: number[];
    left: string[];
    errors: (string | null)[];
    now: Date;
  }
>(
  'shield.keepAnnouncedRules',
  `insert into shield_announced_rules (edge_id, address, organization_id, generation, routes, left_out, error, updated_at)
   select :edgeId, w.address, w.organization_id, w.generation, w.routes, w.left_out::jsonb, w.error, :now::timestamptz
   from unnest(:addresses::inet[], :organizations::bigint[], :generations::bigint[], :routes::int[], :left::text[], :errors::text[])
     as w(address, organization_id, generation, routes, left_out, error)
   order by w.address
   on conflict (edge_id, address) do update set organization_id = excluded.organization_id,
     generation = excluded.generation, routes = excluded.routes, left_out = excluded.left_out, error = excluded.error,
     updated_at = excluded.updated_at
   where (shield_announced_rules.organization_id, shield_announced_rules.generation, shield_announced_rules.routes,
     shield_announced_rules.left_out, shield_announced_rules.error) is distinct from
     (excluded.organization_id, excluded.generation, excluded.routes, excluded.left_out, excluded.error)`,
);
const drop = statement<never, { edgeId: number; addresses: string[] }>(
  'shield.dropAnnouncedRules',
  'delete from shield_announced_rules where edge_id = :edgeId and address = any(:addresses::inet[])',
);

/** Why rules stand at no routers, and when they are tried again. */
interface Waiting {
  generation: number;
  /** For room: so many routes. */
  routes: number | null;
  /** After failures: how many in a row, and when the next one may be. */
  failures: number;
  from: number;
  until: number;
}

interface Memory {
  read: ReturnType<typeof rulesReader>;
  waiting: Map<string, Waiting>;
  restrain: Restrain;
}

const memories = new WeakMap<BgpRouters, Memory>();
const firstPauseMs = 2_000;
const longestPauseMs = 60_000;
/** Told in one message, and read from the database together. */
const batch = 100;
const noRoom = 'no room: other rules take all that is for rules';
const restrained = 'no room: a router has broken off, so fewer rules are told for a while';

/**
 * Has routers told of those rules of customers that fit, as far as there is room for them; what filters before the machines has all of them in
 * any case. Rules for which there is no room are told as soon as there is; those that failed are tried again, ever more seldom. Where staff leaves
 * no room for rules, none are told. Answers whether something was told.
 */
export async function announceRules(ctx: Context, asked: RulesAsked): Promise<boolean> {
  const { row, routers, edge, taken, anew } = asked;
  const memory = memories.get(routers) ?? {
    ...{ read: rulesReader(), waiting: new Map(), restrain: createRestraint() },
  };
  memories.set(routers, memory);
  const policies = asked.held.filter(({ as }) => as === 'policy');
  const there = new Map(policies.map((each) => [addressOf(prefixFrom(each.destination)), each]));
  const { rows, noted } = await memory.read(ctx, row, anew);
  const wanted = [...rows.values()].filter(({ address }) => row.rule_routes > 0 && !taken.has(address));
  const now = ctx.clock.now().getTime();
  const told = [...noted.values()].reduce((sum, { routes }) => sum + routes, 0);
  const most = memory.restrain(asked.peers, told, now);
  const atMost = Math.min(row.rule_routes, most ?? row.rule_routes);
  const why = atMost < row.rule_routes ? restrained : noRoom;
  const turn = { ctx, row, edge, there, noted, waiting: memory.waiting, noRoom: why };
  const isTaken = await takeAway(turn, new Set(wanted.map(({ address }) => address)));
  const standing = wanted.filter((each) => stands(turn, each));
  const routesOf = ({ address }: AddressRow) => noted.get(address)?.routes ?? 0;
  let room = standing.reduce((left, each) => left - routesOf(each), atMost);
  // Of less room than there was the last ones have none.
  const over: AddressRow[] = [];
  for (let last = standing.pop(); room < 0 && last !== undefined; last = standing.pop()) {
    if (routesOf(last) > 0) over.push(last);
    room += routesOf(last);
  }
  await edge.remove(over.flatMap(({ address }) => there.get(address) ?? []));
  for (const { address } of over) there.delete(address);
  const due = wanted.filter(
    (each) => !stands(turn, each) && isDue(memory.waiting.get(each.address), each, room, now),
  );
  for (let at = 0; at < due.length; at += batch)
    room = await announceSome(turn, due.slice(at, at + batch), room);
  return isTaken || over.length + due.length > 0;
}

interface Turn {
  ctx: Context;
  row: RoutersRow;
  edge: BgpEdge;
  there: Map<string, Held>;
  noted: Map<string, Noted>;
  waiting: Map<string, Waiting>;
  /** Why there is none. */
  noRoom: string;
}

/** What is wanted there no more. */
async function takeAway(
  { ctx, row, edge, there, noted, waiting }: Turn,
  wanted: ReadonlySet<string>,
): Promise<boolean> {
  const gone = [...there].filter(([address]) => !wanted.has(address));
  await edge.remove(gone.map(([, each]) => each));
  const addresses = [...noted.keys()].filter((address) => !wanted.has(address));
  if (addresses.length > 0) await ctx.db.run(drop, { edgeId: row.id, addresses });
  for (const address of addresses) for (const map of [noted, waiting]) map.delete(address);
  return gone.length > 0;
}

function stands({ noted, there }: Turn, { address, generation }: AddressRow): boolean {
  const before = noted.get(address);
  if (before === undefined || before.generation !== generation || before.error !== null) return false;
  return before.routes === 0 || there.get(address)?.generation === generation;
}

function isDue(waiting: Waiting | undefined, { generation }: AddressRow, room: number, now: number): boolean {
  if (waiting === undefined || waiting.generation !== generation) return true;
  if (waiting.routes !== null) return waiting.routes <= room;
  // A clock that went back makes nobody wait.
  return now >= waiting.until || now < waiting.from;
}

interface Fitting {
  row: AddressRow;
  policy: Policy;
  left: LeftOut[];
  routes: number;
}

interface Told extends Fitting {
  /** Why routers have none of it. */
  error: string | null;
}

/** How much room is left. */
async function announceSome(turn: Turn, rows: readonly AddressRow[], room: number): Promise<number> {
  const { policies } = await readPolicies(turn.ctx, rows);
  const byAddress = new Map(policies.map((policy) => [addressOf(prefixFrom(policy.destination)), policy]));
  let left = room;
  const fitting: Fitting[] = [];
  const tooMany: Fitting[] = [];
  for (const row of rows) {
    const policy = byAddress.get(row.address);
    if (policy === undefined) continue;
    const found = { row, ...fittingOf(policy, parsePrefix(policy.destination)) };
    const fits = found.routes <= left;
    (fits ? fitting : tooMany).push(found);
    if (fits) left -= found.routes;
  }
  // Before others take the room that something older of theirs has.
  await takeBack(turn.edge, tooMany);
  const isTold = (await replace(turn.edge, fitting)) === null;
  const told: Told[] = tooMany.map((each) => ({ ...each, error: turn.noRoom }));
  for (const each of fitting) {
    const error = isTold ? null : await replace(turn.edge, [each]);
    if (error !== null) {
      left += each.routes;
      await takeBack(turn.edge, [each]);
    }
    told.push({ ...each, error });
  }
  await note(turn, told);
  return left;
}

async function replace(edge: BgpEdge, some: readonly Fitting[]): Promise<string | null> {
  try {
    if (some.length > 0) await edge.replace(some.map(({ policy }) => policy));
    return null;
  } catch (error) {
    return wordsOf(error);
  }
}

/** Where it went wrong, nothing older stays with the routers either. */
async function takeBack(edge: BgpEdge, some: readonly Fitting[]): Promise<void> {
  await edge.remove(
    some.map(({ row: { generation }, policy: { destination } }) => ({ destination, generation })),
  );
}

/** Writes down how it went. */
async function note(
  { ctx, row: { id: edgeId }, noted, waiting, noRoom: why }: Turn,
  told: readonly Told[],
): Promise<void> {
  const now = told.map(({ row: { address, generation }, routes, error }) => ({
    ...{ address, generation, error },
    routes: error === null ? routes : 0,
  }));
  await ctx.db.run(keep, {
    ...{ edgeId, now: ctx.clock.now() },
    addresses: now.map(({ address }) => address),
    organizations: told.map(({ row }) => row.organization_id),
    generations: now.map(({ generation }) => generation),
    routes: now.map(({ routes }) => routes),
    left: told.map(({ left }) => JSON.stringify(left)),
    errors: now.map(({ error }) => error),
  });
  for (const each of now) noted.set(each.address, each);
  for (const { row, routes, error } of told) {
    const { address, generation } = row;
    if (error === null) waiting.delete(address);
    else
      waiting.set(address, waitingFor(waiting.get(address), generation, error === why ? routes : null, ctx));
  }
}

function waitingFor(
  before: Waiting | undefined,
  generation: number,
  routes: number | null,
  { clock }: Context,
): Waiting {
  const from = clock.now().getTime();
  const failures = routes === null && before?.generation === generation ? before.failures + 1 : 0;
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failures);
  return { generation, routes, failures, from, until: from + pauseMs };
}
