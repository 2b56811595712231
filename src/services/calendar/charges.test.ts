import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { settled, sql } from '../../../test/sql.ts';
import { ibans } from '../../../test/stripe/cards.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';
import { grantCredit } from '../../billing/index.ts';
import { daysBetween, transaction } from '../../platform/index.ts';

let paid: PaidProduct;
let customer: Person;
beforeAll(async () => {
  paid = await startPaidProduct();
  customer = await newCustomer(paid.product, { creditMinor: 1_000 });
});
afterAll(() => paid.stop());

const creditFirst = (first: boolean) =>
  paid.product.staff.patch('/staff/settings', { payments: { credit_first: first } });
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const today = () => paid.product.clock.now().toISOString().slice(0, 10);

async function newService(productId = paid.product.demo.products.hosting): Promise<number> {
  const item = { id: productId, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
  await payByCredit(customer, data.invoice_id);
  await settled(paid.product);
  await paid.product.staff.post(`/staff/services/${data.service_ids[0]}/deliver`, {});
  return data.service_ids[0];
}

async function pass(days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    paid.product.clock.travel(86_400_000);
    await paid.product.periodic('services.calendar');
    await settled(paid.product);
  }
}

/** Pays an invoice by an account that money comes from days later, or not; gives the name of the payment. */
async function debit(invoiceId: number, methodId: number): Promise<string> {
  const way = { method: 'card', payment_method_id: methodId };
  const { status, body } = await customer.post(`/dashboard/invoices/${invoiceId}/pay`, way);
  expect(status).toBe(200);
  const [row] = await until(
    () =>
      sql<{ state: string; reference: string }>(
        paid.product,
        'select state, reference from charges where id = $1',
        body.data.charge.id,
      ),
    ([found]) => found?.state === 'pending',
  );
  return row?.reference ?? '';
}

/** A service whose renewal is so many days overdue, and an account whose debits come back. */
async function overdue(days: number) {
  customer = await newCustomer(paid.product, { creditMinor: 300 });
  const id = await newService();
  const { duedate } = await service(id);
  await pass(daysBetween(today(), duedate) + days);
  const [row] = await sql<{ invoice_id: number }>(
    paid.product,
    'select invoice_id from service_calendar where service_id = $1',
    id,
  );
  return {
    id,
    duedate,
    invoiceId: row?.invoice_id ?? 0,
    methodId: await paid.saveMethod(customer, ibans.fails),
  };
}

/** Whether an invoice is said to take a card, and what comes of that. */
async function byCard(invoiceId: number): Promise<[boolean, number]> {
  const { payment_ways: ways } = (await customer.get(`/dashboard/invoices/${invoiceId}`)).body.data;
  const { status } = await customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'card' });
  return [ways.find(({ method }: { method: string }) => method === 'card').allowed, status];
}

const charged = (invoiceId: number, state: string) =>
  sql(paid.product, 'select id from charges where invoice_id = $1 and state = $2', invoiceId, state);
const returned = async () => {
  const { concerns } = (await paid.product.staff.get('/staff/attention')).body.data;
  return concerns.filter(({ kind }: { kind: string }) => kind === 'debit.returned');
};

it('while money is on its way nothing is taken away for want of it, and then it is', async () => {
  const { id, invoiceId, methodId } = await overdue(10);
  const reference = await debit(invoiceId, methodId);
  await pass(10);
  expect((await service(id)).status).toBe('active');
  paid.stripe.account.settleDebit(reference);
  await until(
    () => charged(invoiceId, 'failed'),
    ({ length }) => length === 1,
  );
  await pass(1);
  expect((await service(id)).status).toBe('suspended');
});

it('after a debit that came back before the day the next one is waited for, by its customer too', async () => {
  const { id, invoiceId, methodId } = await overdue(-5);
  const first = await debit(invoiceId, methodId);
  paid.stripe.account.settleDebit(first);
  await until(
    () => charged(invoiceId, 'failed'),
    ({ length }) => length === 1,
  );
  const second = await debit(invoiceId, methodId);
  expect(await byCard(invoiceId)).toEqual([false, 409]);
  await pass(25);
  expect((await service(id)).status).toBe('active');
  expect(await byCard(invoiceId)).toEqual([false, 409]);
  paid.stripe.account.settleDebit(second);
  await until(
    () => charged(invoiceId, 'failed'),
    ({ length }) => length === 2,
  );
  expect(await byCard(invoiceId)).toEqual([true, 200]);
  const way = { method: 'card', payment_method_id: await paid.saveMethod(customer) };
  expect((await customer.post(`/dashboard/invoices/${invoiceId}/pay`, way)).status).toBe(200);
  await until(
    () => charged(invoiceId, 'paid'),
    ({ length }) => length === 1,
  );
});

