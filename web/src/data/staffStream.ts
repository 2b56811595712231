import type { QueryClient } from '@tanstack/react-query';
import { followFrames, type News } from './frames.ts';
import { staffFollower } from './staffEvents.ts';
import { readAt, readFailed, sayLive, shareStream } from './stream.ts';

/** Follows everything that happens at the provider until `signal` aborts. */
export function followAll(queries: QueryClient, signal: AbortSignal): void {
  const follow = staffFollower(queries);
  shareStream<News>('innkeeper.events.staff', signal, {
    missed: () => void queries.invalidateQueries({ queryKey: ['staff'] }),
    take(news) {
      if (news.kind === 'event') follow(news.event);
      else if (news.kind === 'reset') void queries.invalidateQueries({ queryKey: ['staff'] });
      else if (news.kind === 'state') {
        sayLive(news.isLive);
        if (news.isLive) readFailed(queries);
      }
    },
    // By hand and not by an `EventSource`, which has to know the name of each event: staff is told of all there are.
    hold: (tell, isTakenOver) =>
      followFrames(
        {
          ask: (headers) => fetch('/api/staff/events', { headers, signal }),
          after: isTakenOver ? null : readAt(queries),
          signal,
        },
        tell,
      ),
  });
}
