import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, settledContents, sql } from '../../../test/sql.ts';
import { requireFewUnpaid } from '../../billing/index.ts';
import { transaction } from '../../platform/index.ts';

// Web hosting of the demonstration: 3.00 a month, 9.00 a quarter, 30.00 a year.
let product: TestProduct;
let owner: Person;
let id: number;

beforeAll(async () => {
  const capacity = { cpuCores: 100, memoryMib: 1_000_000, diskGib: 10_000, acceleration: 'none' as const };
  product = await startTestProduct({ simulator: { capacity } });
});
afterAll(() => product.stop());
beforeEach(async () => {
  await at('2027-01-31T09:30:00Z');
  owner = await newCustomer(product, { creditMinor: 100_000 });
  id = await delivered();
});

const renew = (cycle: unknown = 'monthly', of = id, by = owner) =>
  by.post(`/dashboard/services/${of}/renew`, { cycle });
const options = async (of = id) => (await owner.get(`/dashboard/services/${of}/renew`)).body.data;
const service = async (of = id) => (await owner.get(`/dashboard/services/${of}`)).body.data.service;
const invoice = async (of: number) => (await owner.get(`/dashboard/invoices/${of}`)).body.data.invoice;
const open = () =>
  sql<{ id: number }>(
    product,
    `select i.id from invoices i join invoice_items l on l.invoice_id = i.id
     where l.service_id = $1 and i.kind = 'renewal' and i.status = 'unpaid'`,
    id,
  );
const told = () =>
  sql<{ data: Record<string, unknown> }>(
    product,
    `select data from journal where action = 'service.renewed' and subject_id = $1 order by id`,
    id,
  );

async function at(moment: string): Promise<void> {
  product.clock.set(new Date(moment));
  await product.periodic('fleet.watchNodes');
}

/** Web hosting that is active from today on. */
async function delivered(cycle = 'monthly'): Promise<number> {
  const item = { id: product.demo.products.hosting, cycle, type: 'Hosting' };
  const { data } = (await owner.post('/cart/checkout/invoice', { products: [item] })).body;
  await payByCredit(owner, data.invoice_id);
  await settled(product);
  await product.staff.post(`/staff/services/${data.service_ids[0]}/deliver`, {});
  await settled(product);
  return data.service_ids[0];
}

async function renewed(cycle = 'monthly', of = id): Promise<number> {
  const answer = await renew(cycle, of);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect((await payByCredit(owner, answer.body.data.invoice_id)).status).toBe(200);
  await settled(product);
  return answer.body.data.invoice_id;
}

/** Has the job of a payment run once more. */
async function runAgain(invoiceId: number): Promise<void> {
  await settled(product);
  await sql(
    product,
    `insert into jobs (name, organization_id, payload, run_at, created_at)
     select name, organization_id, payload, run_at, created_at from jobs
     where name = 'services.applyRenewal' and payload->'subject'->'id' = to_jsonb($1::bigint) limit 1`,
    invoiceId,
  );
  await settled(product);
}

/** As it is between the payment and the job that it enqueued. */
async function paidButNotApplied(invoiceId: number): Promise<void> {
  const become = (state: string) =>
    sql(product, 'update service_renewals set state = $2 where invoice_id = $1', invoiceId, state);
  await become('ended');
  await payByCredit(owner, invoiceId);
  await settled(product);
  await become('waiting');
}

describe('what a service can be renewed for', () => {
  it('is every cycle of its product, with what a year saves and when it would be due', async () => {
    const same = { coming_price: null };
    expect(await options()).toEqual({
      service: await service(),
      cycles: [
        { cycle: 'monthly', price: '3.00', discount_percent: 0, new_duedate: '2027-03-31', ...same },
        { cycle: 'quarterly', price: '9.00', discount_percent: 0, new_duedate: '2027-05-31', ...same },
        { cycle: 'annually', price: '30.00', discount_percent: 16, new_duedate: '2028-02-29', ...same },
      ],
      auto_renew: true,
      open_invoice_id: null,
    });
    const { invoice_id: invoiceId } = (await renew()).body.data;
    expect((await options()).open_invoice_id).toBe(invoiceId);
  });

  it('keeps its price in its own cycle, and costs what the catalogue says in another one', async () => {
    const path = `/staff/products/${product.demo.products.hosting}`;
    const sell = (monthly: string, yearly: string) =>
      product.staff.patch(path, {
        prices: [
          { cycle: 'monthly', price: monthly },
          { cycle: 'annually', price: yearly },
        ],
      });
    await sell('5.00', '50.00');
    try {
      const prices = (await options()).cycles.map(({ price }: { price: string }) => price);
      expect(prices).toEqual(['3.00', '9.00', '50.00']);
    } finally {
      await sell('3.00', '30.00');
    }
  });

  it('is nothing before it was delivered', async () => {
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const order = (await owner.post('/cart/checkout/invoice', { products: [item] })).body.data;
    expect((await options(order.service_ids[0])).cycles).toEqual([]);
    expect((await renew('monthly', order.service_ids[0])).body.code).toBe('conflict');
  });
});

