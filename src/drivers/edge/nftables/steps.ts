import { setTimeout as pause } from 'node:timers/promises';
import { serially } from '../../serially.ts';
import { notNewer, type Wanted, wanted } from '../book.ts';
import { EdgeError, type Version } from '../contract.ts';
import type { Network } from '../prefix.ts';
import { type Kind, table } from './base.ts';
import type { Text } from './compile.ts';
import type { Kernel } from './kernel.ts';
import { additions, type Change, everywhere, leading, removals } from './lines.ts';
import { type Named, nameOf, type Of } from './names.ts';
import { type Held, heldAs, loadState, mapsOf, type State } from './state.ts';
import { adjustedSets, aroundLines, awayLines, hasSynproxy, synproxyOf } from './synproxy.ts';

export interface Written {
  destination: string;
  named: Named;
  text: Text;
}

/** What is known of the kernel, and the steps that change it, one call after another. */
export interface Steps {
  /** Everything in turn. What fails is tried once more with what the kernel really holds. */
  inTurn<Given>(what: (now: State) => Promise<Given>): Promise<Given>;
  /** Reads the kernel anew. */
  reload(): Promise<State>;
  /** Those items that are not in force whole in just this generation. */
  withoutStanding<Item>(
    now: State,
    items: readonly Wanted<Item>[],
    held: ReadonlyMap<string, Held>,
  ): Promise<Wanted<Item>[]>;
  /** Writes chains that nothing leads to yet. They are there in vain when the next step fails; then they are over. */
  write(now: State, written: readonly Written[]): Promise<void>;
  /** The second step: what leads where, as one transaction, and then in our own book. */
  lead(now: State, changes: readonly Change[]): Promise<void>;
  /** Takes away writings that are over. */
  forget(now: State, names: readonly string[]): Promise<void>;
  /** Takes away what stands around synproxies once there are none and nothing lives that they made. */
  tidy(now: State): Promise<void>;
}

/** How long the kernel may hold on to what it has ended itself, and how often it is asked. */
const collected = { withinMs: 10_000, everyMs: 200 } as const;
const isBusy = /Device or resource busy/;

