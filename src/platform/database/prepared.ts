import pg from 'pg';
import type { Statement } from './statement.ts';

/** What pg keeps about the columns of a result. */
interface Columns {
  fields: unknown[];
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}

interface Connection {
  parsedStatements: Record<string, string>;
}

/** The parts of pg's query that this one builds on; `pg` is pinned, and `prepared.test.ts` tells when they change. */
interface Internals {
  name: string;
  values: unknown[];
  callback: (error: Error | null, result: pg.QueryResult) => void;
  _result: Columns & { command: string | null };
  _accumulateRows: boolean | undefined;
  hasBeenParsed(connection: object): boolean;
  prepare(connection: object): void;
  handleReadyForQuery(connection: Connection): void;
}
const Query = pg.Query as unknown as new (text: string) => Internals;

const columnsByStatement = new Map<string, Columns>();

/**
 * One execution of a prepared statement. pg has the server describe the columns at every execution, and takes the
 * description apart again: a tenth of the time of a cheap request. This one asks only with the first execution on a
 * connection, so what a migration changes is learnt anew.
 */
export class PreparedQuery extends Query {
  #asks = true;

  constructor({ name, text }: Statement<unknown, object>, values: unknown[]) {
    super(text);
    this.name = name;
    this.values = values;
  }

  override prepare(connection: object): void {
    const columns = this.hasBeenParsed(connection) ? columnsByStatement.get(this.name) : undefined;
    if (columns === undefined) {
      super.prepare(connection);
      return;
    }
    this.#asks = false;
    Object.assign(this._result, columns);
    this._accumulateRows = true;
    super.prepare(silent(connection));
  }

  override handleReadyForQuery(connection: Connection): void {
    const { command, fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    // Values that could not be sent: pg has closed the statement and forgets to say so to itself.
    if (command === null) delete connection.parsedStatements[this.name];
    else if (this.#asks) columnsByStatement.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
    super.handleReadyForQuery(connection);
  }
}

const silentConnections = new WeakMap<object, object>();

/** The same connection, through which no description is asked for. */
function silent(connection: object): object {
  let found = silentConnections.get(connection);
  if (found === undefined) {
    found = Object.create(connection, { describe: { value: () => undefined } }) as object;
    silentConnections.set(connection, found);
  }
  return found;
}

/** Runs a statement on a connection, or on any of a pool. */
export function execute(
  connection: pg.Pool | pg.PoolClient,
  statement: Statement<unknown, object>,
  values: unknown[],
): Promise<pg.QueryResult> {
  const query = new PreparedQuery(statement, values);
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null | undefined, result: pg.QueryResult) => {
      if (error) reject(error);
      else resolve(result);
    };
    if (connection instanceof pg.Pool) {
      connection.query(query as unknown as pg.QueryConfig, settle);
    } else {
      query.callback = settle;
      connection.query(query as unknown as pg.Submittable);
    }
  });
}