describe('a renewal', () => {
  it('moves the due date once it is paid, and says so', async () => {
    const answer = await renew();
    const { invoice_id: invoiceId } = answer.body.data;
    expect(await invoice(invoiceId)).toMatchObject({
      kind: 'renewal',
      status: 'unpaid',
      total: '3.00',
      duedate: '2027-02-28',
      items: [{ service_id: id, description: 'Web hosting, monthly, from 2027-02-28 to 2027-03-31' }],
    });
    expect(await service()).toMatchObject({ duedate: '2027-02-28' });
    await payByCredit(owner, invoiceId);
    await settled(product);
    expect(await service()).toMatchObject({ duedate: '2027-03-31', price: '3.00', status: 'active' });
    expect((await told()).map(({ data }) => data)).toEqual([
      {
        user_id: owner.userId,
        invoice_id: invoiceId,
        product: 'Web hosting',
        hostname: null,
        status: 'active',
        cycle: 'monthly',
        duedate_before: '2027-02-28',
        duedate: '2027-03-31',
        price: '3.00',
        currency: 'EUR',
      },
    ]);
    const { mails } = (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(owner.email)}`))
      .body.data;
    const subjects = mails.map(({ subject }: { subject: string }) => subject);
    expect(subjects).toContain(`Your renewal: invoice ${invoiceId}`);
    expect(subjects).toContain('Web hosting is renewed until 31 March 2027');
  });

  it('for another cycle changes cycle and price from then on', async () => {
    await renewed('annually');
    expect(await service()).toMatchObject({
      billingCycle: 'annually',
      price: '30.00',
      firstPrice: '3.00',
      duedate: '2028-02-29',
    });
    await renewed('monthly');
    expect(await service()).toMatchObject({ billingCycle: 'monthly', price: '3.00', duedate: '2028-03-31' });
  });

  it('that is open is returned, also when another asks', async () => {
    const first = (await renew()).body.data;
    const billing = await newMember(product, owner.organizationId, 'billing');
    expect((await renew('monthly', id, billing)).body.data).toEqual(first);
    expect(await open()).toHaveLength(1);
  });

  it('for another cycle takes the place of the open one, and what was paid towards that becomes credit', async () => {
    const { invoice_id: first } = (await renew()).body.data;
    const part = {
      amount: '1.00',
      currency: 'EUR',
      reference: `part ${first}`,
      invoices: [{ invoice_id: first }],
    };
    const booked = await product.staff.post(`/staff/organizations/${owner.organizationId}/transfers`, part);
    expect(booked.status, JSON.stringify(booked.body)).toBe(200);
    const { invoice_id: second } = (await renew('annually')).body.data;
    expect(second).not.toBe(first);
    await settled(product);
    expect(await invoice(first)).toMatchObject({ status: 'cancelled', credited: '1.00' });
    expect(await open()).toEqual([{ id: second }]);
    expect(await service()).toMatchObject({ billingCycle: 'monthly', duedate: '2027-02-28' });
    expect((await payByCredit(owner, first)).body.code).toBe('invoice_not_payable');
    const { mails } = (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(owner.email)}`))
      .body.data;
    const gone = mails.find(
      ({ subject }: { subject: string }) => subject === `Invoice ${first} is cancelled`,
    );
    expect(gone.body).toContain('another one takes its place');
    expect(gone.body).not.toContain('as you asked');
  });

  it('that takes the place of one that was given up with a cancellation is due when that was', async () => {
    const { invoice_id: first } = (await renew()).body.data;
    const { duedate } = await invoice(first);
    expect(duedate).toBe('2027-02-28');
    await at('2027-02-27T09:30:00Z');
    const cancelling = `/dashboard/services/${id}/cancel`;
    expect((await owner.post(cancelling, { type: 'end_of_period' })).status).toBe(200);
    expect(await invoice(first)).toMatchObject({ status: 'cancelled' });
    expect((await owner.delete(cancelling)).status).toBe(200);
    const { invoice_id: second } = (await renew()).body.data;
    expect(await invoice(second)).toMatchObject({ status: 'unpaid', duedate });
    // Never on a day that is over.
    await at('2027-03-05T09:30:00Z');
    const { invoice_id: third } = (await renew('annually')).body.data;
    expect(await invoice(third)).toMatchObject({ status: 'unpaid', duedate: '2027-03-05' });
  });

  it('is one, however many ask at once and for whatever', async () => {
    const wishes = Array.from({ length: 12 }, (_, n) => ['monthly', 'quarterly', 'annually'][n % 3]);
    const answers = await Promise.all(wishes.map((cycle) => renew(cycle)));
    // A slow host lets so many at once wait their turn for only so long.
    const statuses = new Set(answers.map(({ status }) => status));
    expect([200, 429, 503]).toEqual(expect.arrayContaining([...statuses]));
    expect(statuses).toContain(200);
    const [left, ...more] = await open();
    expect(more).toEqual([]);
    await payByCredit(owner, left?.id ?? 0);
    await settled(product);
    expect(await told()).toHaveLength(1);
  });

  it('moves the due date once, however often it is paid and its job runs', async () => {
    const { invoice_id: invoiceId } = (await renew()).body.data;
    await Promise.all(Array.from({ length: 5 }, () => payByCredit(owner, invoiceId)));
    await runAgain(invoiceId);
    await runAgain(invoiceId);
    expect(await service()).toMatchObject({ duedate: '2027-03-31' });
    expect(await told()).toHaveLength(1);
  });

  it('that was paid counts before the next one is asked for, though its job has not run', async () => {
    const { invoice_id: first } = (await renew()).body.data;
    await paidButNotApplied(first);
    const { invoice_id: second } = (await renew('annually')).body.data;
    await settled(product);
    expect(await service()).toMatchObject({ duedate: '2027-03-31', billingCycle: 'monthly' });
    expect((await invoice(second)).items[0].description).toContain('from 2027-03-31 to 2028-03-31');
    expect(await told()).toHaveLength(1);
  });

  it('paid and asked for anew at one moment is never paid for two periods and given one', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { invoice_id: invoiceId } = (await renew()).body.data;
      const [paid, again] = await Promise.all([payByCredit(owner, invoiceId), renew('annually')]);
      await settled(product);
      expect(again.status, JSON.stringify(again.body)).toBe(200);
      const status = (await invoice(invoiceId)).status;
      expect(status).toBe(paid.status === 200 ? 'paid' : 'cancelled');
    }
    const paid = await sql(
      product,
      `select 1 from invoices i join invoice_items l on l.invoice_id = i.id
       where l.service_id = $1 and i.kind = 'renewal' and i.status = 'paid'`,
      id,
    );
    expect(await told()).toHaveLength(paid.length);
  });

  it('that nobody pays leaves the service as it was, and can be asked for again', async () => {
    const before = await service();
    const { invoice_id: invoiceId } = (await renew('annually')).body.data;
    await sql(product, `update invoices set status = 'cancelled' where id = $1`, invoiceId);
    expect((await options()).open_invoice_id).toBeNull();
    expect(await service()).toEqual(before);
    const { invoice_id: next } = (await renew('annually')).body.data;
    expect(next).not.toBe(invoiceId);
    expect(await open()).toEqual([{ id: next }]);
  });

  it('whose money was given back before it counted does not count', async () => {
    const { invoice_id: invoiceId } = (await renew()).body.data;
    await paidButNotApplied(invoiceId);
    const body = { method: 'credit', reason: 'a mistake' };
    expect((await product.staff.post(`/staff/invoices/${invoiceId}/refund`, body)).status).toBe(200);
    await runAgain(invoiceId);
    expect(await service()).toMatchObject({ duedate: '2027-02-28' });
    expect(await told()).toEqual([]);
  });

  const refund = async (invoiceId: number) => {
    const body = { method: 'credit', reason: 'a mistake' };
    const answer = await product.staff.post(`/staff/invoices/${invoiceId}/refund`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    await settled(product);
  };

  it('whose money was all given back takes the due date back, once, and says so', async () => {
    const invoiceId = await renewed();
    const part = { method: 'credit', amount: '1.00', reason: 'a bad day' };
    await product.staff.post(`/staff/invoices/${invoiceId}/refund`, part);
    await settled(product);
    expect(await service()).toMatchObject({ duedate: '2027-03-31' });
    await refund(invoiceId);
    expect(await service()).toMatchObject({ duedate: '2027-02-28', status: 'active', price: '3.00' });
    await sql(
      product,
      `insert into jobs (name, organization_id, payload, run_at, created_at)
       select name, organization_id, payload, run_at, created_at from jobs
       where name = 'services.takeBackRenewal' and payload->'subject'->'id' = to_jsonb($1::bigint) limit 1`,
      invoiceId,
    );
    await settled(product);
    expect(await service()).toMatchObject({ duedate: '2027-02-28' });
    const [entry, ...more] = await sql<{ data: object }>(
      product,
      `select data from journal where action = 'service.renewal_refunded' and subject_id = $1`,
      id,
    );
    expect(entry?.data).toMatchObject({
      ...{ invoice_id: invoiceId, duedate_before: '2027-03-31', duedate: '2027-02-28' },
    });
    expect(more).toEqual([]);
    await renewed();
    expect(await service()).toMatchObject({ duedate: '2027-03-31' });
  });

  it('whose money was all given back moves up what was paid for after it, and cancels what is open', async () => {
    const first = await renewed();
    await renewed();
    const { invoice_id: openId } = (await renew()).body.data;
    expect(await service()).toMatchObject({ duedate: '2027-04-30' });
    await refund(first);
    expect(await service()).toMatchObject({ duedate: '2027-03-31' });
    expect(await invoice(openId)).toMatchObject({ status: 'cancelled' });
    // All that is paid is the time to then: what goes back at once of it is the period that has not begun.
    await product.staff.patch('/staff/settings', { cancellation: { refund: 'unused', withdrawal_days: 0 } });
    try {
      const shown = (await owner.get(`/dashboard/services/${id}/cancel`)).body.data.immediate.refund;
      expect(shown.invoices.at(-1)).toMatchObject({ amount: '3.00' });
      expect(shown.invoices).toHaveLength(2);
    } finally {
      await product.staff.patch('/staff/settings', { cancellation: { refund: 'none', withdrawal_days: 14 } });
    }
    const { invoice_id: nextId } = (await renew()).body.data;
    expect((await invoice(nextId)).items[0].description).toContain('from 2027-03-31 to 2027-04-30');
  });

  it('moves up to the first day of all where the transfer that paid the order was none of the customer’s', async () => {
    const person = await newCustomer(product);
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const { data } = (await person.post('/cart/checkout/invoice', { products: [item] })).body;
    const [serviceId] = data.service_ids;
    const path = `/staff/organizations/${person.organizationId}/transfers`;
    const money = { amount: '3.00', currency: 'EUR', reference: `T-${serviceId}` };
    const sent = await product.staff.post(path, { ...money, invoices: [{ invoice_id: data.invoice_id }] });
    await settled(product);
    await product.staff.post(`/staff/services/${serviceId}/deliver`, {});
    await settled(product);
    const seen = async () => (await person.get(`/dashboard/services/${serviceId}`)).body.data.service;
    const { duedate: until } = await seen();
    const transferId = sent.body.data.transfer.id;
    // It was to end with its paid time, and that is over then: nothing is deleted for it without a warning.
    const cancelling = `/dashboard/services/${serviceId}/cancel`;
    expect((await person.post(cancelling, { type: 'end_of_period' })).body.data.cancelled).toBe(true);
    const back = await product.staff.post(`/staff/transfers/${transferId}/take-back`, { reason: 'a slip' });
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    await settled(product);
    const today = product.clock.now().toISOString().slice(0, 10);
    expect(until > today).toBe(true);
    await product.periodic('services.calendar');
    expect(await seen()).toMatchObject({ status: 'active', duedate: today, price: '3.00' });
    expect((await person.get(cancelling)).body.data.cancelled).toBe(false);
  });

  it('for another cycle whose money was all given back leaves cycle and price as they were', async () => {
    await refund(await renewed('annually'));
    const before = { duedate: '2027-02-28', price: '3.00' };
    expect(await service()).toMatchObject(before);
    const year = await renewed('annually');
    await renewed('annually');
    await refund(year);
    expect(await service()).toMatchObject({ duedate: '2028-02-29', price: '30.00' });
  });

  it('of a service that has ended is given back as money alone', async () => {
    const invoiceId = await renewed();
    await product.staff.post(`/staff/services/${id}/terminate`, { reason: 'a test' });
    await settled(product);
    await refund(invoiceId);
    expect(await service()).toMatchObject({ duedate: '2027-03-31', status: 'terminated' });
    const renewals = await sql(product, 'select state from service_renewals where service_id = $1', id);
    expect(renewals).toEqual([{ state: 'applied' }]);
  });

  it('paid for a service that has ended becomes credit', async () => {
    const { invoice_id: invoiceId } = (await renew()).body.data;
    await sql(product, `update services set status = 'terminated' where id = $1`, id);
    await payByCredit(owner, invoiceId);
    await settled(product);
    expect(await invoice(invoiceId)).toMatchObject({ status: 'refunded', refunded: '3.00' });
    expect(await told()).toEqual([]);
  });

  it('of a suspended service counts, and says that it was suspended', async () => {
    await sql(product, `update services set status = 'suspended' where id = $1`, id);
    await renewed();
    expect(await service()).toMatchObject({ duedate: '2027-03-31' });
    expect(await told()).toMatchObject([{ data: { status: 'suspended' } }]);
  });

  it('of what costs nothing is paid with being asked for', async () => {
    await sql(product, 'update services set price_minor = 0 where id = $1', id);
    const { invoice_id: invoiceId } = (await renew()).body.data;
    await settled(product);
    expect(await invoice(invoiceId)).toMatchObject({ status: 'paid', total: '0.00' });
    expect(await service()).toMatchObject({ duedate: '2027-03-31' });
  });

  it('holds nothing, so it does not count as an order that is not paid', async () => {
    const { config } = product.ctx;
    const few = { ...config.unpaid.known, orders: 1 };
    const ctx = { ...product.ctx, config: { ...config, unpaid: { known: few, fresh: few } } };
    const check = () =>
      transaction(ctx, 'test.requireFewUnpaid', (tx) => requireFewUnpaid(tx, owner.organizationId));
    await renew();
    await check();
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    await owner.post('/cart/checkout/invoice', { products: [item] });
    await expect(check()).rejects.toMatchObject({ code: 'too_many' });
  });
});

