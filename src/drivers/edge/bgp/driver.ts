import { isIP } from 'node:net';
import { serially } from '../../serially.ts';
import { checkOverlaps, notNewer, notOlder, type Wanted, type Writing, wanted } from '../book.ts';
import { checkMitigation, checkPolicy } from '../check.ts';
import {
  type Edge,
  EdgeError,
  type Held,
  type Mitigation,
  type Policy,
  type Prefix,
  type Version,
} from '../contract.ts';
import { addressNumber, holds, type Network, overlaps, parsePrefix, prefixText } from '../prefix.ts';
import {
  actionOf,
  addressBytes,
  blackholeAttributes,
  communityNumber,
  flowAttributes,
  isOurs,
  networkBytes,
  noteAttributes,
  unspecified,
} from './attributes.ts';
import { type Change, changesOf, keyOf, type Table, tableOf } from './changes.ts';
import { notSaid } from './flow.ts';
import { families, type Path } from './messages.ts';
import { decodeNote, encodeNote, type Note } from './notes.ts';
import { type BgpPeer, peerOf } from './peers.ts';
import { type Speaker, speaker } from './speaker.ts';
import { checkTogether, toldOfFilter, toldOfPolicy } from './told.ts';

/** What may be announced. */
export interface BgpBounds {
  /** Nothing outside of these is ever announced. */
  prefixes: readonly Prefix[];
  /** Where packets may be sent to nowhere. Default: nowhere. */
  blackholes?: readonly Prefix[];
  /** Routes that stand at once, for all that routers have little room for. Default: 1000. */
  atMost?: number;
  /** Where routers send what is for a blackhole, by family. Default: gobgpd's own address. */
  nextHops?: { 4?: string; 6?: string };
  /** What routes to nowhere bear besides that of RFC 7999, as a provider upstream asks for it: `64500:666`. */
  communities?: readonly string[];
}

export interface BgpEdgeOptions extends BgpBounds {
  /** Where gobgpd listens for us: `unix:/run/gobgpd/api.sock`, or `127.0.0.1:50051`. */
  address: string;
}

/** The routers of one gobgpd; what may be announced there comes with each call. */
export interface BgpRouters {
  /** An edge within these bounds. Whatever bounds there were before, the next call takes back what is outside of these. */
  within(bounds: BgpBounds): BgpEdge;
  close(): Promise<void>;
}

/** What routers hold of ours, read once. */
export interface RoutersRead {
  held: Held[];
  /** Routes that stand, those in blackholes included. */
  routes: number;
}

/** Its routers are staff's to see. */
export interface BgpEdge extends Edge {
  /** Routers that gobgpd speaks to, and how it stands with them. */
  peers(): Promise<BgpPeer[]>;
  /** Takes back what is outside of the bounds, and is no longer listed. */
  keepWithin(): Promise<void>;
  /** What gobgpd holds of ours, as `list` has it, and in how many routes. */
  read(): Promise<RoutersRead>;
  /** Routers show no packets: `not_supported`. */
  trace(): Promise<never>;
}

/** What gobgpd holds of ours, as it says itself. */
interface State {
  notes: Note[];
  table: Table;
  /** Networks in blackholes. */
  blackholes: Map<string, Network>;
  /** What others announce through the same gobgpd: flows, and networks that were asked for. */
  foreign: Set<string>;
}

/**
 * FlowSpec and blackhole routes by a gobgpd that outlives this process. It holds all there is to know: the routes, and a note of
 * each policy beside them. Each call reads it, works out what should stand, and tells it the difference in one message.
 */
export function bgpEdge({ address, ...bounds }: BgpEdgeOptions): BgpEdge {
  const routers = bgpRouters({ address });
  return { ...routers.within(bounds), close: () => routers.close() };
}

/** The same, with bounds that may change. `address`: see {@link BgpEdgeOptions}. */
export function bgpRouters({ address }: { address: string }): BgpRouters {
  const gobgpd = speaker(address);
  const inTurn = serially();
  return { within: (bounds) => edgeWithin(gobgpd, inTurn, bounds), close: () => gobgpd.close() };
}