it('debits that come back one after the other spare a service once, and staff sees the second', async () => {
  const { id, invoiceId, methodId } = await overdue(0);
  let [lastDay, came] = [0, 0];
  for (; lastDay < 40 && (await service(id)).status === 'active'; lastDay += 5) {
    const reference = await debit(invoiceId, methodId);
    await pass(5);
    paid.stripe.account.settleDebit(reference);
    came += 1;
    await until(
      () => charged(invoiceId, 'failed'),
      ({ length }) => length === came,
    );
    expect(await returned()).toHaveLength(came > 1 ? 1 : 0);
  }
  expect((await service(id)).status).toBe('suspended');
  expect(await returned()).toMatchObject([{ subject: { type: 'invoice', id: invoiceId } }]);
  // As late as the first was, and no later.
  expect(lastDay).toBeLessThanOrEqual(25);
});

it('money on its way is seen that a process of the version before has not dated', async () => {
  const { id, invoiceId, methodId } = await overdue(10);
  const reference = await debit(invoiceId, methodId);
  await sql(paid.product, 'update charges set pending_at = null where reference = $1', reference);
  await pass(10);
  expect((await service(id)).status).toBe('active');
});

it('a debit that came back counts for an invoice of another cycle as well', async () => {
  const { id, invoiceId, methodId } = await overdue(0);
  const first = await debit(invoiceId, methodId);
  await pass(5);
  paid.stripe.account.settleDebit(first);
  await until(
    () => charged(invoiceId, 'failed'),
    ({ length }) => length === 1,
  );
  const { body } = await customer.post(`/dashboard/services/${id}/renew`, { cycle: 'annually' });
  const other = body.data.invoice_id;
  expect(other).not.toBe(invoiceId);
  const second = await debit(other, methodId);
  // Nothing waits for it, so its customer need not wait either.
  expect(await byCard(other)).toEqual([true, 200]);
  await pass(20);
  expect((await service(id)).status).toBe('suspended');
  paid.stripe.account.settleDebit(second);
  await until(
    () => charged(other, 'failed'),
    ({ length }) => length === 1,
  );
  expect(await returned()).toContainEqual(
    expect.objectContaining({ subject: expect.objectContaining({ type: 'invoice', id: other }) }),
  );
});

it('money of a provider that is gone, and money that never has an answer, is not waited for', async () => {
  for (const [ago, driver] of [
    ['1 day', 'gone'],
    ['31 days', 'stripe'],
  ]) {
    const { id, invoiceId } = await overdue(5);
    await sql(
      paid.product,
      `insert into charges (id, organization_id, invoice_id, driver, means, amount_minor, currency, uses_credit, state,
         reference, created_at, pending_at)
       select $1, organization_id, invoice_id, $2, 'page', 300, 'EUR', false, 'pending', 'pi_away_' || $2, $3::timestamptz,
         $3::timestamptz - $4::interval
       from service_calendar where service_id = $1`,
      ...[id, driver, paid.product.clock.now(), ago],
    );
    await pass(20);
    expect((await service(id)).status, driver).toBe('suspended');
    expect(await charged(invoiceId, 'pending')).toHaveLength(1);
  }
});

it('a saved method is charged on the day, once, and the service goes on', async () => {
  customer = await newCustomer(paid.product, { creditMinor: 300 });
  const id = await newService();
  await paid.saveMethod(customer);
  const { duedate } = await service(id);
  await pass(daysBetween(today(), duedate) - 1);
  expect((await service(id)).duedate).toBe(duedate);
  await pass(1);
  expect(await service(id)).toMatchObject({ status: 'active', auto_renew: true });
  expect((await service(id)).duedate > duedate).toBe(true);
  const payments = await sql(
    paid.product,
    `select p.method, p.amount_minor from payments p join invoice_items l on l.invoice_id = p.invoice_id
     join invoices i on i.id = p.invoice_id where l.service_id = $1 and i.kind = 'renewal'`,
    id,
  );
  expect(payments).toEqual([{ method: 'stripe', amount_minor: 300 }]);
});

