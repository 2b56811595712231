import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { EventName } from '../../../client/index.ts';
import { eventNames, followEvent, followReset } from './events.ts';

type Message =
  | { kind: 'event'; name: EventName }
  | { kind: 'reset' }
  | { kind: 'refused' }
  | { kind: 'state'; isLive: boolean };

/** A break that is shorter than this is nobody's concern. */
const patienceMs = 3_000;
/** Until a stream that was refused is asked for again. */
const refusedMs = 10_000;

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
  );
}

function say(next: boolean): void {
  if (next === isLive) return;
  isLive = next;
  for (const watch of watchers) watch();
}

/**
 * Follows what happens in an organization until `signal` aborts. One tab of the browser holds the stream, since
 * HTTP/1.1 has six connections for all of them; it tells the others.
 */
export function followOrganization(queries: QueryClient, organization: number, signal: AbortSignal): void {
  const channel = new BroadcastChannel(`innkeeper.events.${organization}`);
  const take = (message: Message) => {
    if (message.kind === 'event') followEvent(queries, message.name);
    else if (message.kind === 'reset') followReset(queries);
    else if (message.kind === 'refused') void queries.invalidateQueries({ queryKey: ['session'] });
    else say(message.isLive);
  };
  const tell = (message: Message) => {
    take(message);
    channel.postMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => take(data);
  signal.addEventListener('abort', () => channel.close());
  const asked = performance.now();
  void navigator.locks
    .request(`innkeeper.events.${organization}`, { signal }, () =>
      // Another tab held it until now: what happened before this one's stream begins is not known here.
      hold(organization, tell, signal, performance.now() - asked > 1_000),
    )
    .catch(() => undefined); // Aborted: the tab follows another organization, or nobody is signed in.
}

function hold(
  organization: number,
  tell: (message: Message) => void,
  signal: AbortSignal,
  isTakenOver: boolean,
): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource;
    let broken: ReturnType<typeof setTimeout> | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let hasMissed = isTakenOver;
    const open = () => {
      source = new EventSource(`/api/dashboard/events?organization_id=${organization}`);
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