function edgeWithin(gobgpd: Speaker, inTurn: ReturnType<typeof serially>, options: BgpBounds): BgpEdge {
  const { atMost = 1_000 } = options;
  const communities = (options.communities ?? []).map(communityNumber);
  const [prefixes, blackholes] = [options.prefixes, options.blackholes ?? []].map((each) =>
    each.map(parsePrefix),
  ) as [Network[], Network[]];
  const isWithin = (network: Network, within: readonly Network[]) =>
    within.some((each) => holds(each, network));
  const may = ({ network, blackhole }: Note) =>
    isWithin(network, prefixes) && (!blackhole || isWithin(network, blackholes));

  /** Of `asked`, whether somebody else announces them. */
  async function read(asked: readonly Network[]): Promise<State> {
    const [listed, four, six] = await Promise.all([
      gobgpd.list(families.notes),
      gobgpd.list(families.flow[4]),
      gobgpd.list(families.flow[6]),
    ]);
    const notes = own(listed).flatMap(({ nlriBinary }) => decodeNote(nlriBinary) ?? []);
    const foreign = new Set<string>();
    const rows = ([4, 6] as const).flatMap((family) =>
      own(family === 4 ? four : six).flatMap(({ nlriBinary: bytes, pattrsBinary }) => {
        if (isOurs(pattrsBinary)) return [{ family, bytes, action: actionOf(pattrsBinary) }];
        foreign.add(keyOf({ family, bytes }));
        return [];
      }),
    );
    const swallowed = notes.filter(({ blackhole }) => blackhole).map(({ network }) => network);
    const routed = await readNetworks([...swallowed, ...asked]);
    for (const { network, isOurs } of routed) if (!isOurs) foreign.add(prefixText(network));
    const holes = routed
      .filter((each) => each.isOurs)
      .map(({ network }) => [prefixText(network), network] as const);
    return { notes, foreign, table: tableOf(rows), blackholes: new Map(holes) };
  }

  /** Asked for one by one: the table of all networks may be that of the whole internet. */
  async function readNetworks(
    networks: readonly Network[],
  ): Promise<{ network: Network; isOurs: boolean }[]> {
    const found = await Promise.all(
      ([4, 6] as const).map(async (family) => {
        const asked = networks.filter((each) => each.family === family).map(prefixText);
        if (asked.length === 0) return [];
        return own(await gobgpd.list(families.unicast[family], [...new Set(asked)]));
      }),
    );
    return networks.flatMap((network) => {
      const bytes = networkBytes(network);
      const path = found
        .flat()
        .find(
          ({ family, nlriBinary }) =>
            family.afi === families.unicast[network.family].afi && nlriBinary.equals(bytes),
        );
      return path === undefined ? [] : [{ network, isOurs: isOurs(path.pattrsBinary) }];
    });
  }

  /** Tells gobgpd what is missing and what is too much, for notes that are to stand in the place of those that do. */
  async function lead(now: State, next: readonly Note[]): Promise<void> {
    const kept = next.filter(may);
    const table = tableFor(kept);
    const holes = kept.filter(({ blackhole }) => blackhole).map(({ network }) => network);
    const [most, are] = [table.size + holes.length, now.table.size + now.blackholes.size];
    // What there is too much of already may still become less.
    if (most > atMost && most > are)
      throw new EdgeError('edge_refused', `no room: ${most} routes, and ${atMost} at most`);
    const changes = changesOf(now.table, table);
    const told = changes.filter((each) => isTold(each) && !now.foreign.has(keyOf(each)));
    const withdrawn = changes.filter((each) => !isTold(each));
    const isGone = (network: Network) => !holes.some((each) => prefixText(each) === prefixText(network));
    const missing = holes.filter(
      (network) => !now.blackholes.has(prefixText(network)) && !now.foreign.has(prefixText(network)),
    );
    const over = [...now.blackholes.values()].filter(isGone);
    const paths = [
      ...told.map(flowPath),
      ...missing.map((network) => blackholePath(network, options.nextHops, communities)),
      ...withdrawn.map(flowPath),
      ...over.map((network) => withdrawal(blackholePath(network, options.nextHops, communities))),
      ...notePaths(now.notes, kept),
    ];
    if (paths.length > 0) await gobgpd.tell(paths);
  }

  const work = <Given>(
    what: (now: State, held: Books) => Promise<Given>,
    asked: readonly Network[] = [],
  ): Promise<Given> =>
    inTurn('edge', async () => {
      const now = await read(asked);
      return what(now, { policies: bookOf(now, 'policy'), mitigations: bookOf(now, 'mitigation') });
    });

  const checkAllowed = (network: Network) => {
    if (!isWithin(network, prefixes))
      throw notSaid(`${prefixText(network)} is not among what may be announced`);
  };

  async function put(now: State, notes: readonly Note[]): Promise<void> {
    const names = new Set(notes.map(nameOf));
    const next = [...now.notes.filter((each) => !names.has(nameOf(each))), ...notes];
    if (notes.some((note) => isForeign(note, now)))
      throw new EdgeError('overlaps', 'somebody else announces some of this through the same gobgpd');
    const changed = (note: Note) => notes.includes(note);
    for (const measure of next.filter(({ as }) => as === 'mitigation')) {
      for (const policy of next.filter(({ as }) => as === 'policy')) {
        if (!(changed(measure) || changed(policy)) || !overlaps(measure.network, policy.network)) continue;
        checkTogether(measure.told, policy.told);
      }
    }
    await lead(now, next);
  }

  async function take(
    now: State,
    as: Note['as'],
    versions: readonly Version[],
    held: ReadonlyMap<string, Writing>,
  ) {
    const names = notNewer(wanted(versions), held).map(({ name }) => name);
    if (names.length === 0) return;
    await lead(
      now,
      now.notes.filter((note) => note.as !== as || !names.includes(prefixText(note.network))),
    );
  }

  const noteOf = (
    as: Note['as'],
    { network, generation }: Wanted<unknown>,
    told: Note['told'],
    blackhole = false,
  ) => ({
    ...{ as, network, generation, told, blackhole },
  });

  function measureNote(each: Wanted<Mitigation>): Note {
    const { measure } = each.item;
    if (measure.kind === 'filter' && measure.synproxy !== undefined)
      throw notSaid('routers answer nobody in the place of a guest');
    if (measure.kind === 'filter') return noteOf('mitigation', each, toldOfFilter(measure, each.network));
    if (!isWithin(each.network, blackholes)) throw notSaid(`no blackhole is allowed for ${each.destination}`);
    return noteOf('mitigation', each, [], true);
  }

  async function readOf({ notes, table, blackholes: swallowed }: State): Promise<RoutersRead> {
    const allowed = notes.filter(may);
    const should = tableFor(allowed);
    const stands = ({ told, network, blackhole }: Note) =>
      told.every(({ bytes }) => {
        const key = keyOf({ family: network.family, bytes });
        return table.get(key)?.action === should.get(key)?.action;
      }) &&
      (!blackhole || swallowed.has(prefixText(network)));
    const held = allowed.filter(stands).map(({ as, network, generation }) => ({
      ...{ as, generation, destination: prefixText(network), endsInMs: null },
    }));
    return { held, routes: table.size + swallowed.size };
  }

  return {
    kind: 'bgp',
    capabilities: blackholes.length > 0 ? ['blackholes'] : [],

    replace: async (policies) => {
      const all = wanted(policies, checkPolicy);
      const told = new Map<Wanted<Policy>, Note>();
      for (const each of all) {
        checkAllowed(each.network);
        told.set(each, noteOf('policy', each, toldOfPolicy(each.item, each.network)));
      }
      await work(async (now, held) => {
        const items = notOlder(all, held.policies);
        checkOverlaps(items, held.policies);
        await put(
          now,
          items.flatMap((each) => told.get(each) ?? []),
        );
      });
    },

    remove: (versions) => work((now, { policies }) => take(now, 'policy', versions, policies)),

    mitigate: async (mitigation) => {
      const all = wanted([mitigation], checkMitigation);
      for (const { network } of all) checkAllowed(network);
      const notes = new Map(all.map((each) => [each, measureNote(each)]));
      await work(
        async (now, held) => {
          const items = notOlder(all, held.mitigations);
          checkOverlaps(items, held.mitigations);
          await put(
            now,
            items.flatMap((each) => notes.get(each) ?? []),
          );
        },
        all.map(({ network }) => network),
      );
    },

    release: (versions) => work((now, { mitigations }) => take(now, 'mitigation', versions, mitigations)),

    list: async () => (await work(readOf)).held,
    read: () => work(readOf),

    try: async () => {
      throw notSaid('a route stands until it is withdrawn: nobody would end the trial');
    },
    confirm: async () => {
      throw notSaid('nothing is tried out by BGP');
    },
    takeBack: async () => {
      throw notSaid('nothing is tried out by BGP');
    },
    readRules: async () => {
      throw notSaid('routers do not tell what they count');
    },
    forget: async () => undefined,
    readTraffic: async () => {
      throw notSaid('routers do not tell what they count');
    },
    readSamples: async () => {
      throw notSaid('routers do not show packets');
    },
    trace: async () => {
      throw notSaid('routers do not show packets');
    },

    peers: async () => (await gobgpd.peers()).map(peerOf),
    keepWithin: () => work((now) => lead(now, now.notes)),
    close: async () => undefined,
  };
}

