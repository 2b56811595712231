import pg from 'pg';
import { causesOf, type Logger } from '../log.ts';

/** After so long without a word an idle connection is asked whether anybody is there, and given up 10 s later. */
export const keepAliveMs = 10_000;
const connectMs = 5_000;
/** Nothing that is sent over these connections takes long, besides a lock that another process is about to let go of. */
export const answerMs = 15_000;
const endMs = 1_000;

/**
 * What a session says of itself whose locks somebody waits for. A host that lost its power says nothing: the server asks, and ends the
 * session within half a minute. Of a process that hangs, such as in a machine that is paused, its kernel says that all is well: what
 * says nothing for so many seconds is not there either.
 */
export const endsWhenSilent = (seconds: number): string =>
  'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3; ' +
  `set idle_session_timeout = '${seconds}s'; set idle_in_transaction_session_timeout = '${seconds}s'`;

/**
 * Opens a connection beside the pool, for what lasts as long as it does: a lock, news from other processes. `begin`
 * listens to its events and sends what comes first. When that fails, nothing stays open. A connection that is lost says
 * so by the event `end`. `waitMs` is how long a query may take, null where the caller sees to that; `isShared` where several ask over it
 * who do not wait for each other: what they send travels together then.
 */
export async function connectAlone(
  url: string,
  name: string,
  begin: (client: pg.Client) => Promise<unknown>,
  { waitMs = answerMs, isShared = false }: { waitMs?: number | null; isShared?: boolean } = {},
): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    pipeline: isShared,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    connectionTimeoutMillis: connectMs,
    ...(waitMs !== null && { query_timeout: waitMs }),
    application_name: `innkeeper ${name}`,
  });
  client.on('error', () => undefined); // 'end' follows
  try {
    await client.connect();
    await begin(client);
    return client;
  } catch (error) {
    await endAlone(client);
    throw error;
  }
}

const againMs = 250;

/**
 * The same, and made again when it is lost, for as long as nobody stops it. Fails when it cannot be opened the first time. Returns
 * how to stop.
 */
export async function keepAlone(
  url: string,
  name: string,
  begin: (client: pg.Client) => Promise<unknown>,
  log: Logger,
): Promise<() => Promise<void>> {
  let stopped = false;
  let client: pg.Client | null = null;

  const open = async (): Promise<void> => {
    client = await connectAlone(url, name, async (next) => {
      next.on('end', () => {
        if (client !== next) return; // one that never opened: whoever opens it tries again
        client = null;
        reopen();
      });
      await begin(next);
      if (stopped) throw new Error('nobody needs it any more');
    });
  };
  const reopen = (): void => {
    if (stopped) return;
    setTimeout(() => {
      if (stopped) return;
      open().catch((error: Error) => {
        log.debug({ err: causesOf(error), name }, 'a connection beside the pool cannot be made yet');
        reopen();
      });
    }, againMs);
  };

  await open();
  return async () => {
    stopped = true;
    if (client !== null) await endAlone(client);
  };
}

/** Says goodbye, and does not wait for a server that never answers. */
export async function endAlone(client: pg.Client): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, endMs);
  await Promise.race([client.end().catch(() => undefined), late.promise]);
  clearTimeout(timer);
}
