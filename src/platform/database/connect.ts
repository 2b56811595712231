import pg from 'pg';
import { atBoundary } from '../boundary.ts';
import type { Logger } from '../log.ts';
import { asUnavailable, isAftermath, isWorthRepeating } from './failures.ts';
import { listenOn } from './listen.ts';
import { execute } from './prepared.ts';
import { type Database, type Queryable, type Statement, valuesOf } from './statement.ts';

// Ids are 53-bit safe by construction, so bigint is a number; a date has no time zone and stays text.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.DATE, (text: string) => text);

const transactionAttempts = 4;

/** Opens the pool. `url` is anything `pg` understands, a unix socket's directory included. */
export function connect(url: string, options: { log: Logger; poolSize?: number }): Database {
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: options.poolSize ?? 8,
    // Statements that do not wait for each other travel together; see `runTransaction`.
    pipeline: true,
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'innkeeper',
  });
  pool.on('error', (error) => options.log.warn({ err: error.message }, 'a database connection was lost'));
  // The pool listens to idle connections alone. The loss of one in use, or of one that it has thrown away, must not
  // end the process: the next statement on it fails and tells.
  pool.on('connect', (client) => client.on('error', () => undefined));

  return {
    ...queryable(pool),
    transaction: (name, work) => repeatTransaction(pool, name, work),
    listen: (channel, onMessage) => listenOn(url, channel, onMessage, options.log),
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    ping: (timeoutMs) => ping(pool, timeoutMs),
    close: () => pool.end(),
  };
}

function queryable(
  connection: pg.Pool | pg.PoolClient,
  onFailure: (error: unknown) => void = () => undefined,
): Queryable {
  const rows = async (statement: Statement<unknown, object>, params: object | undefined) => {
    const values = valuesOf(statement, params);
    try {
      return await execute(connection, statement, values);
    } catch (error) {
      if (error instanceof Error) Error.captureStackTrace(error); // who asked, instead of who read the answer
      onFailure(error);
      throw asUnavailable(error);
    }
  };
  const maybe = async <Row>(statement: Statement<Row, object>, params: object | undefined) => {
    const result = await rows(statement, params);
    return (result.rows[0] as Row | undefined) ?? null;
  };
  return {
    maybe: (statement, ...[params]) => maybe(statement, params),
    many: async <Row>(statement: Statement<Row, object>, ...[params]: object[]) =>
      (await rows(statement, params)).rows as Row[],
    one: async (statement, ...[params]) => {
      const row = await maybe(statement, params);
      if (row === null) throw new Error(`${statement.name} found no row`);
      return row;
    },
    run: async (statement, ...[params]) => (await rows(statement, params)).rowCount ?? 0,
  };
}

async function repeatTransaction<T>(
  pool: pg.Pool,
  name: string,
  work: Parameters<Database['transaction']>[1],
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await runTransaction(pool, name, work)) as T;
    } catch (error) {
      if (attempt >= transactionAttempts || !isWorthRepeating(error)) throw error;
    }
  }
}

async function runTransaction<T>(
  pool: pg.Pool,
  name: string,
  work: Parameters<Database['transaction']>[1],
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw asUnavailable(error);
  });
  const committed: (() => void)[] = [];
  let result: T;
  // Of statements that travel together the later ones fail too, and their failures may be heard of first.
  let firstFailure: unknown = null;
  const onFailure = (error: unknown) => {
    firstFailure ??= error;
  };
  // Not waited for: it goes out together with the first statement, which fails when this does.
  const begun = client.query('begin');
  begun.catch(() => undefined);
  try {
    result = (await work({
      ...queryable(client, onFailure),
      inTransaction: true,
      afterCommit: (then) => committed.push(then),
    })) as T;
    await begun;
    await atBoundary(`${name}: before commit`);
    const { command } = await client.query('commit');
    // PostgreSQL answers so, and not with an error, when a failed statement was swallowed on the way.
    if (command !== 'COMMIT') throw new Error(`${name} could not be committed: a statement in it had failed`);
  } catch (thrown) {
    const error = isAftermath(thrown) ? (firstFailure ?? thrown) : thrown;
    // A connection that cannot even roll back is thrown away, and the server rolls back for it.
    await client.query('rollback').then(
      () => client.release(),
      (broken: Error) => client.release(broken),
    );
    throw asUnavailable(error);
  }
  client.release();
  await atBoundary(`${name}: after commit`);
  for (const then of committed) then();
  return result;
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
