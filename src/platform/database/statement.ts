import type { Acknowledged } from './acknowledged.ts';
import { compileSql } from './parameters.ts';

/** One SQL text with a name of its own, the shape of the rows it returns, and the values it takes by name. */
export interface Statement<Row, Params extends object = NoParams> {
  readonly name: string;
  /** With `$1`, `$2` … for the names, in the order of `names`. */
  readonly text: string;
  readonly names: readonly string[];
  /** Only for the type; never there. */
  readonly row?: Row;
  /** Only for the type; never there. */
  readonly params?: Params;
  /** How it runs for many at once; see {@link forMany}. */
  readonly many?: ForMany;
}

export interface ForMany {
  /** Whether those with the same values have the same answer. */
  readonly reads: boolean;
  /** The statement whose parameters are lists, one value for each; null: only the same values are asked for once. */
  readonly statement: Statement<unknown, object> | null;
  /** Whether its rows say whose they are. */
  readonly tellsWhich: boolean;
  /** Parameters that are JSON, which a list takes as text. */
  readonly json: ReadonlySet<string>;
}

/** What a list of a parameter's values is a list of. */
export type SqlType = 'bigint' | 'int' | 'text' | 'boolean' | 'date' | 'timestamptz' | 'jsonb';

/** What a statement takes that has no `:name` in it. */
export type NoParams = Record<never, never>;

/** What follows the statement in a call: its parameters by name, or nothing. */
export type Given<Params> = keyof Params extends never ? [] : [params: Params];

const known = new Map<string, Statement<unknown, object>>();

/**
 * Declares a statement, once, where a room keeps its SQL. `name` is `room.verb` and unique in the product. A parameter
 * stands in the text as `:serviceId`, and in `Params` with its type; the same name twice is the same value.
 * Rows come back as: bigint → number (all our ids are 53-bit safe), timestamptz → Date, date → 'YYYY-MM-DD',
 * jsonb → value, numeric is not used.
 */
export function statement<Row = never, Params extends object = NoParams>(
  name: string,
  sql: string,
): Statement<Row, Params> {
  if (known.has(name)) throw new Error(`two statements are called ${name}`);
  if (name.length > 63) throw new Error(`PostgreSQL knows 63 letters of a statement's name: ${name}`);
  const made = { name, ...compileSql(name, sql) };
  known.set(name, made);
  return made;
}

/**
 * Says how a statement runs for many at once, when they go in step (`inStep.ts`): with lists of their values. `types` are
 * those of its parameters.
 *
 * Without `sql` it is a reading statement: asked once for each of them, within one statement, and once for those who ask the same.
 * With `sql` it writes: `given` is what it selects from, a row for each, with the parameters' names as columns, and their
 * place, `nth_`, by which its rows say whose they are. Where it returns nothing it writes one row for each. It must come to what one
 * after another would, so no two of them may change the same row.
 */
export function forMany<Row, Params extends object>(
  single: Statement<Row, Params>,
  types: { readonly [Name in keyof Params]-?: SqlType },
  sql?: (given: string) => string,
): Statement<Row, Params> {
  const columns = Object.keys(types) as (string & keyof Params)[];
  const unknown = columns.filter((name) => !single.names.includes(name));
  if (unknown.length > 0 || columns.length < single.names.length)
    throw new Error(`${single.name} does not take ${unknown.join(', ') || 'so few'} for many`);
  const lists = single.names.map((name) => `:${name}::${types[name as keyof Params]}[]`).join(', ');
  const quoted = single.names.map((name) => `"${name}"`).join(', ');
  const given = `unnest(${lists}) with ordinality as given(${quoted}, nth_)`;
  const alone = single.text.replace(/\$(\d+)/g, (_, at: string) => `given."${single.names[Number(at) - 1]}"`);
  // Rows that are locked are locked in one order, by what they are asked for with, whoever goes in step with whom.
  const inOrder = /\bfor (no key )?(update|share)\b/.test(alone)
    ? `(select * from ${given} order by ${quoted}) as given`
    : given;
  // Behind the offset it stays a search by index for each of them, whatever is believed of the tables.
  const each = `select given.nth_, found.* from ${inOrder} cross join lateral (select * from (${alone}) as alone offset 0) as found`;
  const text = sql === undefined ? each : sql(given);
  return again(single, {
    reads: sql === undefined,
    statement: statement<unknown, object>(`${single.name}.many`, text),
    tellsWhich:
      sql === undefined || text.replaceAll(given, '').replaceAll('order by nth_', '').includes('nth_'),
    json: new Set(columns.filter((name) => types[name] === 'jsonb')),
  });
}

