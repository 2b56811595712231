import type { Query, QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { ApiError, type EventName, UnreachableError } from '../../../client/index.ts';
import { forgetBegun } from './begun.ts';
import { eventNames, followEvent, followProgress, followReset, isEventName, progress } from './events.ts';
import { followFrames } from './frames.ts';
import { patienceMs, refusedMs } from './patience.ts';
import { session } from './queries/session.ts';

type Message =
  | { kind: 'event'; name: EventName }
  | { kind: 'progress'; service: number }
  | { kind: 'reset' }
  | { kind: 'refused' }
  | { kind: 'state'; isLive: boolean };

let isLive = true;
const watchers = new Set<() => void>();

/** Whether news arrives. */
export function useIsLive(): boolean {
  return useSyncExternalStore(
    (watch) => {
      watchers.add(watch);
      return () => watchers.delete(watch);
    },
    () => isLive,
    () => isLive,
  );
}

/** Whether a stream that pages rely on is open. */
export function sayLive(next: boolean): void {
  if (next === isLive) return;
  isLive = next;
  for (const watch of watchers) watch();
}

/**
 * Follows what happens in an organization until `signal` aborts, from before the session was read: what pages read first may
 * be older than the stream.
 */
export function followOrganization(queries: QueryClient, organization: number, signal: AbortSignal): void {
  shareStream<Message>(`innkeeper.events.${organization}`, signal, {
    missed: () => followReset(queries),
    take(message) {
      if (message.kind === 'event') followEvent(queries, message.name);
      else if (message.kind === 'progress') followProgress(queries, message.service);
      else if (message.kind === 'reset') followReset(queries);
      else if (message.kind === 'refused') void queries.invalidateQueries({ queryKey: ['session'] });
      else {
        sayLive(message.isLive);
        if (message.isLive) readFailed(queries);
      }
    },
    hold: (tell, isTakenOver) =>
      hold({ organization, after: isTakenOver ? null : readAt(queries) }, tell, signal),
  });
}

/**
 * The same for a tab in which staff acts as a customer: its stream goes by the token of this tab, and so is its own. Read from
 * now on, and all that pages read before is read anew.
 */
export function followAs(
  queries: QueryClient,
  { organization, token }: { organization: number; token: string },
  signal: AbortSignal,
): void {
  const ask = (headers: Readonly<Record<string, string>>) =>
    fetch(`/api/dashboard/events?organization_id=${organization}`, {
      headers: { ...headers, token },
      signal,
    });
  void followFrames({ ask, after: null, signal }, (news) => {
    if (news.kind === 'event') {
      if (isEventName(news.event)) followEvent(queries, news.event);
    } else if (news.kind === 'reset') followReset(queries);
    else if (news.kind === 'refused') void queries.invalidateQueries({ queryKey: ['session'] });
    else {
      sayLive(news.isLive);
      if (news.isLive) readFailed(queries);
    }
  });
}

/** An older session is followed from now on, and what pages read before is read anew: much may have happened since. */
const freshMs = 60_000;

/** Where streams stood before the session was read, and all that pages read since; null for one that was read long ago. */
export function readAt(queries: QueryClient): number | null {
  const { data, dataUpdatedAt = 0 } = queries.getQueryState(session.queryKey) ?? {};
  return Date.now() - dataUpdatedAt < freshMs ? (data?.position ?? null) : null;
}

/** What could not be read while nobody answered: now somebody does. */
export function readFailed(queries: QueryClient): void {
  const isFailed = ({ state: { error } }: Query) =>
    error instanceof UnreachableError || (error instanceof ApiError && error.status >= 500);
  void queries.refetchQueries({ type: 'active', predicate: isFailed });
}

interface Shared<News> {
  /** What was read before this tab heard of anything may be older than what the other tabs were told. */
  missed: () => void;
  /** What every tab does with what is told. */
  take: (news: News) => void;
  /** Holds the stream, in one tab, until `signal` aborts. */
  hold: (tell: (news: News) => void, isTakenOver: boolean) => Promise<void>;
}

/**
 * One tab of the browser holds a stream, since HTTP/1.1 has six connections for all of them; it tells the others.
 */
export function shareStream<News>(name: string, signal: AbortSignal, shared: Shared<News>): void {
  const { missed, take, hold } = shared;
  const channel = new BroadcastChannel(name);
  const tell = (news: News) => {
    take(news);
    channel.postMessage(news);
  };
  channel.onmessage = ({ data }: MessageEvent<News>) => take(data);
  signal.addEventListener('abort', () => channel.close());
  const asked = performance.now();
  const holdFirst = (lock: Lock | null) => {
    if (signal.aborted) return;
    if (lock !== null) return hold(tell, false);
    forgetBegun();
    missed();
    // Not awaited here: it would be a lock within a lock.
    void navigator.locks
      // Another tab held it until now: what happened before this one's stream begins is not known here.
      .request(name, { signal }, () => hold(tell, performance.now() - asked > 1_000))
      .catch(() => undefined); // Aborted: the tab follows something else, or nobody is signed in.
  };
  void navigator.locks.request(name, { ifAvailable: true }, holdFirst).catch(() => undefined);
}

function hold(
  { organization, after }: { organization: number; after: number | null },
  tell: (message: Message) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource;
    let broken: ReturnType<typeof setTimeout> | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let hasMissed = after === null;
    const open = () => {
      // Whoever comes back says how far they got, which counts before the address; who reads all anew needs nothing of before.
      const from = hasMissed ? '' : `&after=${after}`;
      source = new EventSource(`/api/dashboard/events?organization_id=${organization}${from}`);
      source.onopen = () => {
        clearTimeout(broken);
        broken = undefined;
        tell({ kind: 'state', isLive: true });
        if (hasMissed) tell({ kind: 'reset' });
        hasMissed = false;
      };
      source.onerror = () => {
        broken ??= setTimeout(() => tell({ kind: 'state', isLive: false }), patienceMs);
        if (source.readyState !== EventSource.CLOSED) return;
        // Refused, not only broken: the browser does not ask again, and a new stream does not know where it was.
        hasMissed = true;
        // Perhaps because nobody is signed in any more; asking who is tells.
        tell({ kind: 'refused' });
        again = setTimeout(open, refusedMs);
      };
      source.addEventListener('reset', () => tell({ kind: 'reset' }));
      source.addEventListener(progress, ({ data }) => tell({ kind: 'progress', service: serviceOf(data) }));
      for (const name of eventNames) source.addEventListener(name, () => tell({ kind: 'event', name }));
    };
    signal.addEventListener('abort', () => {
      clearTimeout(broken);
      clearTimeout(again);
      source.close();
      resolve();
    });
    open();
  });
}

/** Which service the text of an event is about. */
function serviceOf(text: string): number {
  const { data } = JSON.parse(text) as { data: { subject: { id: number } } };
  return data.subject.id;
}
