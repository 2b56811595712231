/** Two versions of the product side by side on one database, as while processes are brought to a newer one after another. */
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { orderVps } from './orders.ts';
import { until } from './product.ts';
import { sql } from './sql.ts';

const root = path.join(import.meta.dirname, '..');
const secretKey = randomBytes(32).toString('base64');
const dirs: string[] = [];
let database: TestDatabase;
let newerFolder: string;
let older: Child;
let newerApi: Child;
let newerWorker: Child | null = null;

/** This version with a migration more, and a job more that follows from a payment. */
function makeNewer(): string {
  const folder = newDir('newer');
  for (const name of ['src', 'migrations', 'package.json'])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(
    path.join(folder, 'migrations/9999_newer.sql'),
    'create table newer_thanks (invoice_id bigint primary key); alter table invoices add column newer text;\n',
  );
  const file = path.join(folder, 'src/worker.ts');
  const text = readFileSync(file, 'utf8');
  const changed = text
    .replace(
      'const second = 1_000;',
      `import { invoicePaid } from './billing/index.ts';
       import { on } from './events/index.ts';
       import { statement } from './platform/index.ts';
       const thank = statement<never, { id: number }>('newer.thank', 'insert into newer_thanks values (:id)');
       const thanking = on(invoicePaid, 'newer.thank', (tx, { subject }) => tx.db.run(thank, { id: subject.id }));
       const second = 1_000;`,
    )
    .replace('export const allReactions: Reaction[] = [', '$& thanking,');
  writeFileSync(file, changed);
  return folder;
}

function newDir(name: string): string {
  const dir = mkdtempSync(path.join(tmpdir(), `innkeeper-${name}-`));
  dirs.push(dir);
  return dir;
}

const start = (env: Record<string, string>, folder?: string, dataDir = newDir('rolling')) =>
  startChild(
    dataDir,
    {
      DATABASE_URL: database.applicationUrl,
      DATABASE_OWNER_URL: database.url,
      SECRET_KEY: secretKey,
      HYPERVISOR: 'simulator',
      ...env,
    },
    undefined,
    folder,
  );
const rows = (text: string, ...values: unknown[]) => sql({ databaseUrl: database.url }, text, ...values);
const customerOf = ({ url }: Child): Client => {
  const { api_key: token, organization_id: organizationId } = older.demo.customer;
  return apiClient(`${url}/api`, { token, organizationId });
};

/** Orders a machine, pays it, and waits until it is delivered. */
async function delivered(by: Child): Promise<number> {
  const customer = customerOf(by);
  const { serviceId, invoiceId } = await orderVps(older, customer);
  await customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  await until(
    async () => (await customer.get(`/dashboard/services/${serviceId}`)).body.data.service.status,
    (status) => status === 'active',
  );
  return invoiceId;
}

beforeAll(async () => {
  database = await testDatabase();
  newerFolder = makeNewer();
  older = await start({});
  newerApi = await start({ ROLE: 'api' }, newerFolder);
});
afterAll(async () => {
  for (const each of [newerWorker, newerApi, older]) await each?.end('SIGTERM');
  for (const dir of dirs)
    if (dir === newerFolder) rmSync(dir, { recursive: true });
    else await removeDataDir(dir);
  await database?.drop();
});

it('while the database is a version ahead, what runs goes on, and jobs that it does not know wait untouched', async () => {
  await delivered(older);
  const invoiceId = await delivered(newerApi);
  // Time enough for the older worker to take it up, if it did.
  await delivered(older);
  const waiting = await rows(
    `select state, attempts, error_code, worker, payload->'subject'->>'id' as invoice from jobs where name = 'newer.thank'`,
  );
  const untouched = { state: 'ready', attempts: 0, error_code: null, worker: null };
  expect(waiting).toEqual([{ ...untouched, invoice: String(invoiceId) }]);
  const staff = apiClient(`${older.url}/api`, { token: older.demo.staff.api_key });
  expect((await staff.get('/staff/attention')).body.data.concerns).toEqual([]);
  expect(older.output()).not.toMatch(/stumbled|"level":"error"/);
});

it('a newer worker does them, beside an older one that goes on with the rest', async () => {
  newerWorker = await start({ ROLE: 'worker', NODE_NAME: 'node-2' }, newerFolder);
  const thanked = () => rows('select from newer_thanks');
  await until(thanked, (thanks) => thanks.length === 1);
  await delivered(newerApi);
  await delivered(older);
  await until(thanked, (thanks) => thanks.length === 2);
});

it('an older one that starts again is refused, and says that a newer version is needed', async () => {
  const said = await start({ ROLE: 'api' }).catch((error: Error) => error.message);
  expect(said).toContain(
    'The database has 9999_newer.sql, which this version does not know: start a newer version.',
  );
});
