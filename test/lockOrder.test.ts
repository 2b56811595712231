import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice, payByCredit } from './invoices.ts';
import { runningVps } from './orders.ts';
import { newCustomer, type Person } from './people.ts';
import { startTestProduct, type TestProduct, until } from './product.ts';
import { settled, sql } from './sql.ts';

// Where invoices have a number from their issue on, giving one up takes a credit note, which the organization's row numbers.
let product: TestProduct;
let person: Person;
beforeAll(async () => {
  product = await startTestProduct({ env: { INVOICE_NUMBERING: 'issue' } });
  person = await newCustomer(product, { creditMinor: 100_000 });
});
afterAll(() => product.stop());

const refusal = { reason: 'a test' };

async function delivered(): Promise<{ invoiceId: number; serviceId: number }> {
  const invoiceId = await newInvoice(product, person);
  await payByCredit(person, invoiceId);
  await settled(product);
  const [row] = await sql<{ id: number }>(
    product,
    'select id from services where invoice_id = $1',
    invoiceId,
  );
  const serviceId = row?.id ?? 0;
  await product.staff.post(`/staff/services/${serviceId}/deliver`, {});
  await settled(product);
  return { invoiceId, serviceId };
}

/** Does something while somebody else has the organization's row, and says which of the others it has taken meanwhile. */
async function takenMeanwhile(
  work: () => Promise<unknown>,
  other = 0,
  held = 'for update',
): Promise<string[]> {
  const holder = new pg.Client({ connectionString: product.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(`select id from organizations where id = $1 ${held}`, [person.organizationId]);
    const done = work();
    await until(
      () =>
        sql(
          product,
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      (waiting) => waiting.length > 0,
    );
    const taken: string[] = [];
    for (const table of ['services', 'invoices', 'transfers']) {
      const all = await sql(
        product,
        `select id from ${table} where organization_id in ($1, $2)`,
        ...[person.organizationId, other],
      );
      const free = await sql(
        product,
        `select id from ${table} where organization_id in ($1, $2) for no key update skip locked`,
        ...[person.organizationId, other],
      );
      if (free.length < all.length) taken.push(table);
    }
    await holder.query('rollback');
    await done;
    await settled(product);
    return taken;
  } finally {
    await holder.end();
  }
}

it.each<[string, () => Promise<() => Promise<unknown>>]>([
  [
    'ends a service with an open renewal',
    async () => {
      const { serviceId } = await delivered();
      await person.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'monthly' });
      return () => product.staff.post(`/staff/services/${serviceId}/terminate`, refusal);
    },
  ],
  [
    'refuses an order',
    async () => {
      await product.staff.patch('/staff/settings', { review: { first_orders: false, services: 1 } });
      const invoiceId = await newInvoice(product, person);
      await payByCredit(person, invoiceId);
      await settled(product);
      return () => product.staff.post(`/staff/orders/${invoiceId}/refuse`, refusal);
    },
  ],
  [
    'takes a transfer back',
    async () => {
      const invoiceId = await newInvoice(product, person);
      const path = `/staff/organizations/${person.organizationId}/transfers`;
      const money = { amount: '3.00', currency: 'EUR', reference: `T-${invoiceId}` };
      const sent = await product.staff.post(path, { ...money, invoices: [{ invoice_id: invoiceId }] });
      await settled(product);
      return () => product.staff.post(`/staff/transfers/${sent.body.data.transfer.id}/take-back`, refusal);
    },
  ],
  [
    'lets an order expire',
    async () => {
      await newInvoice(product, person);
      product.clock.travel(6 * 86_400_000);
      return () => product.periodic('billing.expire');
    },
  ],
  [
    'gives back a renewal that came too late',
    async () => {
      const { serviceId } = await delivered();
      const { data } = (await person.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'monthly' }))
        .body;
      await sql(product, `update services set status = 'terminated' where id = $1`, serviceId);
      return () => payByCredit(person, data.invoice_id);
    },
  ],
  [
    'gives back a size that came too late',
    async () => {
      const { serviceId } = await runningVps(product, person);
      const path = `/dashboard/services/${serviceId}/upgrade-vps`;
      const { data } = (await person.post(path, { option3: 2 })).body;
      await sql(product, `update services set status = 'terminated' where id = $1`, serviceId);
      return () => payByCredit(person, data.invoice_id);
    },
  ],
])('whoever %s waits for the organization before anything else', async (_, arrange) => {
  const work = await arrange();
  expect(await takenMeanwhile(work)).toEqual([]);
});

it.each<[string, () => Promise<() => Promise<unknown>>]>([
  [
    'books a transfer',
    async () => {
      const invoiceId = await newInvoice(product, person);
      const path = `/staff/organizations/${person.organizationId}/transfers`;
      const money = { amount: '3.00', currency: 'EUR', reference: `B-${invoiceId}` };
      return () => product.staff.post(path, { ...money, invoices: [{ invoice_id: invoiceId }] });
    },
  ],
  [
    'books what an invoice asks for',
    async () => {
      const invoiceId = await newInvoice(product, person);
      const money = { amount: '3.00', reference: `I-${invoiceId}` };
      return () => product.staff.post(`/staff/invoices/${invoiceId}/payments`, money);
    },
  ],
  [
    'gives credit',
    async () => {
      const money = { amount: '3.00', currency: 'EUR', description: 'A gift' };
      return () => product.staff.post(`/staff/organizations/${person.organizationId}/credit`, money);
    },
  ],
])('whoever %s waits for the closing of the organization', async (_, arrange) => {
  const work = await arrange();
  expect(await takenMeanwhile(work, 0, 'for no key update')).toEqual([]);
});

it('whoever cancels a service that was moved waits for the organization that paid for it before anything else', async () => {
  const { serviceId } = await delivered();
  const other = await newCustomer(product);
  await sql(
    product,
    'update services set organization_id = $2 where id = $1',
    ...[serviceId, other.organizationId],
  );
  const cancel = () => other.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  let answer: Awaited<ReturnType<typeof cancel>> | null = null;
  const work = async () => {
    answer = await cancel();
  };
  expect(await takenMeanwhile(work, other.organizationId)).toEqual([]);
  expect(answer).toMatchObject({ status: 200 });
});

it('of orders of several organizations that expire together, those of the first one are waited for before any other', async () => {
  const people = [await newCustomer(product), await newCustomer(product)];
  const [first, second] = people.toSorted((one, other) => one.organizationId - other.organizationId);
  if (first === undefined || second === undefined) throw new Error('there are two');
  // The later organization's expires first.
  await newInvoice(product, second);
  product.clock.travel(1_000);
  await newInvoice(product, first);
  product.clock.travel(6 * 86_400_000);
  const holder = new pg.Client({ connectionString: product.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select id from organizations where id = $1 for update', [first.organizationId]);
    const done = product.periodic('billing.expire');
    await until(
      () =>
        sql(
          product,
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      (waiting) => waiting.length > 0,
    );
    const free = 'select id from organizations where id = $1 for no key update skip locked';
    expect(await sql(product, free, second.organizationId)).toHaveLength(1);
    await holder.query('rollback');
    await done;
    await settled(product);
  } finally {
    await holder.end();
  }
});
