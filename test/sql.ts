import pg from 'pg';
import { until } from './product.ts';

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

export interface OnDatabase {
  databaseUrl: string;
}

/** Connections that are kept for a moment: whoever waits for something asks every few milliseconds. */
const pools = new Map<string, pg.Pool>();

function poolOf({ databaseUrl }: OnDatabase): pg.Pool {
  const kept = pools.get(databaseUrl);
  if (kept !== undefined) return kept;
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    types,
    max: 20,
    idleTimeoutMillis: 500,
    allowExitOnIdle: true,
  });
  // A database that is dropped, or whose server goes away, cuts off those that wait here.
  pool.on('error', () => undefined);
  pools.set(databaseUrl, pool);
  return pool;
}

/** Runs one SQL text on the product's database, past the product: to arrange what no endpoint can, or to look. */
export async function sql<Row extends object>(
  product: OnDatabase,
  text: string,
  ...values: unknown[]
): Promise<Row[]> {
  return (await poolOf(product).query<Row>(text, values)).rows;
}

/** Measurements, checks, and how far a reader of the journal came: the product makes them by itself whatever a test does. */
const measured = ['vps_samples', 'vps_traffic', 'shield_counts', 'ledger_checks', 'webhook_cursor'];
/** The same of what comes to addresses, and of charts, with the parts that it is kept in. */
const traffic = /^(shield_(traffic|flows)|vps_charts)(_|$)/;
const moments = ['seen_at', 'last_seen_at', 'last_used_at', 'last_used_ip', 'last_activity_at'];

/**
 * Every row of every table as text, by table: what must be the same before and after a request that failed.
 * What changes by itself is left out: measurements, and the moments at which nodes, sessions and people were seen last.
 */
export async function contents(product: OnDatabase): Promise<Record<string, string[]>> {
  const tables = (await tableNames(product)).filter(
    (name) => !measured.includes(name) && !traffic.test(name),
  );
  const parts = tables.map(
    (name) => `select '${name}' as name, (to_jsonb(t) - $1::text[])::text as row from "${name}" t`,
  );
  const rows = await sql<{ name: string; row: string }>(
    product,
    `select name, row from (${parts.join(' union all ')}) everything order by name, row`,
    moments,
  );
  const found: Record<string, string[]> = Object.fromEntries(tables.map((name) => [name, []]));
  for (const { name, row } of rows) found[name]?.push(row);
  return found;
}

/** The product's tables; how far its migrations have come is none of them. */
export async function tableNames(product: OnDatabase): Promise<string[]> {
  const rows = await sql<{ name: string }>(
    product,
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'schema_migrations' order by 1`,
  );
  return rows.map((row) => row.name);
}

/** Waits until the workers have nothing left to do. */
export async function settled(product: OnDatabase, timeoutMs?: number): Promise<void> {
  await until(
    () => sql(product, `select name, state, error_message from jobs where state in ('ready', 'running')`),
    (jobs) => jobs.length === 0,
    timeoutMs,
  );
}

/**
 * The same as {@link contents} once the workers have nothing left to do: what follows by itself from what a test did before,
 * such as its mails, is no change of the request that it looks at.
 */
export async function settledContents(product: OnDatabase): Promise<Record<string, string[]>> {
  await settled(product);
  return contents(product);
}

/** From here on a row of a table cannot be changed, until its trigger `is_broken` is dropped. */
export async function broken(product: OnDatabase, table: string, id: number): Promise<void> {
  await sql(
    product,
    `create or replace function is_broken() returns trigger language plpgsql as $$ begin raise 'row % is broken', old.id; end $$`,
  );
  await sql(
    product,
    `create trigger is_broken before update on ${table} for each row when (old.id = ${Number(id)})
     execute function is_broken()`,
  );
}
