import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { statement } from '../../platform/index.ts';

const services = 1_000;
const first = 6_000_000;

let product: TestProduct;
let owner: Person;

beforeAll(async () => {
  product = await startTestProduct({ env: { INVOICE_NUMBERING: 'issue' } });
  owner = await newCustomer(product);
  await sql(
    product,
    `insert into services (id, organization_id, position, user_id, product_id, invoice_id, status, provisioning_state,
       cycle, currency, first_price_minor, price_minor, duedate, period_start, anchor_day, options, holds_stock, created_at)
     select $1::bigint + i, $2, 100 + i, $3, $4, 0, 'active', 'done', 'monthly', 'EUR', 300, 300, $5::date + 10, $5::date - 20,
       extract(day from $5::date + 10), '{}', false, $5::timestamptz
     from generate_series(1, $6::int) i`,
    ...[first, owner.organizationId, owner.userId, product.demo.products.hosting],
    ...[product.clock.now(), services],
  );
});
afterAll(() => product.stop());

// As the role of the product, whose sessions they are.
const cutOff = statement<{ ended: boolean }>(
  'test.cutOff',
  `select pg_terminate_backend(pid) as ended from pg_stat_activity
   where datname = current_database() and usename = current_user and pid <> pg_backend_pid() and xact_start is not null`,
);

const renewals = () =>
  sql<{ sequence: number; service: number; batch: string }>(
    product,
    `select i.sequence::int, r.service_id::int as service, i.xmin::text as batch
     from invoices i join service_renewals r on r.invoice_id = i.id where i.organization_id = $1 order by i.sequence`,
    owner.organizationId,
  );

it('a night of a thousand renewals that is cut off takes its numbers by the batch, without a gap and none twice', async () => {
  // The product's own turn may come first: then it is that night which is cut off.
  const night = product.periodic('services.calendar').catch(() => undefined);
  await expect
    .poll(async () => (await renewals()).length, { interval: 5, timeout: 20_000 })
    .toBeGreaterThan(0);
  await expect
    .poll(async () => (await product.ctx.db.many(cutOff)).length, { interval: 5 })
    .toBeGreaterThan(0);
  const before = await renewals();
  await night;
  expect(before.length).toBeLessThan(services);
  expect(before.map(({ sequence }) => sequence)).toEqual(before.map((_, nth) => nth + 1));

  await product.periodic('services.calendar');
  await expect.poll(async () => (await renewals()).length).toBe(services);
  await settled(product);
  const all = await renewals();
  expect(all.map(({ sequence }) => sequence)).toEqual(Array.from({ length: services }, (_, nth) => nth + 1));
  expect(all.slice(0, before.length)).toEqual(before);
  expect(new Set(all.map(({ service }) => service)).size).toBe(services);
  // Whoever takes a number waits for who took the one before: a batch takes all of its own at once.
  expect(new Set(all.map(({ batch }) => batch)).size).toBeLessThanOrEqual(services / 20);
  // These services were never ordered; all else adds up.
  const ordered = /^(an ordered item without its service|something told of twice.*"service\.provisioned")/;
  expect((await audit(product.databaseUrl)).filter((wrong) => !ordered.test(wrong))).toEqual([]);
}, 60_000);
