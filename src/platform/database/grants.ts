import pg from 'pg';
import { type Queryable, statement } from './statement.ts';

// A table that only grows says so by a trigger of its own (`refuse_change`); the grants follow it, so that there is one
// list. The trigger is the second lock: it holds against the tables' owner too, who could take it away.
const appendOnly = `
  select distinct c.oid, c.relname from pg_trigger t
  join pg_proc p on p.oid = t.tgfoid and p.proname = 'refuse_change'
  join pg_class c on c.oid = t.tgrelid and c.relnamespace = current_schema()::regnamespace
  where not t.tgisinternal`;

const tables = `
  select c.oid, c.relname, c.relname = 'schema_migrations' as is_ours from pg_class c
  where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace`;

// What runs as the tables' owner, whoever calls it: nobody may but whom it is granted.
const ownersFunctions = `
  select p.oid::regprocedure::text as signature from pg_proc p
  where p.prosecdef and p.pronamespace = current_schema()::regnamespace and not has_function_privilege($1, p.oid, 'execute')
  order by 1`;

/**
 * Lets the application's role work with the tables and no more: it reads and writes rows, may only read and add where a
 * table only grows (the journal, the ledger), calls what runs as the owner, and changes no table. The connection is the owner's; nothing is
 * written when all is granted already.
 */
export async function grantTo(owner: pg.Client, role: string): Promise<void> {
  const name = pg.escapeIdentifier(role);
  const { rows } = await owner.query<{ relname: string; is_ours: boolean; grows: boolean }>(
    `select t.relname, t.is_ours, g.oid is not null as grows from (${tables}) t left join (${appendOnly}) g using (oid)
     where case
       when t.is_ours then not has_table_privilege($1, t.oid, 'select')
       when g.oid is null then not (has_table_privilege($1, t.oid, 'select') and has_table_privilege($1, t.oid, 'insert')
         and has_table_privilege($1, t.oid, 'update') and has_table_privilege($1, t.oid, 'delete'))
       else not (has_table_privilege($1, t.oid, 'select') and has_table_privilege($1, t.oid, 'insert'))
         or has_table_privilege($1, t.oid, 'update, delete, truncate') or has_any_column_privilege($1, t.oid, 'update')
       end order by t.relname`,
    [role],
  );
  const { rows: functions } = await owner.query<{ signature: string }>(ownersFunctions, [role]);
  if (rows.length === 0 && functions.length === 0) return;
  await owner.query('begin');
  try {
    const { rows: schemas } = await owner.query<{ schema: string }>('select current_schema() as schema');
    const schema = pg.escapeIdentifier(schemas[0]?.schema ?? 'public');
    await owner.query(`grant usage on schema ${schema} to ${name}`);
    await owner.query(`grant usage, select on all sequences in schema ${schema} to ${name}`);
    for (const { relname, is_ours, grows } of rows) {
      const table = pg.escapeIdentifier(relname);
      const may = is_ours ? 'select' : grows ? 'select, insert' : 'select, insert, update, delete';
      await owner.query(`revoke all on ${table} from ${name}; grant ${may} on ${table} to ${name}`);
    }
    for (const { signature } of functions)
      await owner.query(`grant execute on function ${signature} to ${name}`);
    await owner.query('commit');
  } catch (error) {
    await owner.query('rollback');
    throw error;
  }
}

/** Lets a role take away what the journal keeps no longer, and no more. Nothing is written when it may already. */
export async function grantRetention(owner: pg.Client, role: string): Promise<void> {
  const { rows } = await owner.query<{ may: boolean; schema: string }>(
    `select has_table_privilege($1, 'journal', 'delete') and has_table_privilege($1, 'journal', 'select')
       and has_table_privilege($1, 'journal_horizon', 'update') and has_table_privilege($1, 'journal_horizon', 'select')
       as may, current_schema() as schema`,
    [role],
  );
  const [found] = rows;
  if (found === undefined || found.may) return;
  const name = pg.escapeIdentifier(role);
  await owner.query(
    `grant usage on schema ${pg.escapeIdentifier(found.schema)} to ${name}; grant select, delete on journal to ${name};
     grant select, update on journal_horizon to ${name}`,
  );
}

const rewritable = statement<{ role: string; tables: string[] }>(
  'database.rewritable',
  `select current_user::text as role, coalesce(array_agg(g.relname::text order by g.relname), '{}') as tables
   from (${appendOnly}) g where has_table_privilege(g.oid, 'update, delete, truncate')`,
);

/** The role of these connections, and the tables that only grow and that it could change all the same. */
export function rewritableTables(db: Queryable): Promise<{ role: string; tables: string[] }> {
  return db.one(rewritable);
}

/** The role that a URL connects as. */
export async function roleOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ role: string }>('select current_user as role');
    return rows[0]?.role ?? '';
  } finally {
    await client.end();
  }
}