/** Says of a reading statement that those who go in step and ask the same ask once. */
export function forSame<Row, Params extends object>(single: Statement<Row, Params>): Statement<Row, Params> {
  return again(single, { reads: true, statement: null, tellsWhich: false, json: new Set() });
}

function again<Row, Params extends object>(
  single: Statement<Row, Params>,
  many: ForMany,
): Statement<Row, Params> {
  const made = { ...single, many };
  known.set(single.name, made);
  return made;
}

/** Every statement of the product; a test has the database check them all. */
export function allStatements(): Statement<unknown, object>[] {
  return [...known.values()];
}

/** The values in the order in which the statement's text numbers them. */
export function valuesOf(statement: Statement<unknown, object>, params: object | undefined): unknown[] {
  const { names } = statement;
  const values = new Array<unknown>(names.length);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] as string;
    const value = (params as Record<string, unknown> | undefined)?.[name];
    if (value === undefined) throw new Error(`${statement.name} was given no ${name}; null is a value`);
    values[at] = value;
  }
  return values;
}

/** Rows that are too many for memory, of one moment: whatever is written meanwhile is not among them. */
export interface Reading {
  /** Begins with what a statement finds. */
  begin<Params extends object>(statement: Statement<{ row: string }, Params>, params: Params): Promise<void>;
  /** Puts the next rows of it behind those that a list has; fewer than so many are the last. Who takes them out leaves no trace of them. */
  next(rows: string[], size: number): Promise<void>;
  /** Lets go of the connection. */
  end(): Promise<void>;
}

export interface Queryable {
  /**
   * Begins to read what is too much for memory, beside whatever is under way here: one at a time for an id, wherever, and few at a
   * time in this process.
   */
  openReading(id: number): Promise<Reading | 'others' | 'own'>;
  many<Row, Params extends object>(
    statement: Statement<Row, Params>,
    ...given: Given<NoInfer<Params>>
  ): Promise<Row[]>;
  /** The only row; an internal error when there is none. */
  one<Row, Params extends object>(
    statement: Statement<Row, Params>,
    ...given: Given<NoInfer<Params>>
  ): Promise<Row>;
  maybe<Row, Params extends object>(
    statement: Statement<Row, Params>,
    ...given: Given<NoInfer<Params>>
  ): Promise<Row | null>;
  /** How many rows were written. */
  run<Params extends object>(
    statement: Statement<never, Params>,
    ...given: Given<NoInfer<Params>>
  ): Promise<number>;
}

/**
 * Writes that do not need each other's answers may be sent at once, with `Promise.all`: they travel together and
 * run in the order they were sent, and after a failed one none of the later ones has an effect.
 */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
  /**
   * Runs `work` so that it can fail alone: when it throws, all that it wrote and wanted done after the commit is taken
   * back, the error comes out, and the transaction goes on. Nothing else is sent on the transaction meanwhile.
   */
  attempt<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Has `then` called once the transaction has committed; never when it rolls back. */
  afterCommit(then: () => void): void;
}

export interface Database extends Queryable {
  transaction<T>(name: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Has it noted from now on which commits were told of; only where PostgreSQL tells where its log is. */
  noteCommits(): void;
  /** The last of them on a timeline. A server that has these has every one. */
  acknowledged(timeline: string): readonly Acknowledged[];
  /** Listens on a channel over a connection of its own, which is made again when it is lost. */
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => Promise<void>>;
  /** How busy the pool is. */
  connections(): { total: number; idle: number; waiting: number };
  /** Rejects within `timeoutMs` when the database does not answer. */
  ping(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}
