import {
  type BgpEdge,
  type BgpRouters,
  EdgeError,
  type Held,
  type Measure,
  type RoutersRead,
} from '../../drivers/edge/index.ts';
import { type Context, type Drivers, statement } from '../../platform/index.ts';
import { wordsOf } from '../enforce/apply.ts';
import { inTurnOf } from '../enforce/turn.ts';
import { addressOf, prefixFrom, single } from '../prefix.ts';
import { noteRouters } from './health.ts';
import { judgePeers, type Peer, type PeersSeen } from './peers.ts';
import { type At, boundsOf, findRouters, type RoutersRow, type Wanted } from './rows.ts';
import { announceRules } from './rulesAtRouters.ts';

interface Row extends Wanted {
  held: number | null;
  error: string | null;
}

const wantedAt = statement<Row, { edgeId: number }>(
  'shield.wantedAtRouters',
  `select host(address) as address, generation, measure, held, error from shield_announcements
   where edge_id = :edgeId order by address`,
);
interface Noted {
  addresses: string[];
  generations: number[];
  errors: (string | null)[];
  helds: (number | null)[];
}

const setStates = statement<never, Noted & { edgeId: number; now: Date }>(
  'shield.setAnnounced',
  `update shield_announcements n set error = s.error, held = s.held,
     held_since = case when s.held is null then null when n.held is null then :now::timestamptz else n.held_since end
   from unnest(:addresses::inet[], :generations::bigint[], :helds::bigint[], :errors::text[])
     as s (address, generation, held, error)
   where n.edge_id = :edgeId and n.address = s.address and n.generation = s.generation
     and (n.held is distinct from s.held or n.error is distinct from s.error)`,
);
const drop = statement<never, { edgeId: number; addresses: string[]; generations: number[] }>(
  'shield.dropAnnounced',
  `delete from shield_announcements n using unnest(:addresses::inet[], :generations::bigint[]) as s (address, generation)
   where n.edge_id = :edgeId and n.address = s.address and n.generation = s.generation`,
);
const overtake = statement<never, { edgeId: number; address: string; generation: number; held: number }>(
  'shield.overtakeAnnouncement',
  `update shield_announcements set generation = :held + 1
   where edge_id = :edgeId and address = :address::inet and generation = :generation`,
);

/** What is known of routers in this process, also while the database is away. */
interface Memory {
  row: RoutersRow | null;
  rows: Map<string, Row>;
  /** What was told and is not written down yet: until when that is waited for. */
  told: Map<string, number>;
  /** Within which bounds they were told last. */
  within: string | null;
  peers: PeersSeen;
}

const memories = new WeakMap<BgpRouters, Memory>();
const tellMs = 120_000;

function memoryOf(routers: BgpRouters): Memory {
  const known = memories.get(routers) ?? {
    ...{ row: null, rows: new Map(), told: new Map(), within: null, peers: new Map() },
  };
  memories.set(routers, known);
  return known;
}

/** Has routers told before it is written down that they are to be: attacks do not wait for the database. Only in the process that speaks to them. */
export async function tellRouters(at: At, wanted: Wanted, routersOf: Drivers['routers']): Promise<void> {
  const memory = memoryOf(routersOf(at.nodeId));
  const known = memory.rows.get(wanted.address);
  if (known !== undefined && known.generation >= wanted.generation) return;
  memory.rows.set(wanted.address, { ...wanted, held: known?.held ?? null, error: null });
  memory.told.set(wanted.address, performance.now() + tellMs);
  await inTurnOf(turnOf(at), () => tell(routersOf(at.nodeId), memory));
}

/**
 * Compares what the routers of an edge were told with what they are to be told, and tells them the difference: also all of it, when
 * their gobgpd died. Says of each why it is not so, and how it stands with the routers. `anew`: of rules as well what is wanted no more.
 */
export async function announceNow(
  ctx: Context,
  at: At,
  routersOf: Drivers['routers'],
  { anew = false } = {},
): Promise<void> {
  const routers = routersOf(at.nodeId);
  const memory = memoryOf(routers);
  const row = await findRouters(ctx, at.edgeId);
  if (row === null) return;
  remember(memory, row, await ctx.db.many(wantedAt, { edgeId: at.edgeId }));
  const edge = routers.within(boundsOf(row));
  try {
    const peers = judgePeers(memory.peers, await edge.peers(), ctx.clock.now().getTime());
    const { states, ...there } = await inTurnOf(turnOf(at), () => tell(routers, memory));
    await recordAll(ctx, at.edgeId, memory, states, peers);
    const taken = new Set(memory.rows.keys());
    const asked = { row, routers, edge, held: there.held, peers, taken, anew };
    // In a turn of their own: what is told against attacks does not wait until rules are read.
    const isTold = await inTurnOf(`rules at ${turnOf(at)}`, () => announceRules(ctx, asked));
    const routes = isTold ? (await edge.read()).routes : there.routes;
    await noteRouters(ctx, row, { error: null, peers, routes });
  } catch (error) {
    if (!(error instanceof EdgeError)) throw error;
    const away = { held: null, error: wordsOf(error) };
    const all = new Map([...memory.rows.keys()].map((address) => [address, away]));
    await recordAll(ctx, at.edgeId, memory, all, null);
    await noteRouters(ctx, row, { error: wordsOf(error), peers: null, routes: null });
  }
}

