import pg from 'pg';
import type { Logger } from '../log.ts';
import { keepAlone } from './alone.ts';

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
  return keepAlone(
    url,
    'listen',
    async (client) => {
      client.on('notification', (message) => onMessage(message.payload ?? ''));
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      await client.query('select pg_advisory_lock_shared($1, hashtext($2))', [listeningClass, channel]);
      onMessage(''); // something may have happened while nobody listened
    },
    log,
  );
}
