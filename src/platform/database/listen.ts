import pg from 'pg';
import { causesOf, type Logger } from '../log.ts';
import { connectAlone, endAlone } from './alone.ts';

const retryMs = 250;

/** First key of the advisory locks that show who listens; the second is made of the channel's name. */
const listeningClass = 741_105;

/**
 * LISTEN over a connection of its own, which shows by a shared advisory lock that somebody listens. When it is lost it
 * is made again, for as long as nobody stops it; a message sent meanwhile is gone, so listeners also look for
 * themselves from time to time.
 */
export async function listenOn(
  url: string,
  channel: string,
  onMessage: (payload: string) => void,
  log: Logger,
): Promise<() => Promise<void>> {
  let stopped = false;
  let client: pg.Client | null = null;

  const open = async (): Promise<void> => {
    client = await connectAlone(url, 'listen', async (next) => {
      next.on('notification', (message) => onMessage(message.payload ?? ''));
      next.on('end', () => {
        if (client !== next) return; // one that never opened: whoever opens it tries again
        client = null;
        reopen();
      });
      await next.query(`listen ${pg.escapeIdentifier(channel)}`);
      await next.query('select pg_advisory_lock_shared($1, hashtext($2))', [listeningClass, channel]);
      if (stopped) throw new Error('nobody listens any more');
    });
    onMessage(''); // something may have happened while nobody listened
  };

  const reopen = (): void => {
    if (stopped) return;
    setTimeout(() => {
      if (stopped) return;
      open().catch((error: Error) => {
        log.debug({ err: causesOf(error), channel }, 'cannot listen yet');
        reopen();
      });
    }, retryMs);
  };

  await open();
  return async () => {
    stopped = true;
    if (client !== null) await endAlone(client);
  };
}