interface Books {
  policies: Map<string, Writing>;
  mitigations: Map<string, Writing>;
}

/** By canonical destination, which is also its name. */
function bookOf({ notes }: State, as: Note['as']): Map<string, Writing> {
  return new Map(
    notes
      .filter((note) => note.as === as)
      .map(({ network, generation }) => [
        prefixText(network),
        { name: prefixText(network), network, generation },
      ]),
  );
}

function nameOf({ as, network }: Note): string {
  return `${as} ${prefixText(network)}`;
}

/** Measures stand before policies, where both name the same flow. */
function tableFor(notes: readonly Note[]): Table {
  const ordered = [
    ...notes.filter(({ as }) => as === 'mitigation'),
    ...notes.filter(({ as }) => as === 'policy'),
  ];
  return tableOf(
    ordered.flatMap(({ told, network: { family } }) =>
      told.map(({ bytes, action }) => ({ family, bytes, action })),
    ),
  );
}

/** What gobgpd was told here, and not by a router. */
function own(listed: readonly { paths: Path[] }[]): Path[] {
  return listed.flatMap(({ paths }) => paths.filter(({ neighborIp }) => isIP(neighborIp ?? '') === 0));
}

function isForeign({ network, told, blackhole }: Note, { foreign }: State): boolean {
  if (blackhole) return foreign.has(prefixText(network));
  return told.some(({ bytes }) => foreign.has(keyOf({ family: network.family, bytes })));
}

