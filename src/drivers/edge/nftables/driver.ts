import { checkOverlaps, notOlder, toConfirm, type Wanted, wanted } from '../book.ts';
import { checkMitigation, checkPolicy, checkSeconds, checkTrace } from '../check.ts';
import { type Edge, type EdgeCapability, EdgeError, type Policy } from '../contract.ts';
import { canonical, prefixText } from '../prefix.ts';
import { measureText, policyText } from './compile.ts';
import { kernel as openKernel } from './kernel.ts';
import type { Named } from './names.ts';
import { countsOf, readTraffic } from './read.ts';
import { samplingOf } from './samples.ts';
import { isBaseWhole, isSameLayout, kinds, layoutFor, type State } from './state.ts';
import { change, compile, ending, stepsOf } from './steps.ts';
import { withSynproxy } from './synproxy.ts';
import { tracingOf } from './trace.ts';

export interface NftablesEdgeOptions {
  /** Whether guests sit on a bridge of this host, where they reach each other without its routing. */
  bridged: boolean;
  /** Argument vector that runs `argv` in the network whose packets are filtered. Default: our own. */
  inside?: (argv: readonly string[]) => readonly string[];
  /** Whether the kernel has a synproxy; see `hasKernelSynproxy`. Default: yes. */
  synproxy?: boolean;
  /** Of the kernel's log, by which samples come, and by the next one traces; nobody else's on this host. Default: 7180. */
  logGroup?: number;
}

/**
 * The kernel's packet filter, driven by `nft -f -`, each step one transaction. A policy is a chain; a map leads there from the
 * destination. It is written in one transaction and led to in the next: a packet that began before the first would find
 * the chain empty if both were one. Trials are a map of their own whose elements expire, so the kernel ends them.
 */
