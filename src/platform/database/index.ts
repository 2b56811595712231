/**
 * The database: PostgreSQL through named statements. A room writes its SQL once as a `statement`, with the
 * shape of its rows, and runs it through `ctx.db`; the server parses and plans it once a connection.
 */
export { connect } from './connect.ts';
export { rewritableTables, roleOf } from './grants.ts';
export { inStep } from './inStep.ts';
export { migrate } from './migrate.ts';
export { requireOwnSessions } from './sessions.ts';
export { standbyRisk } from './standby.ts';
export {
  allStatements,
  type Database,
  forMany,
  forSame,
  type Queryable,
  type Reading,
  type Statement,
  statement,
  type Transaction,
  valuesOf,
} from './statement.ts';