function isTold({ action }: Change): boolean {
  return action !== null;
}

function flowPath({ family, bytes, action }: Change): Path {
  return {
    family: families.flow[family],
    nlriBinary: bytes,
    pattrsBinary: flowAttributes(family, action ?? 'permit'),
    isWithdraw: action === null,
  };
}

function blackholePath(
  network: Network,
  nextHops: BgpBounds['nextHops'],
  communities: readonly number[],
): Path {
  const { family } = network;
  const nextHop = nextHops?.[family];
  return {
    family: families.unicast[family],
    nlriBinary: networkBytes(network),
    pattrsBinary: blackholeAttributes(
      nextHop === undefined ? unspecified(family) : addressBytes(family, addressNumber(nextHop)),
      communities,
    ),
  };
}

function withdrawal(path: Path): Path {
  return { ...path, isWithdraw: true };
}

function notePaths(now: readonly Note[], next: readonly Note[]): Path[] {
  const path = (note: Note): Path => {
    return { family: families.notes, nlriBinary: encodeNote(note), pattrsBinary: noteAttributes() };
  };
  const before = new Map(now.map((note) => [nameOf(note), encodeNote(note)]));
  const after = new Set(next.map(nameOf));
  const isSame = (note: Note) => before.get(nameOf(note))?.equals(encodeNote(note)) === true;
  return [
    ...next.filter((note) => !isSame(note)).map(path),
    ...now.filter((note) => !after.has(nameOf(note))).map((note) => withdrawal(path(note))),
  ];
}
