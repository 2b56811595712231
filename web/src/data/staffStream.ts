import type { QueryClient } from '@tanstack/react-query';
import { staffFollower } from './staffEvents.ts';
import { patienceMs, readAt, readFailed, refusedMs, sayLive, shareStream } from './stream.ts';

type News = { kind: 'event'; event: string } | { kind: 'reset' } | { kind: 'state'; isLive: boolean };

/** Follows everything that happens at the provider until `signal` aborts. */
export function followAll(queries: QueryClient, signal: AbortSignal): void {
  const follow = staffFollower(queries);
  shareStream<News>('innkeeper.events.staff', signal, {
    take(news) {
      if (news.kind === 'event') follow(news.event);
      else if (news.kind === 'reset') void queries.invalidateQueries({ queryKey: ['staff'] });
      else {
        sayLive(news.isLive);
        if (news.isLive) readFailed(queries);
      }
    },
    async hold(tell, isTakenOver) {
      const after = isTakenOver ? null : readAt(queries);
      if (after === null) tell({ kind: 'reset' });
      let last = after === null ? null : String(after);
      let broken: ReturnType<typeof setTimeout> | undefined;
      while (!signal.aborted) {
        let isOpened = false;
        const opened = () => {
          isOpened = true;
          clearTimeout(broken);
          broken = undefined;
          tell({ kind: 'state', isLive: true });
        };
        try {
          for await (const frame of framesOf(last, signal, opened)) {
            last = frame.id ?? last;
            if (frame.event === 'reset') tell({ kind: 'reset' });
            else if (frame.event !== undefined) tell({ kind: 'event', event: frame.event });
          }
        } catch {
          // Broken or refused; both are said when they last.
        }
        if (signal.aborted) break;
        broken ??= setTimeout(() => tell({ kind: 'state', isLive: false }), patienceMs);
        await pause(isOpened ? 1_000 : refusedMs, signal);
      }
      clearTimeout(broken);
    },
  });
}

interface Frame {
  id?: string;
  event?: string;
}

/**
 * The frames of one stream. Read by hand and not by an `EventSource`, which has to know the name of each event: staff is
 * told of all there are.
 */
async function* framesOf(
  last: string | null,
  signal: AbortSignal,
  opened: () => void,
): AsyncGenerator<Frame> {
  const response = await fetch('/api/staff/events', {
    headers: { accept: 'text/event-stream', ...(last !== null && { 'last-event-id': last }) },
    signal,
  });
  if (!response.ok || response.body === null) return;
  opened();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let begun = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const frames = (begun + part.value).split('\n\n');
    begun = frames.pop() ?? '';
    for (const frame of frames) {
      const lines = frame.split('\n').map((line) => line.split(': ', 2));
      yield Object.fromEntries(lines.filter(([name]) => name === 'id' || name === 'event'));
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
