import { serially } from '../../serially.ts';
import { checkOverlaps, notNewer, notOlder, toConfirm, type Wanted, wanted } from '../book.ts';
import { checkMitigation, checkPolicy, checkSeconds } from '../check.ts';
import { type Edge, type EdgeCapability, EdgeError, type Version } from '../contract.ts';
import { canonical, isSingle, type Network, prefixText, shortText } from '../prefix.ts';
import { type Kind, maps, type TableFamily, table } from './base.ts';
import { measureText, policyText, type Text } from './compile.ts';
import { kernel as openKernel } from './kernel.ts';
import { type Named, nameOf, type Of } from './names.ts';
import { countsOf, readTraffic } from './read.ts';
import {
  type Held,
  heldAs,
  isWholeBase,
  kinds,
  loadState,
  mapsOf,
  type Part,
  type State,
  tablesFor,
} from './state.ts';

export interface NftablesEdgeOptions {
  /** Whether guests sit on a bridge of this host, where they reach each other without its routing. */
  bridged: boolean;
  /** Argument vector that runs `argv` in the network whose packets are filtered. Default: our own. */
  inside?: (argv: readonly string[]) => readonly string[];
}

/** So many chains are quicker read one by one than with the whole table. */
const readSingly = 20;

/**
 * The kernel's packet filter, driven by `nft -f -`, each step one transaction. A policy is a chain; a map leads there from the
 * destination. It is written in one transaction and led to in the next: a packet that began before the first would find
 * the chain empty if both were one. Trials are a map of their own whose elements expire, so the kernel ends them.
 */
