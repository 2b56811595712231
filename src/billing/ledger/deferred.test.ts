import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

let product: TestProduct;
let person: Person;
beforeAll(async () => {
  product = await startTestProduct();
  product.clock.set(new Date('2027-01-16T12:00:00Z'));
  person = await newCustomer(product, { country: 'CZ', creditMinor: 1_000_000 });
  await sql(
    product,
    `insert into tax_rates (country, rate_basis_points) values ('CZ', 2100) on conflict do nothing`,
  );
});
afterAll(async () => {
  await settled(product);
  expect(await audit(product.databaseUrl)).toEqual([]);
  await product.stop();
});

/** What an account holds, as it grows. */
async function held(kind: 'deferred' | 'revenue'): Promise<number> {
  const [row] = await sql<{ minor: number }>(
    product,
    `select coalesce(-sum(e.amount_minor), 0)::bigint as minor from ledger_entries e
     join ledger_accounts a on a.id = e.account_id where a.kind = $1`,
    kind,
  );
  return row?.minor ?? 0;
}

async function delivered(pieces = 1): Promise<{ invoiceId: number; serviceIds: number[] }> {
  const invoiceId = await newInvoice(product, person, pieces);
  expect((await payByCredit(person, invoiceId)).status).toBe(200);
  await settled(product);
  const rows = await sql<{ id: number }>(
    product,
    'select id from services where invoice_id = $1 order by id',
    invoiceId,
  );
  for (const { id } of rows)
    expect((await product.staff.post(`/staff/services/${id}/deliver`)).status).toBe(200);
  return { invoiceId, serviceIds: rows.map(({ id }) => id) };
}

async function on(day: string): Promise<void> {
  product.clock.set(new Date(`${day}T00:30:00Z`));
  await product.periodic('billing.earn');
  await product.periodic('billing.earn');
}

const months = (invoiceId: number) =>
  sql(
    product,
    `select e.month::text, e.amount_minor from earnings e join deferrals d on d.id = e.deferral_id
     where d.invoice_id = $1 order by e.month`,
    invoiceId,
  );

describe('what is paid for a period', () => {
  it('is owed until it is delivered, and then earned by the calendar month, each month once', async () => {
    const before = { deferred: await held('deferred'), revenue: await held('revenue') };
    const { invoiceId } = await delivered();
    expect(await held('deferred')).toBe(before.deferred + 300);
    expect(await held('revenue')).toBe(before.revenue);
    await on('2027-01-31');
    expect(await months(invoiceId)).toEqual([]);
    await Promise.all([on('2027-02-01'), product.periodic('billing.earn')]);
    // 16 January to 16 February: sixteen of thirty-one days.
    expect(await months(invoiceId)).toEqual([{ month: '2027-01-01', amount_minor: 154 }]);
    await on('2027-02-15');
    expect(await months(invoiceId)).toHaveLength(1);
    await on('2027-02-16');
    expect(await months(invoiceId)).toEqual([
      { month: '2027-01-01', amount_minor: 154 },
      { month: '2027-02-01', amount_minor: 146 },
    ]);
    expect(await held('deferred')).toBe(before.deferred);
    expect(await held('revenue')).toBe(before.revenue + 300);
    const counted = await sql(
      product,
      `select counts_on::text from ledger_transactions where kind = 'revenue_earned' order by id`,
    );
    expect(counted).toMatchObject([{ counts_on: '2027-01-31' }, { counts_on: '2027-02-15' }]);
  });

  it('and is given back goes down by what was not earned, and no further month is', async () => {
    product.clock.set(new Date('2027-03-11T12:00:00Z'));
    const { invoiceId } = await delivered();
    await on('2027-04-01');
    const [owed, earned] = [await held('deferred'), await held('revenue')];
    const answer = await product.staff.post(`/staff/invoices/${invoiceId}/refund`, {
      reason: 'x',
      method: 'credit',
    });
    expect(answer.status).toBe(200);
    // 21 of 31 days are earned: 203 of 300.
    expect(await held('deferred')).toBe(owed - 97);
    expect(await held('revenue')).toBe(earned - 203);
    await on('2027-06-01');
    expect(await months(invoiceId)).toHaveLength(1);
  });

  it('and ends early is earned at once', async () => {
    product.clock.set(new Date('2027-06-10T12:00:00Z'));
    const { serviceIds } = await delivered(2);
    const [owed, earned] = [await held('deferred'), await held('revenue')];
    const ended = await product.staff.post(`/staff/services/${serviceIds[0]}/terminate`, { reason: 'x' });
    expect(ended.status, JSON.stringify(ended.body)).toBe(200);
    expect(await held('deferred')).toBe(owed - 300);
    expect(await held('revenue')).toBe(earned + 300);
  });
});
