/** One SQL text with a name of its own, and the shape of the rows it returns. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** Only for the type; never there. */
  readonly row?: Row;
}

const known = new Map<string, Statement<unknown>>();

/**
 * Declares a statement, once, where a room keeps its SQL. `name` is `room.verb` and unique in the product.
 * Rows come back as: bigint → number (all our ids are 53-bit safe), timestamptz → Date, date → 'YYYY-MM-DD',
 * jsonb → value, numeric is not used.
 */
export function statement<Row = never>(name: string, text: string): Statement<Row> {
  if (known.has(name)) throw new Error(`two statements are called ${name}`);
  const made = { name, text };
  known.set(name, made);
  return made;
}

/** Every statement of the product; a test has the database check them all. */
export function allStatements(): Statement<unknown>[] {
  return [...known.values()];
}

export interface Queryable {
  many<Row>(statement: Statement<Row>, ...values: unknown[]): Promise<Row[]>;
  /** The only row; an internal error when there is none. */
  one<Row>(statement: Statement<Row>, ...values: unknown[]): Promise<Row>;
  maybe<Row>(statement: Statement<Row>, ...values: unknown[]): Promise<Row | null>;
  /** How many rows were written. */
  run(statement: Statement<never>, ...values: unknown[]): Promise<number>;
}

/**
 * Writes that do not need each other's answers may be sent at once, with `Promise.all`: they travel together and
 * run in the order they were sent, and after a failed one none of the later ones has an effect.
 */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
  /** Has `then` called once the transaction has committed; never when it rolls back. */
  afterCommit(then: () => void): void;
}

export interface Database extends Queryable {
  transaction<T>(name: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Listens on a channel over a connection of its own, which is made again when it is lost. */
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => Promise<void>>;
  /** How busy the pool is. */
  connections(): { total: number; idle: number; waiting: number };
  /** Rejects within `timeoutMs` when the database does not answer. */
  ping(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}
