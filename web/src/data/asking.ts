import { useSyncExternalStore } from 'react';
import type { ApiError } from '../../../client/index.ts';

/** What a call lacks before it can go on: a fresh proof of who asks, or a session at all. */
export type Lack = 'proof' | 'session';

let lack: Lack | null = null;
/** Whether somebody is there who can be asked. */
let isAttended = false;
let waiting: ((isGiven: boolean) => void)[] = [];
const watchers = new Set<() => void>();

function say(next: Lack | null): void {
  lack = next;
  for (const watch of watchers) watch();
}

/** What is asked of whoever looks at the moment. */
export function useLack(): Lack | null {
  return useSyncExternalStore(
    (watch) => {
      watchers.add(watch);
      return () => watchers.delete(watch);
    },
    () => lack,
    () => lack,
  );
}

/** From now on there is somebody to ask, until the function that is returned is called. */
export function attend(): () => void {
  isAttended = true;
  return () => {
    isAttended = false;
    answerLack(false);
  };
}

/** Nobody is signed in any more, as whoever asked found out. */
export function lackSession(): void {
  say('session');
}

/** Ends the question, for all that waits for it. */
export function answerLack(isGiven: boolean): void {
  const waited = waiting;
  waiting = [];
  say(null);
  for (const go of waited) go(isGiven);
}

/**
 * Asks for what a refused call lacked, and says whether it is there now. One question for all that are refused meanwhile;
 * what somebody typed stays where it is, since their page waits below it.
 */
export async function askForLack({ code }: ApiError, { path }: { path: string }): Promise<boolean> {
  const lacked = lackOf(code, path);
  if (lacked === null || !isAttended) return false;
  // Who signs in has proved it too.
  if (lack === null || lacked === 'session') say(lacked);
  return new Promise((resolve) => waiting.push(resolve));
}

function lackOf(code: ApiError['code'], path: string): Lack | null {
  // Signing in and out, and the proof itself: the question would ask for itself.
  if (path.startsWith('/auth/')) return null;
  if (code === 'reauthentication_required') return 'proof';
  return code === 'unauthorized' ? 'session' : null;
}
