import { setTimeout as delay } from 'node:timers/promises';
import type { BmcControls } from './controls.ts';
import { BmcError } from './failure.ts';
import { ask, leftOf, type Until } from './turns.ts';

/** A BMC that is spoken to in turn. */
export interface Talk {
  readonly controls: BmcControls;
  /** As `readonly` says: nothing changes by it. */
  read<T>(deadline: Until, work: (controls: BmcControls, leftMs: number) => Promise<T>): Promise<T>;
  /** The same for what changes something: before the first one it is asked who it is. */
  change<T>(deadline: Until, work: (controls: BmcControls, leftMs: number) => Promise<T>): Promise<T>;
}

/** How long an answer about who it is holds: it costs a round of its own. */
const knownMs = 60_000;

export function talkTo(controls: BmcControls, key: string, uuid: string | null): Talk {
  let knownUntilMs = 0;
  const read: Talk['read'] = (deadline, work) => ask(key, deadline, (leftMs) => work(controls, leftMs));
  return {
    controls,
    read,
    async change(deadline, work) {
      if (uuid !== null && performance.now() > knownUntilMs) {
        const found = await read(deadline, (at, leftMs) => at.identify(leftMs));
        // As while it starts itself, or before its host has told it. Whoever asks waits, as for one that says nothing.
        if (found.uuid === null)
          throw new BmcError('bmc_silent', `the BMC at ${key} does not say who it is at the moment`);
        if (found.uuid !== uuid)
          throw new BmcError('other_bmc', `another BMC answers at ${key}: ${found.uuid}, not ${uuid}`);
        knownUntilMs = performance.now() + knownMs;
      }
      return read(deadline, work);
    },
  };
}

const firstPauseMs = 100;
const longestPauseMs = 1_000;

/** An answer this old at the deadline still says how it was then. */
const freshMs = 2_000;

/**
 * Looks again and again until it is so, others asking in between; false at the deadline. A BMC that says nothing for a moment is asked again, and
 * fails with that silence when it lasts.
 */
export async function becomesSo(deadline: Until, isSo: () => Promise<boolean>): Promise<boolean> {
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const seen = await isSo().catch((error: unknown) => {
      if (error instanceof BmcError && error.waits) return error;
      throw error;
    });
    if (seen === true) return true;
    if (seen === false) answeredAtMs = performance.now();
    if (leftOf(deadline) <= pauseMs) {
      if (performance.now() - answeredAtMs < freshMs) return false;
      throw seen || new BmcError('bmc_silent', 'the BMC did not answer in time');
    }
    await delay(pauseMs);
  }
}

/**
 * Does something and looks whether it is so then, whatever was answered: it succeeds when it is so, and fails with what went wrong, or with
 * `nothing_happened` where nothing is said to have gone wrong.
 */
export async function proved(
  deadline: Until,
  { act, isSo, otherwise }: { act: () => Promise<void>; isSo: () => Promise<boolean>; otherwise: string },
): Promise<void> {
  const failure = await act().then(
    () => null,
    (error: unknown) => error,
  );
  if (failure instanceof BmcError && failure.permanent) throw failure;
  if (failure !== null && !(failure instanceof BmcError)) throw failure;
  // One that refused has nothing left to wait for, and is looked at once.
  const isProved =
    failure !== null && !failure.waits ? await isSo().catch(() => false) : await becomesSo(deadline, isSo);
  if (isProved) return;
  throw failure ?? new BmcError('nothing_happened', otherwise);
}