it('a saved method that the provider does not take any more keeps nothing from being suspended', async () => {
  customer = await newCustomer(paid.product, { creditMinor: 300 });
  const id = await newService();
  await paid.saveMethod(customer);
  const { duedate } = await service(id);
  paid.stripe.fail(/POST .*payment_intents$/, 'refused', 100);
  await pass(daysBetween(today(), duedate) + 15);
  paid.stripe.heal();
  expect((await service(id)).status).toBe('suspended');
});

describe('a renewal whose customer has credit', () => {
  beforeAll(async () => {
    expect((await creditFirst(true)).status).toBe(200);
  });
  const mails = async () => {
    await settled(paid.product);
    const query = `/staff/mails?recipient=${encodeURIComponent(customer.email)}`;
    return (await paid.product.staff.get(query)).body.data.mails as { subject: string; body: string }[];
  };
  const paidWith = (id: number) =>
    sql<{ method: string; minor: number }>(
      paid.product,
      `select p.method, p.amount_minor as minor from payments p join invoices i on i.id = p.invoice_id
       where i.kind = 'renewal' and p.invoice_id in (select invoice_id from invoice_items where service_id = $1)
       order by p.created_at, p.id`,
      id,
    );
  const due = async (creditMinor: number, of: () => Promise<number> = newService) => {
    customer = await newCustomer(paid.product, { creditMinor: 300 + creditMinor });
    const id = await of();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate));
    return { id, duedate };
  };
  const withMethod = async () => {
    const id = await newService();
    await paid.saveMethod(customer);
    return id;
  };

  it('is paid from that first, also where no method is saved, and the mail says so before', async () => {
    const { id, duedate } = await due(350);
    expect(await paidWith(id)).toEqual([{ method: 'credit', minor: 300 }]);
    expect((await service(id)).duedate > duedate).toBe(true);
    const renewal = (await mails()).find(({ subject }) => subject.startsWith('Your renewal'));
    expect(renewal?.body).toMatch(/You have €3\.50 of credit\. It pays this invoice first/);
  });

  it('is paid from that first, and by the saved method the rest, of which that takes as much as it must', async () => {
    expect(await paidWith((await due(120, withMethod)).id)).toEqual([
      { method: 'credit', minor: 120 },
      { method: 'stripe', minor: 180 },
    ]);
    expect(await paidWith((await due(270, withMethod)).id)).toEqual([
      { method: 'credit', minor: 250 },
      { method: 'stripe', minor: 50 },
    ]);
  });

  // Of yen Stripe names a least, of dinars none; a dinar has a thousand parts, which Stripe counts in tens.
  it.each([
    ['JPY', 980, 950, 930, 50],
    ['KWD', 5_490, 5_300, 4_490, 1_000],
    ['KWD', 5_490, 1_234, 1_230, 4_260],
  ])(
    'leaves to the saved method in %s as much as providers take there',
    async (currency, price, creditMinor, byCredit, byCard) => {
      const productId = await newHosting(paid.product, price, { currency });
      const paidFrom = await due(0, async () => {
        await transaction(paid.product.ctx, 'test.credit', (tx) =>
          grantCredit(tx, customer.organizationId, price + creditMinor, currency, 'For a test'),
        );
        const id = await newService(productId);
        await paid.saveMethod(customer);
        return id;
      });
      expect(await paidWith(paidFrom.id)).toEqual([
        { method: 'credit', minor: byCredit },
        { method: 'stripe', minor: byCard },
      ]);
    },
  );

  it('is not where nothing pays the rest, or the provider does not want it', async () => {
    expect(await paidWith((await due(120)).id)).toEqual([]);
    await creditFirst(false);
    expect(await paidWith((await due(350, withMethod)).id)).toEqual([{ method: 'stripe', minor: 300 }]);
    expect((await mails()).some(({ body }) => body.includes('of credit'))).toBe(false);
    await creditFirst(true);
  });
});
