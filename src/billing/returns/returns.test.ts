import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
});
afterAll(() => paid.stop());

const staff = async (path: string) => {
  const { status, body } = await paid.product.staff.get(`/staff/${path}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
};

/** Goes through a list by its cursor, two at a time. */
async function walk(path: 'payments' | 'refunds' | 'disputes', query: string): Promise<number[]> {
  const seen: number[] = [];
  for (let cursor = ''; ; ) {
    const data = await staff(`${path}?limit=2&${query}${cursor}`);
    seen.push(...data[path].map(({ id }: { id: number }) => id));
    if (data.next_cursor === null) return seen;
    cursor = `&cursor=${data.next_cursor}`;
  }
}

async function withCredit(who: Person): Promise<Person> {
  const gift = { amount: '3.00', currency: 'EUR', description: 'A gift' };
  const path = `/staff/organizations/${who.organizationId}/credit`;
  expect((await paid.product.staff.post(path, gift)).status).toBe(200);
  return who;
}

it('staff lists what paid for invoices, by organization, invoice, method and state', async () => {
  const who = await newCustomer(paid.product, { creditMinor: 300 });
  const invoices: number[] = [];
  for (let nth = 0; nth < 5; nth += 1) invoices.push(await newInvoice(paid.product, who));
  const [byCredit, byBank, held, lost, open] = invoices as [number, number, number, number, number];
  await payByCredit(who, byCredit);
  const transfer = { amount: '3.00', reference: `for ${byBank}`, received_on: '2026-01-30' };
  expect((await paid.product.staff.post(`/staff/invoices/${byBank}/payments`, transfer)).status).toBe(200);
  for (const id of [held, lost]) {
    const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card', use_credit: false });
    await paid.click(body.data.redirect_url);
    await until(
      () => staff(`payments?invoice_id=${id}`),
      ({ payments }) => payments.length === 1,
    );
  }
  const own = `organization_id=${who.organizationId}`;
  const found = await walk('payments', own);
  expect(found).toHaveLength(4);
  expect(await walk('payments', `${own}&sort=created_at`)).toEqual(found.toReversed());
  const idsOf = async (query: string) =>
    (await staff(`payments?${own}&${query}`)).payments.map(
      ({ invoice_id }: { invoice_id: number }) => invoice_id,
    );
  expect(await idsOf(`invoice_id=${open}`)).toEqual([]);
  expect(await idsOf('method=credit')).toEqual([byCredit]);
  expect(await idsOf('method=stripe')).toEqual([lost, held]);
  expect(await idsOf('state=received')).toEqual([lost, held, byBank, byCredit]);

  const dayOf = (days: number) =>
    new Date(paid.product.clock.now().getTime() + days * 86_400_000).toISOString().slice(0, 10);
  const [today, tomorrow] = [dayOf(0), dayOf(1)];
  paid.product.clock.travel(86_400_000);
  await payByCredit(await withCredit(who), open);
  expect(await idsOf(`from=${tomorrow}`)).toEqual([open]);
  expect(await idsOf(`to=${today}`)).toEqual([lost, held, byBank, byCredit]);
  expect(await idsOf(`from=${today}&to=${tomorrow}&state=received`)).toEqual([
    ...[open, lost, held, byBank, byCredit],
  ]);
  expect(await idsOf(`from=${dayOf(1)}`)).toEqual([]);
  for (const sort of ['created_at', '-created_at'])
    expect(await walk('payments', `${own}&from=${today}&to=${today}&sort=${sort}`)).toEqual(
      sort === 'created_at' ? found.toReversed() : found,
    );
  // After the last day, and before the first one, there is none that could be said to the database.
  expect(await idsOf('to=9999-12-31')).toEqual([open, lost, held, byBank, byCredit]);
  const beyond = Buffer.from(JSON.stringify(['9999-12-31T23:59:59.999Z', 1])).toString('base64url');
  expect(await idsOf(`cursor=${beyond}`)).toEqual([open, lost, held, byBank, byCredit]);
  const turned = await paid.product.staff.get(`/staff/payments?from=${tomorrow}&to=${today}`);
  expect([turned.status, turned.body.code]).toEqual([400, 'invalid_request']);

  const [ofBank] = (await staff(`payments?invoice_id=${byBank}`)).payments;
  expect(ofBank).toMatchObject({
    ...{ invoice_id: byBank, method: 'bank_transfer', state: 'received', amount: '3.00', returned: '0.00' },
    ...{ currency: 'EUR', reference: `for ${byBank}`, received_on: '2026-01-30' },
    organization: { id: who.organizationId },
  });
  const back = { reason: 'It was for somebody else' };
  const took = await paid.product.staff.post(`/staff/transfers/${ofBank.transfer_id}/take-back`, back);
  expect(took.status, JSON.stringify(took.body)).toBe(200);
  for (const id of [held, lost]) {
    const [{ reference }] = (await staff(`payments?invoice_id=${id}`)).payments;
    const { id: dispute } = paid.stripe.account.dispute(reference);
    if (id === lost) paid.stripe.account.closeDispute(dispute, 'lost');
  }
  await until(
    async () => [await idsOf('state=disputed'), await idsOf('state=returned')],
    ([disputed = [], returned = []]) => disputed.length === 1 && returned.length === 2,
  );
  expect(await idsOf('state=disputed')).toEqual([held]);
  expect(await idsOf('state=returned')).toEqual([lost, byBank]);
  expect(await idsOf('state=received')).toEqual([open, byCredit]);
  expect((await staff(`payments?invoice_id=${lost}`)).payments[0]).toMatchObject({
    ...{ state: 'returned', amount: '3.00', returned: '3.00' },
  });
  expect((await staff(`payments?invoice_id=${held}`)).payments[0]).toMatchObject({
    ...{ state: 'disputed', returned: '0.00' },
  });
});

it('staff lists what went back, by organization, invoice and state, and reads each', async () => {
  const who = await newCustomer(paid.product, { creditMinor: 5_000 });
  const invoices: number[] = [];
  for (const amount of ['1.00', '0.50', '0.25']) {
    const id = await newInvoice(paid.product, who);
    await payByCredit(who, id);
    const body = { method: 'credit', amount, reason: `Refund of ${amount}` };
    expect((await paid.product.staff.post(`/staff/invoices/${id}/refund`, body)).status).toBe(200);
    invoices.push(id);
  }
  await settled(paid.product);
  const own = `organization_id=${who.organizationId}`;
  const found = await walk('refunds', own);
  expect(found).toHaveLength(3);
  expect(await walk('refunds', `${own}&sort=created_at`)).toEqual(found.toReversed());
  expect((await staff(`refunds?${own}&state=failed`)).total).toBe(0);
  const { refunds } = await staff(`refunds?invoice_id=${invoices[1]}`);
  const expected = { id: found[1], invoice_id: invoices[1], method: 'credit', amount: '0.50', state: 'done' };
  expect(refunds).toEqual([expect.objectContaining(expected)]);
  expect((await staff(`refunds/${found[1]}`)).refund).toEqual(refunds[0]);
  expect(refunds[0].organization.id).toBe(who.organizationId);
});

it('staff lists disputes and reads how each stands', async () => {
  const who = await newCustomer(paid.product);
  const references: string[] = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const id = await newInvoice(paid.product, who);
    const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
    await paid.click(body.data.redirect_url);
    const { payments } = await until(
      async () => (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice,
      ({ status }) => status === 'paid',
    );
    references.push(paid.stripe.account.dispute(payments[0].reference).id);
    await until(
      () => sql(paid.product, `select 1 from disputes where invoice_id = $1 and state = 'open'`, id),
      (rows) => rows.length === 1,
    );
  }
  const own = `organization_id=${who.organizationId}`;
  const found = await walk('disputes', own);
  expect(found).toHaveLength(3);
  paid.stripe.account.closeDispute(references[0] ?? '', 'won');
  const [row] = await until(
    async () => (await staff(`disputes?${own}&state=won`)).disputes,
    (all) => all.length === 1,
  );
  expect(row).toMatchObject({ reference: references[0], amount: '3.00', reason: 'fraudulent', fee: '20.00' });
  expect((await staff(`disputes/${row.id}`)).dispute).toEqual(row);
  expect((await staff(`disputes?${own}&state=open`)).total).toBe(2);
});

it('nobody else reads them', async () => {
  const operator = await newStaff(paid.product, 'operator');
  const customer = await newCustomer(paid.product);
  for (const path of ['payments', 'refunds', 'disputes', 'refunds/1', 'disputes/1'])
    for (const by of [operator, customer]) expect((await by.get(`/staff/${path}`)).status).toBe(403);
  expect((await paid.product.staff.get('/staff/disputes/4242')).body.code).toBe('not_found');
  expect((await paid.product.staff.get('/staff/refunds/4242')).body.code).toBe('not_found');
});