describe('a renewal and an upgrade', () => {
  let vps: number;
  const upgrade = (option1: number) => owner.post(`/dashboard/services/${vps}/upgrade-vps`, { option1 });
  beforeEach(async () => {
    ({ serviceId: vps } = await runningVps(product, owner));
  });

  it('are never open together: the upgrade cancels what would be paid at the old price', async () => {
    const { invoice_id: cheap } = (await renew('monthly', vps)).body.data;
    const { invoice_id: larger } = (await upgrade(2)).body.data;
    expect(await invoice(cheap)).toMatchObject({ status: 'cancelled' });
    const refused = await renew('monthly', vps);
    expect(refused.body).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(String(larger)),
    });
    await payByCredit(owner, larger);
    await settled(product);
    const { invoice_id: dear } = (await renew('monthly', vps)).body.data;
    expect(await invoice(dear)).toMatchObject({ total: '6.00' });
  });

  it('count in the order in which they were paid: what is paid ahead is paid for at the new price', async () => {
    await renewed('monthly', vps);
    const { data } = (await upgrade(2)).body;
    expect(data.prorated_charge).toBe('4.00'); // 2.00 for each of two whole periods
  });
});

describe('refused, and nothing changes', () => {
  it.each([
    ['a cycle that there is not', 'weekly', 'invalid_request'],
    ['a cycle that the product is not sold in', 'triennially', 'invalid_configuration'],
    ['no cycle', undefined, 'invalid_request'],
    ['a cycle that is no word', 1, 'invalid_request'],
  ])('%s', async (_, cycle, code) => {
    const before = await settledContents(product);
    const answer = await owner.post(`/dashboard/services/${id}/renew`, cycle === undefined ? {} : { cycle });
    expect([answer.status, answer.body.code]).toEqual([400, code]);
    expect(await settledContents(product)).toEqual(before);
  });

  it.each(['pending', 'cancelled', 'terminated'])('a service that is %s', async (status) => {
    await sql(product, 'update services set status = $2 where id = $1', id, status);
    const before = await settledContents(product);
    expect((await renew()).body).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(status),
    });
    expect(await settledContents(product)).toEqual(before);
  });

  it('a service that will end', async () => {
    await sql(product, 'update services set cancelled = true where id = $1', id);
    const before = await settledContents(product);
    expect((await renew()).body.code).toBe('conflict');
    expect(await settledContents(product)).toEqual(before);
  });

  it('more than ten years ahead', async () => {
    await sql(product, `update services set duedate = '2037-01-15' where id = $1`, id);
    const before = await settledContents(product);
    expect((await renew('annually')).body.code).toBe('conflict');
    expect(await settledContents(product)).toEqual(before);
  });

  it('to strangers and to members who may not pay', async () => {
    const stranger = await newCustomer(product, { creditMinor: 10_000 });
    const technical = await newMember(product, owner.organizationId, 'technical');
    const before = await settledContents(product);
    expect((await renew('monthly', id, stranger)).body.code).toBe('forbidden');
    expect((await renew('monthly', id, technical)).body.code).toBe('permission_denied');
    expect((await renew('monthly', 4242)).status).toBe(404);
    expect(await settledContents(product)).toEqual(before);
  });
});
