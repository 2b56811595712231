import type pg from 'pg';
import { asUnavailable } from './failures.ts';
import { execute } from './prepared.ts';
import { openReading } from './reading.ts';
import { type Queryable, type Statement, valuesOf } from './statement.ts';

/** Statements that stand or fall together: a transaction, or an attempt within one. */
export interface Scope {
  /** Of statements that travel together the later ones fail too, and their failures may be heard of first. */
  firstFailure: unknown;
  /** Why no statement may be sent now; null while one may. */
  closed: string | null;
  /** Of the transaction as a whole: whether it may have written something. */
  readonly written: { any: boolean };
}

/** A statement that only reads, or found nothing to write, leaves a transaction without anything to commit. */
function mayHaveWritten(
  { text }: Statement<unknown, object>,
  { command, rowCount }: pg.QueryResult,
): boolean {
  if (command === 'SELECT') return !/^\s*select\b/i.test(text);
  return rowCount !== 0 || /^\s*with\b/i.test(text);
}

/** The queries of a pool, or of the connection on which a scope is open. */
export function queryable(connection: pg.Pool | pg.PoolClient, scope?: Scope): Queryable {
  const rows = async (statement: Statement<unknown, object>, params: object | undefined) => {
    if (scope?.closed) throw new Error(`${statement.name} was sent ${scope.closed}`);
    const values = valuesOf(statement, params);
    try {
      const result = await execute(connection, statement, values);
      if (scope && mayHaveWritten(statement, result)) scope.written.any = true;
      return result;
    } catch (error) {
      if (error instanceof Error) Error.captureStackTrace(error); // who asked, instead of who read the answer
      if (scope) scope.firstFailure ??= error;
      throw asUnavailable(error);
    }
  };
  const maybe = async <Row>(statement: Statement<Row, object>, params: object | undefined) => {
    const result = await rows(statement, params);
    return (result.rows[0] as Row | undefined) ?? null;
  };
  return {
    openReading: async (id) => {
      if (scope !== undefined || !('options' in connection))
        throw new Error('a reading is no part of a transaction');
      return openReading(connection.options.connectionString ?? '', id);
    },
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
