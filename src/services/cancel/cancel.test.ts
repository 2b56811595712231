import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { orderVps, runningVps } from '../../../test/orders.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { contents, settled, sql } from '../../../test/sql.ts';

// Web hosting of the demonstration: 3.00 a month; April has 30 days.
let product: TestProduct;
let owner: Person;
let id: number;

beforeAll(async () => {
  const capacity = { cpuCores: 100, memoryMib: 1_000_000, diskGib: 10_000, acceleration: 'none' as const };
  product = await startTestProduct({ simulator: { capacity } });
});
afterAll(() => product.stop());
beforeEach(async () => {
  await rule({ refund: 'none', withdrawal_days: 14, withdrawal_refund: 'full', withdrawal_for: 'consumers' });
  await at('2027-04-01T09:30:00Z');
  owner = await newCustomer(product, { creditMinor: 100_000 });
  id = await delivered();
});

const path = (of = id) => `/dashboard/services/${of}/cancel`;
const cancel = (type = 'end_of_period', of = id, by = owner) =>
  by.post(path(of), { type, reason: 'We move' });
const preview = async (of = id) => (await owner.get(path(of))).body.data;
const service = async (of = id) => (await owner.get(`/dashboard/services/${of}`)).body.data.service;
const invoice = async (of: number) => (await owner.get(`/dashboard/invoices/${of}`)).body.data.invoice;
const credit = async () => (await owner.get('/dashboard/invoices')).body.data.credit_balance;
const rule = (cancellation: object) => product.staff.patch('/staff/settings', { cancellation });
const nothing = {
  ...{ because: 'none', total: '0.00', currency: 'EUR', method: 'credit', original: '0.00', invoices: [] },
};

async function at(moment: string): Promise<void> {
  product.clock.set(new Date(moment));
  await product.periodic('fleet.watchNodes');
}

async function hosting(cycle = 'monthly'): Promise<{ invoiceId: number; serviceId: number }> {
  const item = { id: product.demo.products.hosting, cycle, type: 'Hosting' };
  const { data } = (await owner.post('/cart/checkout/invoice', { products: [item] })).body;
  return { invoiceId: data.invoice_id, serviceId: data.service_ids[0] };
}

async function delivered(cycle = 'monthly'): Promise<number> {
  const { invoiceId, serviceId } = await hosting(cycle);
  await payByCredit(owner, invoiceId);
  await settled(product);
  await product.staff.post(`/staff/services/${serviceId}/deliver`, {});
  await settled(product);
  return serviceId;
}

async function mails(): Promise<string[]> {
  await settled(product);
  const query = `/staff/mails?recipient=${encodeURIComponent(owner.email)}`;
  return (await product.staff.get(query)).body.data.mails.map(({ subject }: { subject: string }) => subject);
}

/** Refused with this code, and nothing is written. */
async function refused(ask: () => ReturnType<typeof cancel>, code: string, words = /./): Promise<void> {
  await settled(product);
  const before = await contents(product);
  const answer = await ask();
  expect(answer.body.code).toBe(code);
  expect(answer.body.message).toMatch(words);
  expect(await contents(product)).toEqual(before);
}

