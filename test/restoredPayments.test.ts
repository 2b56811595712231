/** What customers paid after the backup that is restored: the payment provider knows of it, and we are to find it. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../src/commands/index.ts';
import { readConfig } from '../src/config.ts';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { until } from './product.ts';
import { sql } from './sql.ts';
import { stripeEnv } from './stripe/product.ts';
import { type StripeStandIn, startStripe } from './stripe/standIn.ts';

let database: TestDatabase;
let stripe: StripeStandIn;
let dir: string;
let product: Child;

const command = (...argv: string[]) =>
  runCommand(readConfig({ DATABASE_URL: database.url, DATA_DIR: dir, LOG_LEVEL: 'silent' }), argv);

async function start(): Promise<void> {
  const env = { DATABASE_URL: database.url, HYPERVISOR: 'simulator', ...stripeEnv(stripe) };
  product = await startChild(dir, env);
  stripe.events.sendTo(`${product.url}/api/payments/stripe/events`);
}

function customer(): Client {
  const { api_key: token, organization_id: organizationId } = product.demo.customer;
  return apiClient(`${product.url}/api`, { token, organizationId });
}

const staff = (): Client => apiClient(`${product.url}/api`, { token: product.demo.staff.api_key });
const invoice = async (id: number) => (await customer().get(`/dashboard/invoices/${id}`)).body.data?.invoice;
const isPaid = (id: number) =>
  until(
    () => invoice(id),
    (found) => found?.status === 'paid',
    // The comparison begins within a minute of the start.
    150_000,
  );

async function order(): Promise<number> {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { body } = await customer().post('/cart/checkout/invoice', { products: [item] });
  return body.data.invoice_id;
}

/** As the turn of each minute begins it, of the last restore: that it does so by itself is seen once. */
const compare = () =>
  sql(
    { databaseUrl: database.url },
    `insert into jobs (name, payload, run_at, created_at)
     select 'billing.compareWithProvider', jsonb_build_object('driver', 'stripe', 'restore', max(id)), now(), now() from restores`,
  );

/** Once the provider was compared, staff lets go on what the restore holds. */
async function releaseHeld(): Promise<void> {
  const { concerns } = (await staff().get('/staff/attention')).body.data;
  const [held] = concerns.filter(({ kind }: { kind: string }) => kind === 'restore.held');
  await until(
    () => staff().post(`/staff/restores/${held.subject.id}/release`, {}),
    ({ status }) => status === 200,
    150_000,
  );
}

async function payOnPage(id: number): Promise<void> {
  const { body } = await customer().post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
  const link = product.url + new URL(body.data.redirect_url).pathname;
  const answer = await fetch(link, { redirect: 'manual' });
  await stripe.click(answer.headers.get('location') ?? '');
  await isPaid(id);
}

beforeAll(async () => {
  database = await testDatabase();
  dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-restored-payments-'));
  stripe = await startStripe();
  await start();
}, 180_000);
afterAll(async () => {
  await product?.end('SIGTERM');
  await stripe.close();
  await database.drop();
  await removeDataDir(dir);
});

it('what was paid since the backup is booked for its invoice, or waits for a person where that is gone', async () => {
  const known = await order();
  const [backup = ''] = (await command('backup', '--quick')).split(' ', 1);
  await payOnPage(known);
  const gone = await order();
  await payOnPage(gone);
  const taken = stripe.account.balance('eur');

  await product.end('SIGTERM');
  stripe.events.sendTo(null);
  await command('restore', backup, '--replace');
  await start();
  expect((await customer().get(`/dashboard/invoices/${gone}`)).status).toBe(404);
  await isPaid(known);

  const waiting = await until(
    async () => (await staff().get('/staff/unknown-payments')).body.data.payments,
    (payments) => payments.length > 0,
    60_000,
  );
  expect(waiting).toMatchObject([{ amount: '3.00', currency: 'EUR', told_invoice_id: gone, state: 'open' }]);
  expect(waiting[0].organization.id).toBe(product.demo.customer.organization_id);
  // A person has it ordered again, and the money pays for it.
  const again = await order();
  const booking = { invoice_id: again };
  expect((await staff().post(`/staff/unknown-payments/${waiting[0].id}/book`, booking)).status).toBe(200);
  await isPaid(again);
  const [ledger] = await sql<{ minor: number }>(
    { databaseUrl: database.url },
    `select coalesce(sum(e.amount_minor), 0)::bigint as minor from ledger_entries e
     join ledger_accounts a on a.id = e.account_id where a.kind = 'provider'`,
  );
  expect(Number(ledger?.minor)).toBe(taken);
}, 600_000);

it('what was charged by itself since the backup is not charged a second time', async () => {
  const at = { databaseUrl: database.url };
  stripe.events.sendTo(`${product.url}/api/payments/stripe/events`);
  // What the restore before this one holds.
  await releaseHeld();
  const saving = await customer().post('/dashboard/payment-methods');
  const page = await fetch(product.url + new URL(saving.body.data.redirect_url).pathname, {
    redirect: 'manual',
  });
  await stripe.click(page.headers.get('location') ?? '');
  await until(
    async () => (await customer().get('/dashboard/payment-methods')).body.data.payment_methods,
    (methods) => methods.length > 0,
  );
  const id = await order();
  // As a first try leaves it that was declined.
  await sql(
    at,
    `insert into jobs (name, organization_id, payload, run_at, not_before, created_at)
     values ('billing.chargeAgain', $1, $2, now() + interval '1 day', now() + interval '1 day', now())`,
    ...[product.demo.customer.organization_id, { invoiceId: id }],
  );
  const nextDay = () =>
    sql(
      at,
      `update jobs set run_at = now(), not_before = now() where name = 'billing.chargeAgain' and state = 'ready'`,
    );
  const [backup = ''] = (await command('backup', '--quick')).split(' ', 1);
  await nextDay();
  await isPaid(id);
  const taken = stripe.account.balance('eur');

  await product.end('SIGTERM');
  stripe.events.sendTo(null);
  await command('restore', backup, '--replace');
  await nextDay();
  await start();
  await until(
    () =>
      sql<{ later: boolean }>(
        at,
        `select run_at > now() as later from jobs where name = 'billing.chargeAgain' and state = 'ready'`,
      ),
    ([job]) => job === undefined || job.later,
  );
  await compare();
  await releaseHeld();
  await isPaid(id);
  await nextDay();
  await until(
    () =>
      sql(
        at,
        `select from jobs where name in ('billing.chargeAgain', 'billing.chargeSaved') and state in ('ready', 'running')`,
      ),
    (open) => open.length === 0,
  );
  expect(stripe.account.balance('eur')).toBe(taken);
}, 600_000);
