import pg from 'pg';
import { createApiKey } from '../src/account/index.ts';
import { readConfig } from '../src/config.ts';
import { gatherReactions } from '../src/events/index.ts';
import { prepareDataDir } from '../src/platform/host/dataDir.ts';
import {
  type Context,
  connect,
  createLog,
  createSeal,
  type Database,
  readSecretKey,
  systemActor,
  systemClock,
  transaction,
} from '../src/platform/index.ts';
import { allReactions } from '../src/worker.ts';
import type { House } from './house.ts';
import { growthMib, nowMs, spreadOf } from './measure.ts';
import type { Figure } from './table.ts';

/** Ids of what the bench makes are counted from here, so that a script can choose one by its number. */
export const firstId = 1_000_000_000_000;

export interface Person {
  token: string;
  userId: number;
  organizationId: number;
}

/** A way into the product's database beside the product, as the bench's own hands. */
export interface Access {
  ctx: Context & { db: Database };
  sql(text: string, values?: unknown[]): Promise<pg.QueryResult>;
  close(): Promise<void>;
}

export async function openAccess(house: House, env: Record<string, string> = {}): Promise<Access> {
  const config = readConfig({ DATA_DIR: house.dataDir, RATE_LIMITS: 'off', ...env });
  const log = createLog('warn');
  const db = connect(house.databaseUrl, { log, poolSize: 2 });
  const client = new pg.Client({ connectionString: house.databaseUrl });
  await client.connect();
  const { dir } = await prepareDataDir(house.dataDir);
  return {
    ctx: {
      db,
      config,
      log,
      clock: systemClock,
      seal: createSeal(readSecretKey(dir, null)),
      reactions: gatherReactions(allReactions),
      actor: systemActor,
      organizationId: null,
      requestId: 'bench',
    },
    sql: (text, values) => client.query(text, values),
    close: async () => {
      await client.end();
      await db.close();
    },
  };
}

/**
 * So many people, each with a key and an organization of their own, which has been a customer before: so each of them may
 * have a hundred orders that are not paid, and no limit has to be lifted.
 */
export async function settle(access: Access, count: number): Promise<Person[]> {
  const range = `generate_series(1, ${count}) i`;
  const id = `${firstId} + i`;
  await access.sql('begin');
  await access.sql(`insert into users (id, email, password_hash, default_organization_id, created_at, updated_at)
    select ${id}, 'person' || i || '@example.com', '', ${id}, now(), now() from ${range}`);
  await access.sql(`insert into organizations (id, name, country, created_at)
    select ${id}, 'Organization ' || i, null, now() from ${range}`);
  await access.sql(`insert into memberships (organization_id, user_id, role, joined_at)
    select ${id}, ${id}, 'owner', now() from ${range}`);
  await access.sql(`insert into invoice_series (prefix, last) values ('BENCH-', ${count})`);
  await access.sql(`insert into invoices (id, organization_id, position, series, sequence, number, issued_at, kind, status,
      currency, subtotal_minor, discount_minor, tax_minor, total_minor, paid_minor, tax_rate_basis_points, tax_exempt,
      expires_at, date_paid, created_at)
    select ${id}, ${id}, 1, 'BENCH-', i, 'BENCH-' || i, now(), 'order', 'paid', 'EUR', 100, 0, 0, 100, 100, 0, true,
      now(), now(), now()
    from ${range}`);
  await access.sql('commit');
  return transaction(access.ctx, 'bench.keys', async (tx) => {
    const people: Person[] = [];
    for (let i = 1; i <= count; i += 1) {
      const { key } = await createApiKey(tx, firstId + i, 'Bench');
      people.push({ token: key, userId: firstId + i, organizationId: firstId + i });
    }
    return people;
  });
}

/** Services that run, so many in an organization; `product` is what was bought. */
export async function fillServices(
  access: Access,
  organization: { id: number; userId: number },
  options: { count: number; firstServiceId: number; product: number },
): Promise<void> {
  await access.sql(
    `insert into services (id, organization_id, position, user_id, product_id, invoice_id, status, provisioning_state,
       domain, cycle, currency, first_price_minor, price_minor, duedate, options, holds_stock, created_at)
     select $1::bigint + i, $2, had.position + i, $3, $4, 0, 'active', 'done', 'web' || i || '.example.com', 'monthly', 'EUR', 400,
       400, '2030-01-01', '{"option1": 1, "option2": 10, "option3": 1, "option4": 1, "option6": "tiny", "option8": "AMS"}', false, now() - i * interval '1 second'
     from generate_series(1, $5::bigint) i,
       (select coalesce(max(position), 0) as position from services where organization_id = $2) had`,
    [options.firstServiceId, organization.id, organization.userId, options.product, options.count],
  );
}

/**
 * The export of an account with so many entries in the journal, read as fast as it comes: what the process grows by meanwhile,
 * at most.
 */
export async function measureExport(
  house: House,
  access: Access,
  [person, another]: readonly Person[],
  rows: number,
): Promise<Figure[]> {
  if (person === undefined || another === undefined) throw new Error('nobody is there to be exported');
  await access.sql(
    `insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, data, created_at)
     select $1::bigint, 'bench.row', 'bench', i, 'user', $2::bigint, '{"text": "as long as most of them are, more or less"}', now()
     from generate_series(1, $3::int) i`,
    [person.organizationId, person.userId, rows],
  );
  await access.sql('analyze journal');
  await readExport(house, another); // what is loaded once is loaded
  const began = nowMs();
  const read = await growthMib(house.pid, () => readExport(house, person));
  const seconds = (nowMs() - began) / 1_000;
  const mib = Math.round(read.result / 1_048_576);
  const name = `Export of an account with ${rows.toLocaleString('en')} rows`;
  return [
    {
      name: `${name}: memory it takes at most`,
      against: 'the process before',
      value: spreadOf([read.mib]),
      unit: 'MiB',
      target: { atMost: 64 },
      amounts: `${mib} MiB in ${seconds.toFixed(1)} s, ${Math.round(rows / seconds).toLocaleString('en')} rows a second`,
      limit: 'garbage that is not collected yet; two hundred rows are held at a time',
    },
    {
      name: `${name}: what comes in its later half`,
      against: 'the most in its first half',
      value: spreadOf([read.lateMib]),
      unit: 'MiB',
      target: { atMost: 16 },
      amounts: `of ${read.mib.toFixed(0)} MiB`,
      limit: 'garbage that is not collected yet',
    },
  ];
}

async function readExport(house: House, { token, organizationId }: Person): Promise<number> {
  const headers = { token, 'x-organization-id': String(organizationId) };
  const answer = await fetch(`${house.url}/api/dashboard/account/export`, { headers });
  if (answer.status !== 200 || answer.body === null) throw new Error(`the export answered ${answer.status}`);
  let bytes = 0;
  for await (const chunk of answer.body) bytes += chunk.length;
  return bytes;
}