export function nftablesEdge({
  bridged,
  inside = (argv) => argv,
  logGroup = 7180,
  synproxy = true,
}: NftablesEdgeOptions): Edge {
  const kernel = openKernel(inside);
  const { inTurn, reload, withoutStanding, write, lead, forget, tidy } = stepsOf(kernel, bridged);
  const sampling = samplingOf(kernel, inside, logGroup, { inTurn });
  const trace = tracingOf(kernel, inside, logGroup + 1, { inTurn });

  const policyOf = (each: Wanted<Policy>) =>
    compile('policy', each, (name) => policyText(name, each.network, each.item));

  return {
    kind: 'nftables',
    capabilities: capabilities(bridged, synproxy),

    replace: async (policies) => {
      const all = wanted(policies, checkPolicy);
      await inTurn(async (now) => {
        const items = notOlder(all, now.book.policies);
        checkOverlaps(items, now.book.policies, now.book.trials);
        const open = await withoutStanding(now, items, now.book.policies);
        const written = open.map(policyOf);
        await write(now, written);
        const over = ending(
          'trials',
          items.map(({ item }) => ({ destination: item.destination, generation: item.generation })),
          now,
        );
        await lead(now, [
          ...written.map(({ destination, named }) =>
            change('policies', { destination, network: named.network }, named),
          ),
          ...over,
        ]);
      });
    },

    try: async (policies, seconds) => {
      checkSeconds(seconds);
      const all = wanted(policies, checkPolicy);
      await inTurn(async (now) => {
        const items = notOlder(all, now.book.policies, now.book.trials).filter(
          ({ destination, generation }) => now.book.policies.get(destination)?.generation !== generation,
        );
        checkOverlaps(items, now.book.policies, now.book.trials);
        const open = await withoutStanding(now, items, now.book.trials);
        const written = open.map(policyOf);
        await write(now, written);
        const byDestination = new Map(written.map(({ destination, named }) => [destination, named]));
        await lead(
          now,
          items.flatMap((each) => {
            const to = byDestination.get(each.destination) ?? running(now, each.destination);
            return to === null ? [] : [change('trials', each, to, seconds)];
          }),
        );
      });
    },

    confirm: async (versions) => {
      const all = wanted(versions);
      await inTurn((now) =>
        lead(
          now,
          toConfirm(all, now.book).flatMap((each) => [
            change('trials', each, null),
            change('policies', each, running(now, each.destination)),
          ]),
        ),
      );
    },

    takeBack: (versions) => inTurn((now) => lead(now, ending('trials', versions, now))),

    remove: (versions) =>
      inTurn((now) => lead(now, [...ending('trials', versions, now), ...ending('policies', versions, now)])),

    list: () =>
      inTurn(async (now) => {
        const isSame = isSameLayout(await layoutFor(kernel, bridged), now.layout);
        const fresh = isSame && (await isBaseWhole(kernel, now)) ? now : await reload();
        await tidy(fresh);
        return kinds.flatMap((kind) =>
          [...fresh.book[kind]]
            .filter(([, { isWhole }]) => isWhole)
            .map(([destination, { generation, expiresS }]) => {
              const endsInMs = kind === 'trials' ? (expiresS ?? 0) * 1000 : null;
              return { destination, generation, as: heldWords[kind], endsInMs };
            }),
        );
      }),

    readRules: (destinations) =>
      inTurn(async (now) => {
        const asked = destinations && new Set(destinations.map(canonical));
        const running = kinds.flatMap((kind) => [...now.book[kind].values()]);
        const writings = [
          ...running.map((held) => ({ ...held, isOver: false })),
          ...[...now.over.values()].map((named) => ({ ...named, isOver: true })),
        ].filter(({ network }) => asked?.has(prefixText(network)) ?? true);
        return countsOf(kernel, now, writings);
      }),

    forget: (writings) =>
      inTurn((now) =>
        forget(
          now,
          [...new Set(writings)].filter((name) => now.over.has(name)),
        ),
      ),

    readTraffic: () => inTurn((now) => readTraffic(kernel, [...now.layout.keys()])),

    readSamples: () => sampling.read(),

    trace: async (kind, until) => {
      checkTrace(kind, until);
      return trace(kind, until);
    },

    mitigate: async (mitigation) => {
      const all = wanted([mitigation], checkMitigation);
      if (!synproxy && mitigation.measure.kind === 'filter' && mitigation.measure.synproxy !== undefined)
        throw new EdgeError('not_supported', 'this kernel has no synproxy', { permanent: true });
      await inTurn(async (now) => {
        const items = notOlder(all, now.book.mitigations);
        checkOverlaps(items, now.book.mitigations);
        const open = await withoutStanding(now, items, now.book.mitigations);
        const written = open.map((each) =>
          compile('mitigation', each, (name) =>
            withSynproxy(measureText(name, each.network, each.item.measure), each.network, each.item.measure),
          ),
        );
        await write(now, written);
        await lead(
          now,
          written.map(({ destination, named }) =>
            change('mitigations', { destination, network: named.network }, named),
          ),
        );
      });
    },

    release: (versions) => inTurn((now) => lead(now, ending('mitigations', versions, now))),

    close: async () => {
      await Promise.all([sampling.close(), kernel.close()]);
    },
  };
}

const heldWords = { policies: 'policy', trials: 'trial', mitigations: 'mitigation' } as const;

function capabilities(bridged: boolean, synproxy: boolean): EdgeCapability[] {
  const always: EdgeCapability[] = [
    'rules',
    'trials',
    'counters',
    'traffic',
    'samples',
    'trace',
    'limits',
    'limits_by_source',
    'blackholes',
  ];
  return [...always, ...(bridged ? ['bridged' as const] : []), ...(synproxy ? ['synproxy' as const] : [])];
}

/** The writing that is tried out there. */
function running(now: State, destination: string): Named | null {
  const held = now.book.trials.get(destination);
  return held === undefined ? null : { ...held, rules: 0 };
}