export function stepsOf(kernel: Kernel, bridged: boolean): Steps {
  const serial = serially();
  let known: State | null = null;

  const state = async () => {
    known ??= await loadState(kernel, bridged);
    return known;
  };

  /** After a failure nobody knows what the kernel did: an nft that was killed may have told it everything. */
  async function attempt<Given>(what: (now: State) => Promise<Given>): Promise<Given> {
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
    const running = heldAs('trials', now.layout, await kernel.list(mapsOf('trials', now.layout)));
    for (const [destination, trial] of now.book.trials) {
      const found = running.get(destination);
      if (found?.name === trial.name) Object.assign(trial, { expiresS: found.expiresS, at: found.at });
      else end(now, 'trials', destination);
    }
    return now;
  }

  const end = (now: State, kind: Kind, destination: string) => {
    const held = now.book[kind].get(destination);
    if (held === undefined) return;
    now.book[kind].delete(destination);
    now.over.set(held.name, { ...held, rules: 0 });
  };

  /**
   * The element of a trial that has run out finds no packet any more, and cannot be deleted; it holds on to its chain until the kernel
   * collects it, in about a second, and later where the host is busy.
   */
  async function loadUnlessHeld(text: string): Promise<void> {
    const until = Date.now() + collected.withinMs;
    for (;;) {
      try {
        return await kernel.load(text);
      } catch (error) {
        if (!(error instanceof EdgeError) || !isBusy.test(error.message) || Date.now() > until) throw error;
        await pause(collected.everyMs);
      }
    }
  }

  /** What synproxies need beside their own chains, where that is not there yet. */
  async function missingAround(now: State, written: readonly Written[]): Promise<string[]> {
    if (now.around.state === 'whole' || !written.some(({ text }) => hasSynproxy(text))) return [];
    // What is there already follows connections itself.
    const leavesOut =
      now.around.state === 'broken' ? now.around.leavesOut : !(await kernel.followsConnections());
    now.around = { state: 'whole', leavesOut };
    return aroundLines(`inet ${table}`, leavesOut);
  }

  return {
    inTurn: (what) =>
      serial('edge', async () => {
        const isRemembered = known !== null;
        try {
          return await attempt(what);
        } catch (error) {
          if (!isRemembered || !(error instanceof EdgeError) || error.code !== 'edge_refused') throw error;
          return await attempt(what);
        }
      }),

    reload: () => {
      known = null;
      return state();
    },

    async withoutStanding(now, items, held) {
      const maybe = items.flatMap(({ destination, generation }) => {
        const writing = held.get(destination);
        return writing?.generation === generation && writing.isWhole ? [writing.name] : [];
      });
      const tables = [...now.layout.keys()];
      const listed = await Promise.all(tables.map((of) => kernel.counters(of, maybe)));
      const rulesOf = (name: string) => Number(name.split('_')[5]);
      const stand = new Set(
        maybe.filter((name) => listed.every((chains) => chains.get(name)?.length === rulesOf(name))),
      );
      return items.filter(({ destination }) => !stand.has(held.get(destination)?.name ?? ''));
    },

    async write(now, written) {
      if (written.length === 0) return;
      const around = await missingAround(now, written);
      await kernel.load(
        everywhere(now, (of, at) => [
          ...(of === 'inet' ? around : []),
          ...written.flatMap(({ text }) => additions(of, at, text)),
        ]),
      );
      for (const { named, text } of written) {
        now.over.set(named.name, named);
        for (const { name, only } of text.objects)
          for (const [of, names] of now.there) if ((only ?? of) === of) names.add(name);
        const parts = text.objects.filter(({ name }) => name !== named.name);
        if (parts.length > 0)
          now.parts.set(
            named.name,
            parts.map(({ kind, name }) => ({ kind, name })),
          );
      }
    },

    async lead(now, changes) {
      if (changes.length === 0) return;
      await kernel.load(
        everywhere(now, (of, at) => changes.flatMap((change) => leading(now, of, at, change))),
      );
      for (const { kind, destination, to, seconds } of changes) {
        const before = now.book[kind].get(destination)?.at ?? [];
        end(now, kind, destination);
        if (to === null) continue;
        now.over.delete(to.name);
        const tables = [...now.layout.keys()];
        const led = tables.filter((of) => now.there.get(of)?.has(to.name));
        now.book[kind].set(destination, {
          ...to,
          isProxied: led.includes('inet') && synproxyOf(now, to.name) !== null,
          isWhole: led.length === tables.length,
          expiresS: seconds,
          at: tables.filter((of) => led.includes(of) || before.includes(of)),
        });
      }
    },

    async forget(now, names) {
      if (names.length === 0) return;
      await loadUnlessHeld(everywhere(now, (of, at) => names.flatMap((name) => removals(now, of, at, name))));
      for (const name of names) {
        const gone = [name, ...(now.parts.get(name) ?? []).map((part) => part.name)];
        for (const there of now.there.values()) for (const each of gone) there.delete(each);
        now.over.delete(name);
        now.parts.delete(name);
      }
    },

    async tidy(now) {
      const isUsed = [...now.parts.keys()].some((writing) => synproxyOf(now, writing) !== null);
      if (now.around.state === 'absent' || isUsed) return;
      const adjusted = (await kernel.list(adjustedSets)).get('inet')?.sets ?? new Map();
      if ([...adjusted.values()].some((elements) => elements.length > 0)) return;
      await kernel.load(
        awayLines(`inet ${table}`, now.around)
          .map((line) => `${line}\n`)
          .join(''),
      );
      now.around = { state: 'absent', leavesOut: false };
    },
  };
}

export function compile<Item>(of: Of, each: Wanted<Item>, text: (name: string) => Text): Written {
  const rules = text('').rules.filter(({ chain }) => chain === '').length;
  const { network, generation, destination } = each;
  const name = nameOf(of, network, generation, rules);
  return { destination, named: { name, network, generation, of, rules }, text: text(name) };
}

export function change(
  kind: Kind,
  { destination, network }: { destination: string; network: Network },
  to: Named | null,
  seconds: number | null = null,
): Change {
  return { kind, destination, network, to, seconds };
}

/** What no longer leads anywhere: of these destinations, in these generations and older. */
export function ending(kind: Kind, versions: readonly Version[], now: State): Change[] {
  return notNewer(wanted(versions), now.book[kind]).map((each) => change(kind, each, null));
}