function turnOf({ edgeId }: At): string {
  return `routers ${edgeId}`;
}

function remember(memory: Memory, row: RoutersRow, rows: readonly Row[]): void {
  const written = new Map(rows.map((each) => [each.address, each]));
  const now = performance.now();
  for (const [address, each] of memory.rows) {
    const there = written.get(address);
    const until = memory.told.get(address) ?? 0;
    if (now < until && (there === undefined || there.generation < each.generation))
      written.set(address, each);
    else memory.told.delete(address);
  }
  Object.assign(memory, { row, rows: written });
}

/** What there is of an announcement after it was told. */
interface State {
  held: number | null;
  error: string | null;
  /** A later one than all that is known: the database came back from a backup. */
  isNewer?: boolean;
}

/** With what there is afterwards. */
async function tell(
  routers: BgpRouters,
  memory: Memory,
): Promise<RoutersRead & { states: Map<string, State> }> {
  const states = new Map<string, State>();
  const { row, rows } = memory;
  if (row === null) return { states, held: [], routes: 0 };
  const bounds = boundsOf(row);
  const edge = routers.within(bounds);
  const within = JSON.stringify(bounds);
  if (within !== memory.within) await edge.keepWithin();
  memory.within = within;
  const before = await edge.read();
  const there = new Map(
    before.held.filter(({ as }) => as === 'mitigation').map((each) => [placeOf(each), each]),
  );
  // What is withdrawn makes room for the rest.
  const over = [...there].filter(([address]) => (rows.get(address)?.measure ?? null) === null);
  for (const [, each] of over) await edge.release([each]);
  let isTold = over.length > 0;
  for (const wanted of rows.values()) {
    const { address, generation, measure } = wanted;
    const known = there.get(address)?.generation ?? null;
    if (measure === null) states.set(address, { held: null, error: null });
    else if (known !== null && known > generation)
      states.set(address, { held: known, error: null, isNewer: true });
    else {
      states.set(address, await hold(edge, before.held, wanted, measure, known));
      isTold ||= known !== generation;
    }
  }
  return { states, ...(isTold ? await edge.read() : before) };
}

async function hold(
  edge: BgpEdge,
  held: readonly Held[],
  { address, generation }: Row,
  measure: Measure,
  known: number | null,
): Promise<State> {
  if (known === generation) return { held: generation, error: null };
  const destination = single(address).text;
  const mitigate = () => edge.mitigate({ destination, generation, measure });
  try {
    const policy = held.find((each) => each.as === 'policy' && each.destination === destination);
    // Where both cannot be said, the attack comes first: what rules deny is denied behind the routers as well.
    if (policy !== undefined) await mitigate().catch(() => edge.remove([policy]).then(mitigate));
    else await mitigate();
    return { held: generation, error: null };
  } catch (error) {
    return { held: known, error: wordsOf(error) };
  }
}

function placeOf({ destination }: Held): string {
  return addressOf(prefixFrom(destination));
}

/** `peers` null: nobody knows. */
async function recordAll(
  ctx: Context,
  edgeId: number,
  { rows }: Memory,
  states: ReadonlyMap<string, State>,
  peers: readonly Peer[] | null,
): Promise<void> {
  const over: { address: string; generation: number }[] = [];
  const noted: { address: string; generation: number; held: number | null; error: string | null }[] = [];
  for (const [address, { held, error, isNewer = false }] of states) {
    const row = rows.get(address);
    if (row === undefined) continue;
    const { generation, measure } = row;
    if (measure === null && error === null) over.push({ address, generation });
    else if (isNewer) await ctx.db.run(overtake, { edgeId, address, generation, held: held ?? 0 });
    else {
      const why = error ?? (measure === null || peers === null ? null : whyNotTaken(peers, address, measure));
      if (held !== row.held || why !== row.error) noted.push({ address, generation, held, error: why });
    }
  }
  if (over.length > 0) await ctx.db.run(drop, { edgeId, ...placesOf(over) });
  if (noted.length === 0) return;
  await ctx.db.run(setStates, {
    ...{ edgeId, now: ctx.clock.now(), ...placesOf(noted) },
    helds: noted.map(({ held }) => held),
    errors: noted.map(({ error }) => error),
  });
}

function placesOf(some: readonly { address: string; generation: number }[]) {
  return {
    addresses: some.map(({ address }) => address),
    generations: some.map(({ generation }) => generation),
  };
}

/** Why routers do not do what their gobgpd has been told; null: all of them do. */
function whyNotTaken(peers: readonly Peer[], address: string, measure: Measure): string | null {
  if (peers.length === 0) return 'peer_down: gobgpd has no peers';
  const { family } = single(address);
  const kind = measure.kind === 'blackhole' ? 'blackhole' : 'flow';
  const words = peers.flatMap(({ address: name, state, refusals, takes }) => {
    if (state !== 'established')
      return [`${name} is ${state}${refusals > 0 ? `, and has broken off ${refusals} times` : ''}`];
    const isTaken = takes.some((each) => each.kind === kind && each.family === family);
    return isTaken ? [] : [`${name} takes no routes of this kind (${kind}, IPv${family})`];
  });
  return words.length === 0 ? null : `peer_down: ${words.join('; ')}`;
}