export function nftablesEdge({ bridged, inside = (argv) => argv }: NftablesEdgeOptions): Edge {
  const kernel = openKernel(inside);
  const inTurn = serially();
  let known: State | null = null;

  const state = async () => {
    known ??= await loadState(kernel, bridged);
    return known;
  };

  /** Everything in turn. What fails is tried once more with what the kernel really holds. */
  const work = <Given>(what: (state: State) => Promise<Given>): Promise<Given> =>
    inTurn('edge', async () => {
      const isRemembered = known !== null;
      try {
        return await attempt(what);
      } catch (error) {
        if (!isRemembered || !(error instanceof EdgeError) || error.code !== 'edge_refused') throw error;
        return await attempt(what);
      }
    });

  /** After a failure nobody knows what the kernel did: an nft that was killed may have told it everything. */
  async function attempt<Given>(what: (state: State) => Promise<Given>): Promise<Given> {
    try {
      return await what(await settled());
    } catch (error) {
      if (error instanceof EdgeError && error.code === 'edge_refused') known = null;
      throw error;
    }
  }

  /** Trials that the kernel has ended since. */
  async function settled(): Promise<State> {
    const now = await state();
    if (now.book.trials.size === 0) return now;
    const listings = await Promise.all(now.tables.map((of) => trialMaps(of)));
    const running = heldAs('trials', listings);
    for (const [destination, trial] of now.book.trials) {
      const found = running.get(destination);
      if (found?.name === trial.name) trial.expiresS = found.expiresS;
      else end(now, 'trials', destination);
    }
    return now;
  }

  async function trialMaps(of: TableFamily) {
    const lists = await Promise.all(mapsOf('trials').map((name) => kernel.list('map', of, name)));
    return {
      chains: new Map(),
      sets: new Map(),
      maps: new Map(lists.flatMap((list) => [...(list?.maps ?? [])])),
    };
  }

  const everywhere = ({ tables }: State, lines: (at: string) => string[]) =>
    tables
      .flatMap((of) => lines(`${of} ${table}`))
      .map((line) => `${line}\n`)
      .join('');

  /** Writes chains that nothing leads to yet. They are there in vain when the next step fails; then they are over. */
  async function write(now: State, written: readonly Written[]): Promise<void> {
    if (written.length === 0) return;
    await kernel.load(everywhere(now, (at) => written.flatMap(({ text }) => additions(at, text))));
    for (const { named, text } of written) {
      now.over.set(named.name, named);
      const parts = text.objects.filter(({ name }) => name !== named.name);
      if (parts.length > 0)
        now.parts.set(
          named.name,
          parts.map(({ kind, name }) => ({ kind, name })),
        );
    }
  }

  const end = (now: State, kind: Kind, destination: string) => {
    const held = now.book[kind].get(destination);
    if (held === undefined) return;
    now.book[kind].delete(destination);
    now.over.set(held.name, { ...held, rules: 0 });
  };

  /** The second step: what leads where, as one transaction, and then in our own book. */
  async function lead(now: State, changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return;
    await kernel.load(everywhere(now, (at) => changes.flatMap((change) => leading(at, now, change))));
    for (const { kind, destination, to, seconds } of changes) {
      end(now, kind, destination);
      if (to === null) continue;
      now.over.delete(to.name);
      now.book[kind].set(destination, { ...to, isWhole: true, expiresS: seconds ?? null });
    }
  }

  function compile<Item>(of: Of, each: Wanted<Item>, text: (name: string) => Text): Written {
    const rules = text('').rules.filter(({ chain }) => chain === '').length;
    const name = nameOf(of, each.network, each.generation, rules);
    const { network, generation } = each;
    return {
      destination: each.destination,
      named: { name, network, generation, of, rules },
      text: text(name),
    };
  }

  const change = (
    kind: Kind,
    destination: string,
    network: Network,
    to: Named | null,
    seconds?: number,
  ): Change => {
    return { kind, destination, network, to, ...(seconds === undefined ? {} : { seconds }) };
  };

  const ending = (kind: Kind, versions: readonly Version[], now: State) =>
    notNewer(wanted(versions), now.book[kind]).map(({ destination, network }) =>
      change(kind, destination, network, null),
    );

  /** Of a policy that is in force already: whether all of it still is. */
  async function stands(now: State, held: Held | undefined, generation: number): Promise<boolean> {
    if (held === undefined || held.generation !== generation || !held.isWhole) return false;
    const chains = await Promise.all(now.tables.map((of) => kernel.list('chain', of, held.name)));
    const rules = Number(held.name.split('_')[5]);
    return chains.every((chain) => chain?.chains.get(held.name)?.length === rules);
  }

  async function withoutStanding<Item>(
    now: State,
    items: readonly Wanted<Item>[],
    held: ReadonlyMap<string, Held>,
  ) {
    const stand = await Promise.all(
      items.map((each) => stands(now, held.get(each.destination), each.generation)),
    );
    return items.filter((_, nth) => !stand[nth]);
  }

  return {
    kind: 'nftables',
    capabilities: capabilities(bridged),

    replace: async (policies) => {
      const all = wanted(policies, checkPolicy);
      await work(async (now) => {
        const items = notOlder(all, now.book.policies);
        checkOverlaps(items, now.book.policies, now.book.trials);
        const open = await withoutStanding(now, items, now.book.policies);
        const written = open.map((each) =>
          compile('policy', each, (name) => policyText(name, each.network, each.item)),
        );
        await write(now, written);
        const trials = notNewer(
          items
            .map(({ item }) => item)
            .map(versionOf)
            .flatMap((version) => wanted([version])),
          now.book.trials,
        );
        await lead(now, [
          ...written.map(({ destination, named }) => change('policies', destination, named.network, named)),
          ...trials.map(({ destination, network }) => change('trials', destination, network, null)),
        ]);
      });
    },

    try: async (policies, seconds) => {
      checkSeconds(seconds);
      const all = wanted(policies, checkPolicy);
      await work(async (now) => {
        const items = notOlder(all, now.book.policies, now.book.trials).filter(
          ({ destination, generation }) => now.book.policies.get(destination)?.generation !== generation,
        );
        checkOverlaps(items, now.book.policies, now.book.trials);
        const open = await withoutStanding(now, items, now.book.trials);
        const written = open.map((each) =>
          compile('policy', each, (name) => policyText(name, each.network, each.item)),
        );
        await write(now, written);
        await lead(
          now,
          items.flatMap(({ destination, network }) => {
            const to =
              written.find((each) => each.destination === destination)?.named ?? running(now, destination);
            return to === null ? [] : [change('trials', destination, network, to, seconds)];
          }),
        );
      });
    },

    confirm: async (versions) => {
      const all = wanted(versions);
      await work(async (now) => {
        await lead(
          now,
          toConfirm(all, now.book).flatMap(({ destination, network }) => [
            change('trials', destination, network, null),
            change('policies', destination, network, running(now, destination)),
          ]),
        );
      });
    },

    takeBack: (versions) => work(async (now) => lead(now, ending('trials', versions, now))),

    remove: (versions) =>
      work(async (now) =>
        lead(now, [...ending('trials', versions, now), ...ending('policies', versions, now)]),
      ),

    list: () =>
      work(async (now) => {
        const bases = await Promise.all(now.tables.map((of) => baseOf(of)));
        const isSame = String(await tablesFor(kernel, bridged)) === String(now.tables);
        const fresh = isSame && bases.every(isWholeBase) ? now : await reload();
        return kinds.flatMap((kind) =>
          [...fresh.book[kind]]
            .filter(([, { isWhole }]) => isWhole)
            .map(([destination, { generation, expiresS }]) => {
              return {
                destination,
                generation,
                as: heldWords[kind],
                endsInMs: kind === 'trials' ? (expiresS ?? 0) * 1000 : null,
              };
            }),
        );
      }),

    readRules: (destinations) =>
      work(async (now) => {
        const asked = destinations && new Set(destinations.map(canonical));
        const running = kinds.flatMap((kind) => [...now.book[kind].values()]);
        const writings = [
          ...running.map((held) => ({ ...held, isOver: false })),
          ...[...now.over.values()].map((named) => ({ ...named, isOver: true })),
        ].filter(({ network }) => asked?.has(prefixText(network)) ?? true);
        return countsOf(kernel, now.tables, writings, now.parts, writings.length <= readSingly);
      }),

    forget: (writings) =>
      work(async (now) => {
        const names = [...new Set(writings)].filter((name) => now.over.has(name));
        if (names.length === 0) return;
        await kernel.load(
          everywhere(now, (at) => names.flatMap((name) => removals(at, name, now.parts.get(name) ?? []))),
        );
        for (const name of names) {
          now.over.delete(name);
          now.parts.delete(name);
        }
      }),

    readTraffic: () => work((now) => readTraffic(kernel, now.tables)),

    readSamples: async () => {
      throw new EdgeError('not_supported', 'packets are not sampled yet', { permanent: true });
    },

    mitigate: async (mitigation) => {
      const all = wanted([mitigation], checkMitigation);
      await work(async (now) => {
        const items = notOlder(all, now.book.mitigations);
        checkOverlaps(items, now.book.mitigations);
        const open = await withoutStanding(now, items, now.book.mitigations);
        const written = open.map((each) =>
          compile('mitigation', each, (name) => measureText(name, each.network, each.item.measure)),
        );
        await write(now, written);
        await lead(
          now,
          written.map(({ destination, named }) => change('mitigations', destination, named.network, named)),
        );
      });
    },

    release: (versions) => work(async (now) => lead(now, ending('mitigations', versions, now))),

    close: async () => undefined,
  };

  async function baseOf(of: TableFamily) {
    const names = ['edge', 'edge4', 'edge6', 'first4', 'first6'];
    const lists = await Promise.all(names.map((name) => kernel.list('chain', of, name)));
    return { chains: new Map(lists.flatMap((list) => [...(list?.chains ?? [])])) };
  }

  function reload(): Promise<State> {
    known = null;
    return state();
  }
}

