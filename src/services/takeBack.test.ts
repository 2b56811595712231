import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { audit } from '../../test/crash/audit.ts';
import { payByCredit } from '../../test/invoices.ts';
import { runningVps } from '../../test/orders.ts';
import { newCustomer, type Person, signedIn } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { addMonths, addProduct, type Cycle, monthsOf } from '../catalog/index.ts';
import { demoProducts } from '../demo/products.ts';
import { transaction } from '../platform/index.ts';

// Each product costs far more than the one before it, so that no period is worth as much as one of the next product.
let product: TestProduct;
let owner: Person;
let plain: number;
let dear: number;
let dearest: number;

beforeAll(async () => {
  const capacity = { cpuCores: 100, memoryMib: 1_000_000, diskGib: 10_000, acceleration: 'none' as const };
  product = await startTestProduct({ simulator: { capacity } });
  const { hosting } = demoProducts('AMS');
  const add = (name: string, minor: number) =>
    transaction(product.ctx, 'test.addProduct', (tx) => {
      const sold = (['monthly', 'quarterly', 'annually'] as const).map((cycle) => ({
        ...{ cycle, priceMinor: minor * monthsOf[cycle], setupFeeMinor: 0 },
      }));
      return addProduct(tx, { ...hosting, name, prices: sold });
    });
  [plain, dear, dearest] = [
    await add('Plain', 100),
    await add('Dear', 10_000),
    await add('Dearest', 1_000_000),
  ];
});
afterAll(() => product.stop());
beforeEach(async () => {
  product.clock.set(new Date('2027-04-01T09:30:00Z'));
  await product.periodic('fleet.watchNodes');
  owner = await newCustomer(product, { creditMinor: 100_000_000 });
});

/** Ordered, paid by a transfer so that it can be taken back, and delivered. */
async function delivered(by: Person, cycle: Cycle) {
  const item = { id: plain, cycle, type: 'Hosting' };
  const { data } = (await by.post('/cart/checkout/invoice', { products: [item] })).body;
  const path = `/staff/organizations/${by.organizationId}/transfers`;
  const money = { amount: data.total, currency: 'EUR', reference: `T-${data.invoice_id}` };
  const sent = await product.staff.post(path, { ...money, invoices: [{ invoice_id: data.invoice_id }] });
  expect(sent.status, JSON.stringify(sent.body)).toBe(200);
  await settled(product);
  const [serviceId] = data.service_ids;
  expect((await product.staff.post(`/staff/services/${serviceId}/deliver`, {})).status).toBe(200);
  await settled(product);
  return { id: serviceId as number, transferId: sent.body.data.transfer.id as number };
}

const service = async (id: number, by = owner) =>
  (await by.get(`/dashboard/services/${id}`)).body.data.service;

async function paid(invoiceId: number, by = owner): Promise<number> {
  const answer = await payByCredit(by, invoiceId);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await settled(product);
  return invoiceId;
}

async function renewed(id: number, cycle: Cycle): Promise<number> {
  const answer = await owner.post(`/dashboard/services/${id}/renew`, { cycle });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return paid(answer.body.data.invoice_id);
}

async function changed(id: number, to: number, cycle?: Cycle): Promise<number> {
  const answer = await owner.post(`/dashboard/services/${id}/upgrade`, { product_id: to, cycle });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return paid(answer.body.data.invoice_id);
}

