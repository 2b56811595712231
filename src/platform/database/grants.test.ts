import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { migrate } from './migrate.ts';

const { url, applicationUrl, retentionUrl } = inject('postgres');
/** A PostgreSQL of somebody's own may have one role alone. */
const hasTwo = url !== applicationUrl;

const grows = [
  'earnings',
  'journal',
  'ledger_entries',
  'ledger_period_sums',
  'ledger_period_transactions',
  'ledger_transactions',
  'recurring_changes',
];

let database: TestDatabase;
let application: pg.Client;
beforeAll(async () => {
  database = await testDatabase();
  application = new pg.Client({ connectionString: database.applicationUrl });
  await application.connect();
});
afterAll(async () => {
  await application.end();
  await database.drop();
});

describe.skipIf(retentionUrl === null)('the role by which the journal is cleared', () => {
  it('may take entries away and nothing else, which the owner of the table may not either', async () => {
    const [owner, retention] = [database.url, database.retentionUrl ?? ''].map(
      (connectionString) => new pg.Client({ connectionString }),
    ) as [pg.Client, pg.Client];
    await Promise.all([owner.connect(), retention.connect()]);
    try {
      await owner.query(
        `insert into journal (action, subject_type, subject_id, actor_type, data, created_at)
         select 'test.seen', 'test', n, 'system', '{}', now() - n * interval '88 days' from generate_series(1, 3) n`,
      );
      await expect(owner.query('delete from journal where subject_id = 2')).rejects.toThrow('append-only');
      await expect(owner.query('update journal set data = data')).rejects.toThrow('append-only');
      await expect(retention.query('update journal set data = data')).rejects.toThrow('permission denied');
      await expect(retention.query('truncate journal')).rejects.toThrow('permission denied');
      await expect(retention.query('insert into journal default values')).rejects.toThrow(
        'permission denied',
      );
      expect((await retention.query('delete from journal where subject_id = 2')).rowCount).toBe(1);
      await expect(retention.query('delete from journal where subject_id = 1')).rejects.toThrow('younger');
      await expect(retention.query(`select forget_in_journal(1, '', 1)`)).rejects.toThrow(
        'permission denied',
      );
      const { rows } = await retention.query<{ name: string }>(
        `select c.relname as name from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
           and has_table_privilege(c.oid, 'select, insert, update, delete, truncate') order by 1`,
      );
      expect(rows.map(({ name }) => name)).toEqual(['journal', 'journal_horizon']);
    } finally {
      await Promise.all([owner.end(), retention.end()]);
    }
  });
});

describe.skipIf(!hasTwo)("the application's role", () => {
  it.each(grows)('may read and add to %s, and neither change nor remove', async (table) => {
    const { fields } = await application.query(`select * from ${table} limit 1`);
    const column = fields[1]?.name; // the first may be an id that nobody can set
    for (const text of [
      `update ${table} set ${column} = ${column}`,
      `delete from ${table}`,
      `truncate ${table}`,
      `alter table ${table} disable trigger user`,
      `drop table ${table}`,
      `select * from ${table} for update`,
    ]) {
      await expect(application.query(text), text).rejects.toThrow(/permission denied|must be owner/);
    }
  });

  it('runs nothing of its own as the owner of the tables', async () => {
    const [stranger, owner] = [database.applicationUrl, database.url].map(
      (connectionString) => new pg.Client({ connectionString }),
    ) as [pg.Client, pg.Client];
    await Promise.all([stranger.connect(), owner.connect()]);
    try {
      // A table of theirs that looks like the product's, with code that tells as whom it is run.
      await stranger.query(`
        create temp table users (id bigint, status text);
        insert into users values (1, 'closed');
        create function pg_temp.tell() returns boolean language plpgsql as $$
          begin raise exception 'run as %', current_user; end $$;
        alter table users enable row level security;
        alter table users force row level security;
        create policy told on users using (pg_temp.tell());
        grant all on users to public`);
      await expect(stranger.query(`select forget_in_journal(1, '', 1)`)).rejects.toThrow(
        'account 1 is not closed',
      );
      const { rows } = await owner.query<{ proname: string; paths: string[] }>(
        `select proname, proconfig as paths from pg_proc where prosecdef and pronamespace = 'public'::regnamespace`,
      );
      expect(rows.map(({ proname }) => proname)).toEqual([
        'empty_server_traffic',
        'empty_shield_traffic',
        'empty_vps_charts',
        'forget_in_books',
        'forget_in_journal',
      ]);
      for (const { paths } of rows) expect(paths).toEqual(['search_path=pg_catalog, public, pg_temp']);
    } finally {
      await Promise.all([stranger.end(), owner.end()]);
    }
  });

  it('may change every other table, and no migration', async () => {
    const { rows } = await application.query<{ name: string; writes: boolean }>(
      `select c.relname as name, has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update')
         and has_table_privilege(c.oid, 'delete') as writes
       from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`,
    );
    const readOnly = rows.filter(({ writes }) => !writes).map(({ name }) => name);
    expect(readOnly).toEqual([...grows, 'schema_migrations'].toSorted());
  });

  it('loses what somebody granted by hand at the next start, which writes nothing when all is right', async () => {
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    try {
      const { rows } = await application.query<{ role: string }>('select current_user as role');
      const role = rows[0]?.role ?? '';
      await owner.query(`grant update on journal to ${pg.escapeIdentifier(role)}`);
      await application.query('update journal set data = data where false');
      await migrate(database.url, { grantedTo: role });
      await expect(application.query('update journal set data = data where false')).rejects.toThrow(
        'permission denied',
      );
      const acls = () => owner.query('select xmin::text, relname from pg_class order by relname');
      const before = (await acls()).rows;
      await migrate(database.url, { grantedTo: role });
      expect((await acls()).rows).toEqual(before);
    } finally {
      await owner.end();
    }
  });
});
