import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  type Database,
  type Queryable,
  type Statement,
  type Transaction,
  valuesOf,
} from '../src/platform/database/index.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { type House, undo } from './house.ts';
import type { Access } from './people.ts';

/** A statement as it was sent; null values and all. `begin` and `commit` have no parameters, and are their names. */
export interface Sent {
  name: string;
  text: string;
  values: unknown[];
}

/** The database, and a list of everything that is sent to it from now on. */
export function recording(db: Database, sent: Sent[]): Database {
  const note = (name: string, text = name, values: unknown[] = []) => void sent.push({ name, text, values });
  const noted = <S extends Statement<unknown, object>>(statement: S, [params]: object[]): S => {
    note(statement.name, statement.text, valuesOf(statement, params));
    return statement;
  };
  const noting = (to: Queryable): Queryable => ({
    openReading: (id) => to.openReading(id),
    many: (statement, ...given) => to.many(noted(statement, given), ...given),
    one: (statement, ...given) => to.one(noted(statement, given), ...given),
    maybe: (statement, ...given) => to.maybe(noted(statement, given), ...given),
    run: (statement, ...given) => to.run(noted(statement, given), ...given),
  });
  const inside = (tx: Transaction): Transaction => ({
    ...tx,
    ...noting(tx),
    attempt: (work) => tx.attempt((one) => work(inside(one))),
  });
  return {
    ...db,
    ...noting(db),
    transaction: async (name, work) => {
      note('begin');
      const result = await db.transaction(name, (tx) => work(inside(tx)));
      note('commit');
      return result;
    },
  };
}

/** What differs from one transaction to the next. */
export interface Variable {
  name: string;
  /** What it was when the statements were recorded; every value that is or holds it is replaced. */
  was: number;
  /** pgbench's expression, such as `random(1, 100)`. */
  is: string;
}

export interface Script {
  /**
   * Transactions a second of so many connections, each of which begins with these values of variables; for so many seconds, or so
   * many times each.
   */
  run(
    house: House,
    lasts: number | { times: number },
    connections: number,
    begin?: Readonly<Record<string, number>>,
  ): Promise<number>;
  /** How many statements a transaction has, `begin` and `commit` included. */
  statements: number;
  remove(): void;
}

/**
 * Makes a pgbench script of recorded statements: the same text, prepared, the same values, with ids chosen anew
 * for each transaction. Where an id stands inside a text or a JSON value, the server puts it in.
 */
export async function asScript(
  access: Access,
  sent: readonly Sent[],
  variables: readonly Variable[],
): Promise<Script> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'innkeeper-pgbench-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  undo.push(remove);
  const constants: string[] = [];
  const lines = variables.map(({ name, is }) => `\\set ${name} ${is}`);
  for (const { text, values } of sent) {
    const types = values.length > 0 ? await parameterTypes(access, text) : [];
    const filled = text.replace(/\$(\d+)/g, (_, number: string) => {
      const index = Number(number) - 1;
      return asParameter(values[index], types[index] ?? 'text', variables, constants);
    });
    lines.push(`${filled.replaceAll(/\s*\n\s*/g, ' ')};`);
  }
  writeFileSync(path.join(dir, 'script.sql'), `${lines.join('\n')}\n`, { mode: 0o600 });
  return {
    statements: sent.length,
    run: async (house, lasts, connections, begin = {}) => {
      const { stdout } = await runProgram([
        ...['pgbench', '-n', '-M', 'prepared', '-c', String(connections)],
        ...(typeof lasts === 'number' ? ['-T', String(lasts)] : ['-t', String(lasts.times)]),
        ...constants.flatMap((value, index) => ['-D', `c${index}=${value}`]),
        ...Object.entries(begin).flatMap(([name, value]) => ['-D', `${name}=${value}`]),
        ...['-f', path.join(dir, 'script.sql'), '-h', house.socketDir, '-U', 'innkeeper', 'innkeeper'],
      ]);
      const rate = /^tps = ([\d.]+)/m.exec(stdout)?.[1];
      if (rate === undefined || /failed transactions: [1-9]/.test(stdout))
        throw new Error(`pgbench:\n${stdout}`);
      return Number(rate);
    },
    remove,
  };
}

async function parameterTypes({ sql }: Access, text: string): Promise<string[]> {
  await sql(`prepare looked_at as ${text}`);
  const { rows } = await sql(
    `select array(select t::text from unnest(parameter_types) with ordinality p(t, n) order by n) as types
     from pg_prepared_statements where name = 'looked_at'`,
  );
  await sql('deallocate looked_at');
  return (rows[0] as { types: string[] }).types;
}

function asParameter(
  value: unknown,
  type: string,
  variables: readonly Variable[],
  constants: string[],
): string {
  if (value === null || value === undefined) return `null::${type}`;
  const same = variables.find(({ was }) => was === value);
  if (same) return `:${same.name}`;
  const text = asText(value);
  const held = variables.filter(({ was }) => text.includes(String(was)));
  const known = constants.indexOf(text);
  const constant = `:c${known < 0 ? constants.push(text) - 1 : known}`;
  if (held.length === 0) return constant;
  const filled = held.reduce(
    (inner, { name, was }) => `replace(${inner}, '${was}', (:${name})::text)`,
    constant,
  );
  return `(${filled})::${type}`;
}

/** As PostgreSQL reads it. */
function asText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (Array.isArray(value)) return `{${value.map((each) => JSON.stringify(asText(each))).join(',')}}`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