async function refund(invoiceId: number): Promise<void> {
  const body = { reason: 'A slip', method: 'credit' };
  const answer = await product.staff.post(`/staff/invoices/${invoiceId}/refund`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await settled(product);
}

async function takeBackTransfer(id: number): Promise<void> {
  const answer = await product.staff.post(`/staff/transfers/${id}/take-back`, { reason: 'A slip' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await settled(product);
}

const failedJobs = () =>
  sql(product, `select name, error_message from jobs where state in ('failed', 'stuck')`);

describe('what was given back while something stood upon it', () => {
  it('goes back once nothing does: a change of product, before the renewal that followed it', async () => {
    const { id } = await delivered(owner, 'monthly');
    const change = await changed(id, dear);
    const renewal = await renewed(id, 'monthly');
    await refund(change);
    expect(await service(id)).toMatchObject({ product: { name: 'Dear' }, duedate: '2027-06-01' });
    await refund(renewal);
    expect(await service(id)).toMatchObject({
      ...{ product: { name: 'Plain' }, price: '1.00', duedate: '2027-05-01' },
    });
  });

  it('goes back once nothing does: a period begun anew, before another one that was', async () => {
    const { id } = await delivered(owner, 'monthly');
    const first = await changed(id, dear, 'annually');
    const second = await changed(id, dearest, 'quarterly');
    await refund(first);
    expect(await service(id)).toMatchObject({ product: { name: 'Dearest' }, duedate: '2027-07-01' });
    await refund(second);
    expect(await service(id)).toMatchObject({ product: { name: 'Plain' }, duedate: '2027-05-01' });
  });

  it('goes back once nothing does: the order that a bank took back, and a renewal, under a period begun anew', async () => {
    const { id, transferId } = await delivered(owner, 'monthly');
    const renewal = await renewed(id, 'monthly');
    const change = await changed(id, dear, 'annually');
    await takeBackTransfer(transferId);
    await refund(renewal);
    expect(await service(id)).toMatchObject({ duedate: '2028-04-01' });
    await refund(change);
    expect(await service(id)).toMatchObject({ product: { name: 'Plain' }, duedate: '2027-04-01' });
  });
});

it('a size that was paid and does not count yet gives back the days of a period that is given back', async () => {
  const { serviceId } = await runningVps(product, owner);
  const renewal = await renewed(serviceId, 'monthly');
  const resize = await owner.post(`/dashboard/services/${serviceId}/upgrade-vps`, { option3: 2 });
  const { invoice_id: invoiceId, prorated_charge: charge } = resize.body.data;
  // As it is between the payment and the job that it enqueued.
  const become = (state: string) =>
    sql(product, 'update vps_upgrades set state = $2 where invoice_id = $1', invoiceId, state);
  await become('expired');
  await paid(invoiceId);
  await become('waiting');
  await refund(renewal);
  const { refunded, status } = await invoice(invoiceId);
  // It was paid for April and May; May is nobody's any more.
  expect(status).toBe('partially_refunded');
  expect(Number(refunded)).toBeCloseTo((Number(charge) * 31) / 61, 1);
  await become('expired');
});

it('periods that move to a day on which another one began each keep their own', async () => {
  const { id } = await delivered(owner, 'quarterly'); // until 1 July
  const change = await changed(id, dear, 'monthly'); // until 1 May
  for (const _ of [1, 2, 3, 4]) await renewed(id, 'monthly');
  expect(await service(id)).toMatchObject({ duedate: '2027-09-01' });
  await refund(change);
  expect(await failedJobs()).toEqual([]);
  expect(await service(id)).toMatchObject({ duedate: '2027-11-01' });
});

it('periods that count again beside later ones on the same days each keep their own', async () => {
  const { id } = await delivered(owner, 'quarterly'); // until 1 July
  await renewed(id, 'quarterly'); // from 1 July
  const change = await changed(id, dear, 'monthly'); // until 1 May
  for (const _ of [1, 2, 3]) await renewed(id, 'monthly'); // the last one from 1 July
  await refund(change);
  expect(await failedJobs()).toEqual([]);
  expect(await service(id)).toMatchObject({ duedate: '2028-01-01' });
});

/** Pays an invoice by two transfers, a cent and the rest; gives the second one, which most of it came by. */
async function paidByTwo(invoiceId: number, by = owner): Promise<number> {
  const { total } = (await by.get(`/dashboard/invoices/${invoiceId}`)).body.data.invoice;
  const path = `/staff/organizations/${by.organizationId}/transfers`;
  let last = 0;
  for (const amount of ['0.01', (Number(total) - 0.01).toFixed(2)]) {
    const money = { amount, currency: 'EUR', reference: `T-${invoiceId}-${amount}` };
    const sent = await product.staff.post(path, { ...money, invoices: [{ invoice_id: invoiceId }] });
    expect(sent.status, JSON.stringify(sent.body)).toBe(200);
    last = sent.body.data.transfer.id;
  }
  await settled(product);
  return last;
}

const invoice = async (id: number, by = owner) =>
  (await by.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const creditOf = async (by = owner) => (await by.get('/dashboard/invoices')).body.data.credit_balance;

describe('what else paid for something whose money was never its customer’s', () => {
  it('stays where a change swallowed its period, and becomes credit once that is taken back', async () => {
    const { id } = await delivered(owner, 'monthly');
    const { invoice_id: renewal } = (
      await owner.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' })
    ).body.data;
    const transferId = await paidByTwo(renewal);
    const change = await changed(id, dear, 'annually');
    const before = await creditOf();
    await takeBackTransfer(transferId);
    expect(await invoice(renewal)).toMatchObject({ status: 'partially_refunded', refunded: '0.99' });
    expect(await creditOf()).toBe(before);
    expect(await service(id)).toMatchObject({ duedate: '2028-04-01' });
    await refund(change);
    expect(await invoice(renewal)).toMatchObject({ status: 'refunded' });
    expect(await service(id)).toMatchObject({ duedate: '2027-05-01', product: { name: 'Plain' } });
  });

  it('stays where a machine has the size that it paid for, which staff is told of who refunds it', async () => {
    const { serviceId } = await runningVps(product, owner);
    const resize = (more: object) => owner.post(`/dashboard/services/${serviceId}/upgrade-vps`, more);
    const { invoice_id: first } = (await resize({ option3: 2 })).body.data;
    const transferId = await paidByTwo(first);
    const { price } = await service(serviceId);
    const before = await creditOf();
    await takeBackTransfer(transferId);
    expect(await invoice(first)).toMatchObject({ status: 'partially_refunded' });
    expect(await creditOf()).toBe(before);
    expect(await service(serviceId)).toMatchObject({ price });
    const { invoice_id: second } = (await resize({ option3: 4 })).body.data;
    await paid(second);
    const answer = await product.staff.post(`/staff/invoices/${second}/refund`, {
      method: 'credit',
      reason: 'A',
    });
    expect(answer.body.data).toMatchObject({
      invoice: { id: second, status: 'refunded' },
      stays: [
        { service_id: serviceId, message: expect.stringContaining('keeps what this invoice paid for') },
      ],
    });
    await settled(product);
    expect((await service(serviceId)).options).toMatchObject({ option3: 4 });
  });

  it('becomes credit for the services of an order that are not had yet, and not for one that has ended', async () => {
    const item = { id: plain, cycle: 'annually', type: 'Hosting' };
    const { data } = (await owner.post('/cart/checkout/invoice', { products: [item, item] })).body;
    const [one, other] = data.service_ids as [number, number];
    const path = `/staff/organizations/${owner.organizationId}/transfers`;
    const pay = (amount: string) =>
      product.staff.post(path, {
        ...{ amount, currency: 'EUR', reference: `T-${data.invoice_id}-${amount}` },
        invoices: [{ invoice_id: data.invoice_id }],
      });
    await pay('14.00');
    const { id: transferId } = (await pay('10.00')).body.data.transfer;
    await settled(product);
    expect((await product.staff.post(`/staff/services/${one}/deliver`, {})).status).toBe(200);
    await settled(product);
    await product.staff.post(`/staff/services/${one}/terminate`, { reason: 'A test' });
    await settled(product);
    const before = Number(await creditOf());
    await takeBackTransfer(transferId);
    // 24.00 were for two: 10.00 are gone, 12.00 were had, and 2.00 were for the one that nobody delivers now.
    expect(Number(await creditOf())).toBe(before + 2);
    expect((await service(other)).status).toBe('cancelled');
    expect((await service(one)).status).toBe('terminated');
  });
});

it('each service of an order that a bank took a part of is given back once, when its own period is taken back', async () => {
  const item = { id: plain, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await owner.post('/cart/checkout/invoice', { products: [item, item, item] })).body;
  const [first, second, ended] = data.service_ids as [number, number, number];
  const path = `/staff/organizations/${owner.organizationId}/transfers`;
  const pay = (amount: string) =>
    product.staff.post(path, {
      ...{ amount, currency: 'EUR', reference: `T-${data.invoice_id}-${amount}` },
      invoices: [{ invoice_id: data.invoice_id }],
    });
  await pay('2.70');
  const { id: transferId } = (await pay('0.30')).body.data.transfer;
  await settled(product);
  for (const id of [first, second, ended]) await product.staff.post(`/staff/services/${id}/deliver`, {});
  await settled(product);
  await product.staff.post(`/staff/services/${ended}/terminate`, { reason: 'A test' });
  const change = await changed(second, dear, 'annually');
  const before = Number(await creditOf());
  await takeBackTransfer(transferId);
  // 0.30 of the first one's 1.00 are gone, and the second one's period is swallowed by the change.
  expect(Number(await creditOf())).toBeCloseTo(before + 0.7, 2);
  expect(await service(first)).toMatchObject({ duedate: '2027-04-01' });
  expect(await service(second)).toMatchObject({ duedate: '2028-04-01' });
  const { total } = await invoice(change);
  await refund(change);
  expect(Number(await creditOf())).toBeCloseTo(before + 0.7 + Number(total) + 1, 2);
  expect(await service(second)).toMatchObject({ duedate: '2027-04-01', product: { name: 'Plain' } });
  // Whatever else is taken back afterwards, what was had stays paid.
  await refund(await renewed(second, 'monthly'));
  expect(Number(await creditOf())).toBeCloseTo(before + 0.7 + Number(total) + 1, 2);
  expect(await invoice(data.invoice_id)).toMatchObject({ status: 'partially_refunded', refunded: '2.00' });
  expect(await failedJobs()).toEqual([]);
});

it('a service that was moved loses the time whose money was never its first customer’s, and each gets what they paid', async () => {
  const { id, transferId } = await delivered(owner, 'monthly');
  const renewal = await renewed(id, 'monthly');
  const other = await newCustomer(product, { creditMinor: 50_000 });
  await sql(
    product,
    `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'admin', now())`,
    ...[other.organizationId, owner.userId],
  );
  const here = await signedIn(product, owner);
  // What staff has to do by hand is done before it goes.
  for (const task of ['renew', 'change']) await product.staff.post(`/staff/services/${id}/done`, { task });
  const moved = await here.post(`/dashboard/services/${id}/move`, { organization_id: other.organizationId });
  expect(moved.status, JSON.stringify(moved.body)).toBe(200);
  const { invoice_id: open } = (await other.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' }))
    .body.data;
  const credits = [Number(await creditOf()), Number(await creditOf(other))];
  await takeBackTransfer(transferId);
  expect(await failedJobs()).toEqual([]);
  expect(await service(id, other)).toMatchObject({ status: 'active', duedate: '2027-05-01' });
  expect(await invoice(open, other)).toMatchObject({ status: 'cancelled' });
  await refund(renewal);
  expect(await service(id, other)).toMatchObject({ status: 'active', duedate: '2027-04-01' });
  expect([Number(await creditOf()), Number(await creditOf(other))]).toEqual([
    (credits[0] ?? 0) + 1,
    credits[1],
  ]);
});

/** Something that paid for time of a service; the time follows from those that count, one after the other. */
interface Fact {
  invoiceId: number;
  counts: boolean;
  months: number;
  /** Of a change that began the periods anew. */
  anew?: { from: string; to: string };
}

interface Lane {
  by: Person;
  id: number;
  transferId: number;
  facts: Fact[];
}

const firstDay = '2027-04-01';

function dueDateOf(facts: readonly Fact[]): string {
  let [due, anchor] = [firstDay, 1];
  for (const { counts, months, anew } of facts) {
    if (!counts) continue;
    if (anew) anchor = Number(anew.from.slice(8));
    due = anew?.to ?? addMonths(due, months, anchor);
  }
  return due;
}

const cycle = fc.constantFrom<Cycle>('monthly', 'quarterly', 'annually');
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('renew' as const), cycle }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('change' as const), to: fc.constantFrom(0, 1, 2), cycle }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('refund' as const), which: fc.nat(100) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function take(lane: Lane, what: Step): Promise<void> {
  const { by, id, facts } = lane;
  if (what.kind === 'refund') return giveBack(lane, what.which);
  const path = `/dashboard/services/${id}/${what.kind === 'renew' ? 'renew' : 'upgrade'}`;
  const to = what.kind === 'change' ? [plain, dear, dearest][what.to] : undefined;
  const { billingCycle } = await service(id, by);
  const answer = await by.post(path, { cycle: what.cycle, ...(to && { product_id: to }) });
  // Not every change fits: what is paid may be worth more, or it is due, or the same as before.
  if (answer.status !== 200) return expect([400, 409], JSON.stringify(answer.body)).toContain(answer.status);
  const { invoice_id: invoiceId, new_duedate: until } = answer.body.data;
  if (invoiceId === null) return;
  const paying = await payByCredit(by, invoiceId);
  expect(paying.status, JSON.stringify(paying.body)).toBe(200);
  const from = product.clock.now().toISOString().slice(0, 10);
  const isAnew = what.kind === 'change' && billingCycle !== what.cycle;
  if (what.kind === 'change' && !isAnew) return;
  facts.push({
    ...{ invoiceId, counts: true, months: monthsOf[what.cycle] },
    ...(isAnew && { anew: { from, to: until } }),
  });
}

/** The first one is the order, whose transfer is taken back. */
async function giveBack({ facts, transferId }: Lane, which: number): Promise<void> {
  const counting = facts.filter(({ counts }) => counts);
  const fact = counting[which % Math.max(1, counting.length)];
  if (fact === undefined) return;
  const answer =
    fact === facts[0]
      ? await product.staff.post(`/staff/transfers/${transferId}/take-back`, { reason: 'A slip' })
      : await product.staff.post(`/staff/invoices/${fact.invoiceId}/refund`, {
          reason: 'A',
          method: 'credit',
        });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  fact.counts = false;
}

const seed = Number(process.env.TAKE_BACK_SEED ?? Date.now() % 2_147_483_647);
const [lanes, steps] = [Number(process.env.TAKE_BACK_LANES ?? 12), 12];

it(`whatever is paid and given back in whichever order, the paid time is what still counts, one after the other (seed ${seed})`, async () => {
  const all: Lane[] = [];
  for (let nth = 0; nth < lanes; nth += 1) {
    const by = await newCustomer(product, { creditMinor: 10_000_000_000 });
    const first = (['monthly', 'quarterly', 'annually'] as const)[nth % 3] ?? 'monthly';
    const { id, transferId } = await delivered(by, first);
    const order = await sql<{ id: number }>(
      product,
      'select invoice_id as id from services where id = $1',
      id,
    );
    const facts = [{ invoiceId: order[0]?.id ?? 0, counts: true, months: monthsOf[first] }];
    all.push({ by, id, transferId, facts });
  }
  const sampled = fc.sample(step, { seed, numRuns: lanes * steps });
  const holds = async (when: string) => {
    await settled(product);
    expect(await failedJobs(), when).toEqual([]);
    for (const { by, id, facts } of all)
      expect((await service(id, by)).duedate, `${when}, service ${id}: ${JSON.stringify(facts)}`).toBe(
        dueDateOf(facts),
      );
  };
  for (let at = 0; at < steps; at += 1) {
    await Promise.all(all.map((lane, nth) => take(lane, sampled[at * lanes + nth] as Step)));
    await holds(`step ${at}`);
    if (at % 4 === 3) product.clock.travel(9 * 86_400_000);
  }
  // All the rest goes back as well, in whichever order.
  for (let at = 0; all.some(({ facts }) => facts.some(({ counts }) => counts)); at += 1) {
    await Promise.all(all.map((lane, nth) => giveBack(lane, (seed + at * 7 + nth * 13) % 101)));
    await holds(`given back, ${at}`);
  }
  for (const { by, id } of all) expect(await service(id, by)).toMatchObject({ duedate: firstDay });
  expect(await audit(product.databaseUrl)).toEqual([]);
}, 300_000);
