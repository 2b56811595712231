import pg from 'pg';
import { causesOf, type Logger } from '../log.ts';
import { openCommits } from './acknowledged.ts';
import { keepAliveMs } from './alone.ts';
import { asUnavailable } from './failures.ts';
import { openLateCommits } from './lateCommits.ts';
import { listenOn } from './listen.ts';
import { queryable } from './queryable.ts';
import type { Database } from './statement.ts';
import { repeatTransaction } from './transaction.ts';

// Ids are 53-bit safe by construction, so bigint is a number; a date has no time zone and stays text.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.DATE, (text: string) => text);

/** How long the server may need to say that it has given up a statement; then it is not there. */
const lateMs = 5_000;
/** How long somebody waits for a connection, as long as for a turn to write: many come at once, and each holds it briefly. */
const waitMs = 5_000;

interface ConnectOptions {
  log: Logger;
  poolSize?: number;
  lockTimeoutMs?: number;
  /** How long a statement may take. One that is not even refused by then has lost its connection, and is `unavailable`. */
  statementTimeoutMs?: number;
  /** How long a transaction may wait for its process, which may hang or have lost its power, with all that it has locked. */
  idleTransactionMs?: number;
}

/** Opens the pool. `url` is anything `pg` understands, a unix socket's directory included. */
export function connect(url: string, options: ConnectOptions): Database {
  const { lockTimeoutMs = 8_000, statementTimeoutMs = 30_000, idleTransactionMs = 60_000 } = options;
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: options.poolSize ?? 8,
    // Statements that do not wait for each other travel together; see `transaction.ts`.
    pipeline: true,
    connectionTimeoutMillis: waitMs,
    onConnect: (client) => begin(client, { lockTimeoutMs, statementTimeoutMs, idleTransactionMs }),
    // Of a network that swallows packets nothing else tells. The connection is thrown away with all that was sent on it.
    query_timeout: statementTimeoutMs + lateMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    application_name: 'innkeeper',
  });
  pool.on('error', (error) => options.log.warn({ err: causesOf(error) }, 'a database connection was lost'));
  // The pool listens to idle connections alone. The loss of one in use, or of one that it has thrown away, must not
  // end the process: the next statement on it fails and tells.
  pool.on('connect', (client) => client.on('error', () => undefined));

  const late = openLateCommits(pool, statementTimeoutMs + lateMs);
  const commits = openCommits(late);
  return {
    ...queryable(pool),
    transaction: (name, work) => repeatTransaction(pool, commits, late, name, work),
    noteCommits: commits.note,
    acknowledged: commits.acknowledged,
    listen: (channel, onMessage) => listenOn(url, channel, onMessage, options.log),
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    ping: (timeoutMs) => ping(pool, timeoutMs),
    close: () => {
      late.close();
      return pool.end();
    },
  };
}

/**
 * Says how the session is to be. Not when it is opened, as `pg` would: a pooler that keeps sessions refuses most of what is said then.
 */
async function begin(
  client: pg.ClientBase,
  {
    lockTimeoutMs,
    statementTimeoutMs,
    idleTransactionMs,
  }: Required<Omit<ConnectOptions, 'log' | 'poolSize'>>,
): Promise<void> {
  const settings = {
    // A day begins in UTC wherever the server stands: `now()::date` and `date_trunc` go by it.
    timezone: "'UTC'",
    // Whoever waits longer for what another transaction holds gives the connection back and says so.
    lock_timeout: lockTimeoutMs,
    statement_timeout: statementTimeoutMs,
    // Without it a host that lost its power in a transaction would hold what it has locked for hours: no server asks sooner by itself.
    idle_in_transaction_session_timeout: idleTransactionMs,
  };
  const text = Object.entries(settings).map(([name, value]) => `set ${name} = ${value}`);
  const query: pg.QueryConfig & { query_timeout: number } = { text: text.join('; '), query_timeout: waitMs };
  await client.query(query);
}

async function ping(pool: pg.Pool, timeoutMs: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(asUnavailable(new Error('the database does not answer'))),
    timeoutMs,
  );
  try {
    await Promise.race([pool.query('select 1'), late.promise]);
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    clearTimeout(timer);
  }
}