/** How often two transactions of this database have waited for each other. */
async function deadlocks(): Promise<number> {
  const [row] = await sql<{ deadlocks: number }>(
    product,
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return row?.deadlocks ?? 0;
}

it('and a renewal at one moment wait for one another in one order', async () => {
  const renew = () => owner.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' });
  const rehearsed = () => owner.post(path(), { type: 'immediate', dry_run: true });
  const before = await deadlocks();
  const answers = await Promise.all(Array.from({ length: 4 }, () => [rehearsed(), renew()]).flat());
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  // What a connection has counted it tells a second later.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(await deadlocks()).toBe(before);
});

describe('at the end of the period', () => {
  it('a service runs until then, is not renewed, and its open invoice is cancelled', async () => {
    const { invoice_id: renewal } = (
      await owner.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' })
    ).body.data;
    const answer = await cancel();
    expect(answer.body.data).toEqual({
      cancelled: true,
      effective_at: '2027-05-01T00:00:00.000Z',
      refund: nothing,
    });
    expect(await service()).toMatchObject({ status: 'active', cancelled: true, duedate: '2027-05-01' });
    expect(await invoice(renewal)).toMatchObject({ status: 'cancelled' });
    expect(await preview()).toMatchObject({ cancelled: true, effective_at: '2027-05-01T00:00:00.000Z' });
    expect((await owner.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' })).body.code).toBe(
      'conflict',
    );
    expect(await mails()).toContain('Web hosting ends on 1 May 2027');
  });

  it('asked for again says the same, and tells nobody anew', async () => {
    const first = await cancel();
    await settled(product);
    const before = await contents(product);
    expect((await cancel()).body.data).toEqual(first.body.data);
    expect(await contents(product)).toEqual(before);
  });

  it('is taken back while it has not come true', async () => {
    const before = await service();
    await cancel();
    const answer = await owner.delete(path());
    expect(answer.body.data).toEqual({ cancelled: false, effective_at: null, refund: nothing });
    expect(await service()).toEqual(before);
    expect(await mails()).toContain('Web hosting goes on');
    await refused(() => owner.delete(path()), 'conflict', /no cancellation/);
  });

  it('of two at once, one of which takes back, leaves one of the two states', async () => {
    await Promise.all([cancel(), owner.delete(path()), cancel(), owner.delete(path())]);
    const { cancelled } = await service();
    expect((await preview()).cancelled).toBe(cancelled);
  });
});

describe('a dry run', () => {
  const dry = (type: string, of = id) => owner.post(path(of), { type, reason: 'We move', dry_run: true });

  /** Says what then happens, to the letter but for the moment, and leaves no trace. */
  async function foretells(type: string, of = id) {
    await settled(product);
    const before = await contents(product);
    const foretold = await dry(type, of);
    expect(foretold.status, JSON.stringify(foretold.body)).toBe(200);
    await settled(product);
    expect(await contents(product)).toEqual(before);
    const { data } = (await cancel(type, of)).body;
    const { effective_at: then, ...rest } = data;
    const { effective_at: said, ...saidRest } = foretold.body.data;
    expect(saidRest).toEqual(rest);
    expect(Math.abs(Date.parse(said) - Date.parse(then))).toBeLessThan(60_000);
    return data;
  }

  it('at once says what is given back: of all that was paid, of the unused days, of nothing', async () => {
    await at('2027-04-16T09:30:00Z'); // the withdrawal's last day was yesterday
    const [second, third] = [await delivered('annually'), await delivered()];
    expect((await foretells('immediate')).refund).toEqual(nothing);
    expect((await foretells('immediate', second)).refund).toMatchObject({ because: 'withdrawal' });
    await rule({ refund: 'unused', withdrawal_days: 0 });
    await at('2027-05-01T09:30:00Z'); // 14 of 30 days have not begun
    expect((await foretells('immediate', third)).refund).toMatchObject({ because: 'unused', total: '1.40' });
  });

  it('at the end of the period, beside a renewal that is open or was paid this moment', async () => {
    const renew = () => owner.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' });
    await payByCredit(owner, (await renew()).body.data.invoice_id);
    const { invoice_id: open } = (await renew()).body.data;
    const { effective_at: effectiveAt } = await foretells('end_of_period');
    expect(effectiveAt).toBe('2027-06-01T00:00:00.000Z');
    expect((await invoice(open)).status).toBe('cancelled');
    await foretells('end_of_period');
  });

  it('of what is not delivered, paid or not', async () => {
    const [unpaid, paid] = [await hosting(), await hosting()];
    await payByCredit(owner, paid.invoiceId);
    await foretells('immediate', unpaid.serviceId);
    expect((await foretells('immediate', paid.serviceId)).refund).toMatchObject({ because: 'not_delivered' });
  });

  it('is refused where cancelling is, in the same words', async () => {
    const { serviceId } = await hosting();
    await refused(() => dry('end_of_period', serviceId), 'conflict', /cancel it at once/);
    await cancel('immediate', serviceId);
    await cancel('immediate');
    await refused(() => dry('immediate'), 'conflict', /is terminated/);
    const answer = await owner.post(path(), { type: 'immediate', dry_run: 'yes' });
    expect(answer.body.code).toBe('invalid_request');
  });
});

describe('at once', () => {
  it('a service ends, and within the days of withdrawal all that was paid for it goes back', async () => {
    await at('2027-04-15T23:30:00Z');
    const before = await preview();
    expect(before).toMatchObject({
      withdrawal_until: '2027-04-15',
      immediate: { refund: { because: 'withdrawal', total: '3.00' } },
    });
    const had = Number(await credit());
    const answer = await cancel('immediate');
    expect(answer.body.data).toMatchObject({ cancelled: true, refund: before.immediate.refund });
    expect(answer.body.data.effective_at).toMatch(/^2027-04-15T23:3/);
    expect(await service()).toMatchObject({ status: 'terminated', cancelled: true });
    expect(Number(await credit())).toBe(had + 3);
    await refused(() => cancel('immediate'), 'conflict', /terminated/);
    await refused(() => owner.delete(path()), 'conflict');
    expect(await preview()).toMatchObject({
      ...{ immediate: null, end_of_period: null, effective_at: expect.stringMatching(/^2027-04-15T23:3/) },
    });
  });

  it('later gives back what the rule of the provider says', async () => {
    await at('2027-04-16T00:00:00Z'); // 14 of 30 days have not begun
    expect((await preview()).immediate.refund).toEqual(nothing);
    await rule({ refund: 'unused' });
    const { refund } = (await preview()).immediate;
    expect(refund).toMatchObject({ because: 'unused', total: '1.40' });
    expect((await cancel('immediate')).body.data.refund).toEqual(refund);
    expect(await invoice(refund.invoices[0].invoice_id)).toMatchObject({
      status: 'partially_refunded',
      refunded: '1.40',
    });
  });

  it('gives nothing back of what a company bought, where the right is that of consumers', async () => {
    const company = { kind: 'company', consumer: false, name: 'A company' };
    expect((await owner.patch('/dashboard/billing/profile', company)).status).toBe(200);
    // What was bought before was bought by a consumer, whose right stays.
    expect((await preview()).immediate.refund.total).toBe('3.00');
    id = await delivered();
    expect((await preview()).immediate.refund).toEqual(nothing);
    // Nobody becomes a consumer after the order.
    const person = { kind: 'person', consumer: true };
    expect((await owner.patch('/dashboard/billing/profile', person)).status).toBe(200);
    expect((await preview()).immediate.refund).toEqual(nothing);
    expect((await preview()).withdrawal_until).toBeNull();
    await rule({ withdrawal_for: 'everyone' });
    expect((await preview()).immediate.refund.total).toBe('3.00');
    await rule({ withdrawal_days: 0 });
    expect((await preview()).immediate.refund).toEqual(nothing);
  });

  it('gives back what was paid, and not what it would have cost', async () => {
    await sql(
      product,
      `insert into coupons (code, percent, created_at) values ('HALF', 50, now()) on conflict do nothing`,
    );
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const order = { products: [item], couponcode: 'HALF' };
    const { data } = (await owner.post('/cart/checkout/invoice', order)).body;
    await payByCredit(owner, data.invoice_id);
    await settled(product);
    await product.staff.post(`/staff/services/${data.service_ids[0]}/deliver`, {});
    expect((await preview(data.service_ids[0])).immediate.refund.total).toBe('1.50');
  });

  it('gives back each of several periods that are paid ahead, and no more after staff gave a part back', async () => {
    await rule({ refund: 'unused', withdrawal_days: 0 });
    for (const cycle of ['monthly', 'monthly']) {
      const { invoice_id } = (await owner.post(`/dashboard/services/${id}/renew`, { cycle })).body.data;
      await payByCredit(owner, invoice_id);
      await settled(product);
    }
    await at('2027-04-16T00:00:00Z');
    const { refund } = (await preview()).immediate;
    expect(refund.total).toBe('7.40'); // 14 days of April, May and June
    const [, may] = refund.invoices;
    await product.staff.post(`/staff/invoices/${may.invoice_id}/refund`, {
      ...{ method: 'credit', reason: 'kindness', amount: '2.00' },
    });
    expect((await preview()).immediate.refund.total).toBe('5.40');
    expect((await cancel('immediate')).status).toBe(200);
  });

  it('gives back what paid a part of a shorter period by the days of that one', async () => {
    await rule({ refund: 'unused', withdrawal_days: 0 });
    const dear = await newHosting(product, 3_100, { name: 'Dear' });
    const year = await delivered('annually'); // 30.00
    const asked = { product_id: dear, cycle: 'monthly' };
    const { data } = (await owner.post(`/dashboard/services/${year}/upgrade`, asked)).body;
    expect(data).toMatchObject({ credit: '30.00', total: '1.00', new_duedate: '2027-05-01' });
    await payByCredit(owner, data.invoice_id);
    await settled(product);
    await at('2027-04-16T00:00:00Z'); // 14 of 30 days have not begun, of 31.00
    expect((await preview(year)).immediate.refund.total).toBe('14.46');
    await at('2027-04-30T00:00:00Z');
    expect((await preview(year)).immediate.refund).toEqual(nothing);
  });

  it('ends a machine, and its open upgrade with it', async () => {
    const { serviceId: vps } = await runningVps(product, owner);
    const { invoice_id: upgrade } = (
      await owner.post(`/dashboard/services/${vps}/upgrade-vps`, { option1: 2 })
    ).body.data;
    expect((await cancel('immediate', vps)).status).toBe(200);
    await settled(product);
    expect(await service(vps)).toMatchObject({ status: 'terminated' });
    expect(await invoice(upgrade)).toMatchObject({ status: 'cancelled' });
  });

  it('is once, however many ask', async () => {
    const had = Number(await credit());
    const answers = await Promise.all(Array.from({ length: 6 }, () => cancel('immediate')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(Number(await credit())).toBe(had + 3);
  });
});

describe('what is not delivered', () => {
  it('and not paid is cancelled with its invoice', async () => {
    const { serviceId, invoiceId } = await orderVps(product, owner);
    expect((await cancel('immediate', serviceId)).body.data).toMatchObject({
      cancelled: true,
      refund: nothing,
    });
    expect(await service(serviceId)).toMatchObject({ status: 'cancelled' });
    expect(await invoice(invoiceId)).toMatchObject({ status: 'cancelled' });
    await settled(product);
    expect(await sql(product, 'select 1 from addresses where service_id = $1', serviceId)).toEqual([]);
  });

  it('and paid is cancelled, and all of it goes back', async () => {
    const { serviceId, invoiceId } = await hosting();
    await payByCredit(owner, invoiceId);
    await settled(product);
    expect((await preview(serviceId)).immediate.refund).toMatchObject({
      because: 'not_delivered',
      total: '3.00',
    });
    expect((await cancel('immediate', serviceId)).status).toBe(200);
    await settled(product);
    expect(await service(serviceId)).toMatchObject({ status: 'cancelled' });
    expect(await invoice(invoiceId)).toMatchObject({ status: 'refunded' });
  });

  it('beside others of one order leaves those alone once that is paid, and is refused before', async () => {
    const invoiceId = await newInvoice(product, owner, 2);
    const [one, other] = (await invoice(invoiceId)).items.map(
      ({ service_id }: { service_id: number }) => service_id,
    );
    await refused(() => cancel('immediate', one), 'conflict', /more than this service/);
    await payByCredit(owner, invoiceId);
    await settled(product);
    expect((await cancel('immediate', one)).body.data.refund.total).toBe('3.00');
    await settled(product);
    expect(await service(one)).toMatchObject({ status: 'cancelled' });
    expect(await service(other)).toMatchObject({ status: 'pending' });
    expect(await invoice(invoiceId)).toMatchObject({ status: 'partially_refunded', refunded: '3.00' });
  });

  it('and was taken off the bill by staff gives nothing back of what was paid for another', async () => {
    const invoiceId = await newInvoice(product, owner, 2);
    const [one] = (await invoice(invoiceId)).items;
    await payByCredit(owner, invoiceId);
    await settled(product);
    const correction = { method: 'credit', reason: 'A slip', lines: [{ line: 1 }] };
    expect((await product.staff.post(`/staff/invoices/${invoiceId}/correct`, correction)).status).toBe(200);
    await settled(product);
    expect((await preview(one.service_id)).immediate.refund).toEqual(nothing);
    expect((await cancel('immediate', one.service_id)).body.data.refund).toEqual(nothing);
  });

  it('has no period to end with', async () => {
    const { serviceId } = await hosting();
    await refused(() => cancel('end_of_period', serviceId), 'conflict', /at once/);
  });
});

describe('refused, and nothing changes', () => {
  it('for strangers, for members who do not rule, for what there is not, and for no answer', async () => {
    const stranger = await newCustomer(product);
    const roles = ['billing', 'technical', 'viewer'] as const;
    const members = await Promise.all(roles.map((role) => newMember(product, owner.organizationId, role)));
    await settled(product);
    const before = await contents(product);
    const codeOf = async (answer: ReturnType<typeof cancel>) => (await answer).body.code;
    expect(await codeOf(cancel('immediate', id, stranger))).toBe('forbidden');
    for (const member of members) {
      expect(await codeOf(cancel('immediate', id, member))).toBe('permission_denied');
      expect(await codeOf(member.delete(path()))).toBe('permission_denied');
    }
    expect(await codeOf(cancel('immediate', 4242))).toBe('not_found');
    const long = { type: 'immediate', reason: 'x'.repeat(501) };
    for (const body of [{}, { type: 'later' }, { type: 'immediate', reason: 7 }, long])
      expect(await codeOf(owner.post(path(), body))).toBe('invalid_request');
    expect(await contents(product)).toEqual(before);
  });
});