interface Written {
  destination: string;
  named: Named;
  text: Text;
}

/** What a destination leads to from now on; null: to nothing. */
interface Change {
  kind: Kind;
  destination: string;
  network: Network;
  to: Named | null;
  seconds?: number;
}

const heldWords = { policies: 'policy', trials: 'trial', mitigations: 'mitigation' } as const;

function capabilities(bridged: boolean): EdgeCapability[] {
  const always: EdgeCapability[] = [
    'trials',
    'counters',
    'traffic',
    'limits',
    'limits_by_source',
    'blackholes',
  ];
  return bridged ? [...always, 'bridged'] : always;
}

function versionOf({ destination, generation }: Version): Version {
  return { destination, generation };
}

function running(now: State, destination: string): Named | null {
  const held = now.book.trials.get(destination);
  return held === undefined ? null : { ...held, rules: 0 };
}

function additions(at: string, { objects, rules, elements }: Text): string[] {
  return [
    ...objects.map(({ kind, name, spec }) => `add ${kind} ${at} ${name}${spec === '' ? '' : ` { ${spec} }`}`),
    ...elements.map(({ map, text }) => `add element ${at} ${map} { ${text} }`),
    ...rules.map(({ chain, text }) => `add rule ${at} ${chain} ${text}`),
  ];
}

function leading(at: string, now: State, { kind, destination, network, to, seconds }: Change): string[] {
  const map = `${at} ${maps[kind][isSingle(network) ? 0 : 1]}${network.family}`;
  const until = seconds === undefined ? '' : ` timeout ${seconds}s`;
  // A measure comes back to where it was looked up; a policy has the last word.
  const verdict = kind === 'mitigations' ? 'jump' : 'goto';
  const key = shortText(network);
  return [
    ...(now.book[kind].has(destination) ? [`delete element ${map} { ${key} }`] : []),
    ...(to === null ? [] : [`add element ${map} { ${key}${until} : ${verdict} ${to.name} }`]),
  ];
}

/** What rules use goes after the rules. */
function removals(at: string, name: string, parts: readonly Part[]): string[] {
  const chains = parts.filter(({ kind }) => kind === 'chain').map((part) => part.name);
  return [
    ...[name, ...chains].map((chain) => `flush chain ${at} ${chain}`),
    ...parts.filter(({ kind }) => kind !== 'chain').map((part) => `delete ${part.kind} ${at} ${part.name}`),
    ...[...chains, name].map((chain) => `delete chain ${at} ${chain}`),
  ];
}
