import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { watchChanges } from '../../../test/noted.ts';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

const changes = watchChanges();

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
});
afterAll(async () => {
  await settled(paid.product);
  expect(await audit(paid.product.databaseUrl)).toEqual([]);
  paid.product.clock.travel(86_400_000);
  await paid.product.periodic('billing.checkLedger');
  expect(await sql(paid.product, 'select message from ledger_differences')).toEqual([]);
  await paid.stop();
});

const invoiceOf = async (who: Person, id: number) =>
  (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const creditOf = async (who: Person) => (await who.get('/dashboard/invoices')).body.data.credit_balance;
const staff = async (path: string, body: object) => {
  const answer = await paid.product.staff.post(`/staff/${path}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data;
};
const text = (minor: number) => (minor / 100).toFixed(2);

/** The part of an invoice that is due, by card; gives the payment's name. */
async function byCard(who: Person, id: number): Promise<string> {
  const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
  await paid.click(body.data.redirect_url);
  const { payments } = await until(
    () => invoiceOf(who, id),
    ({ status }) => status === 'paid',
  );
  await settled(paid.product);
  return payments.find(({ method }: { method: string }) => method === 'stripe').reference;
}

/** Orders a piece of each of these prices, and says which services they are. */
async function ordered(who: Person, prices: readonly number[]) {
  const products: object[] = [];
  for (const minor of prices)
    products.push({ id: await newHosting(paid.product, minor), cycle: 'monthly', type: 'Hosting' });
  const { data } = (await who.post('/cart/checkout/invoice', { products })).body;
  return { id: data.invoice_id as number, services: data.service_ids as number[] };
}

/** Delivered, and over: whoever pays for it has had it. */
async function had(serviceId: number): Promise<void> {
  await staff(`services/${serviceId}/deliver`, {});
  await settled(paid.product);
  await staff(`services/${serviceId}/terminate`, { reason: 'A test' });
  await settled(paid.product);
}

async function decided(dispute: string, outcome: 'won' | 'lost'): Promise<void> {
  paid.stripe.account.closeDispute(dispute, outcome);
  await until(
    () => sql<{ state: string }>(paid.product, 'select state from disputes where reference = $1', dispute),
    ([row]) => row?.state === outcome,
  );
  await settled(paid.product);
}

interface Document {
  id: number;
  total: string;
  corrects_invoice_id: number | null;
}

const documentsOf = async (who: Person, id: number): Promise<Document[]> =>
  (await who.get('/dashboard/invoices?limit=50')).body.data.invoices.filter(
    (each: Document) => each.corrects_invoice_id === id,
  );

it('a dispute that is won after it was lost pays again for what was had, and the customer gets no credit for that', async () => {
  const who = await newCustomer(paid.product);
  const { id, services } = await ordered(who, [300]);
  const path = `organizations/${who.organizationId}/transfers`;
  await staff(path, {
    ...{ amount: '2.00', currency: 'EUR', reference: `WON-${id}` },
    invoices: [{ invoice_id: id }],
  });
  const intent = await byCard(who, id);
  await had(services[0] ?? 0);
  const dispute = paid.stripe.account.dispute(intent).id;
  await decided(dispute, 'lost');
  expect(await invoiceOf(who, id)).toMatchObject({ status: 'partially_refunded', refunded: '1.00' });
  await decided(dispute, 'won');
  expect(await invoiceOf(who, id)).toMatchObject({ status: 'paid', refunded: '0.00', date_refunded: null });
  expect(await creditOf(who)).toBe('0.00');
  const documents = await documentsOf(who, id);
  expect(documents.map(({ total }) => total).toSorted()).toEqual(['-1.00', '1.00']);
  for (const { id: note } of documents)
    expect((await who.get(`/dashboard/invoices/${note}/pdf`)).status).toBe(200);
  const { mails } = (await paid.product.staff.get(`/staff/mails?recipient=${encodeURIComponent(who.email)}`))
    .body.data;
  expect(mails.map(({ subject }: { subject: string }) => subject)).toContain(`Invoice ${id} is paid again`);
  // And once more, whatever the provider says.
  await decided(dispute, 'lost');
  expect(await invoiceOf(who, id)).toMatchObject({ status: 'partially_refunded', refunded: '1.00' });
  await decided(dispute, 'won');
  expect(await invoiceOf(who, id)).toMatchObject({ status: 'paid', refunded: '0.00' });
  expect(await creditOf(who)).toBe('0.00');
});

it('a size that a machine keeps is paid again, and what of it is for days to come is earned as before', async () => {
  const who = await newCustomer(paid.product, { creditMinor: 10_000 });
  const { serviceId } = await runningVps(paid.product, who);
  const had = await creditOf(who);
  const { invoice_id: id } = (await who.post(`/dashboard/services/${serviceId}/upgrade-vps`, { option3: 2 }))
    .body.data;
  const dispute = paid.stripe.account.dispute(await byCard(who, id)).id;
  await decided(dispute, 'lost');
  expect((await invoiceOf(who, id)).status).toBe('refunded');
  await decided(dispute, 'won');
  expect([(await invoiceOf(who, id)).status, await creditOf(who)]).toEqual(['paid', had]);
  expect((await who.get(`/dashboard/services/${serviceId}`)).body.data.service.options).toMatchObject({
    option3: 2,
  });
  const owed = () =>
    sql<{ minor: number }>(
      paid.product,
      `select (amount_minor - earned_minor - returned_minor)::int as minor from deferrals where invoice_id = $1`,
      id,
    );
  expect((await owed())[0]?.minor).toBeGreaterThan(0);
  paid.product.clock.travel(40 * 86_400_000);
  await paid.product.periodic('billing.earn');
  expect(await owed()).toEqual([{ minor: 0 }]);
});

it('what staff invoiced by hand stays sold, and money for it is no credit', async () => {
  const who = await newCustomer(paid.product);
  const body = {
    ...{ organization_id: who.organizationId, currency: 'EUR' },
    lines: [{ description: 'Work on site', unit_price: '40.00' }],
  };
  const { id } = (await staff('invoices', body)).invoice;
  const dispute = paid.stripe.account.dispute(await byCard(who, id)).id;
  await decided(dispute, 'lost');
  expect((await invoiceOf(who, id)).status).toBe('refunded');
  await decided(dispute, 'won');
  expect([(await invoiceOf(who, id)).status, await creditOf(who)]).toEqual(['paid', '0.00']);
});

it('credit that was bought is there again, and its invoice is paid', async () => {
  const who = await newCustomer(paid.product);
  const { invoice_id: id } = (await who.post('/dashboard/credit/top-up', { amount: '5.00' })).body.data;
  const dispute = paid.stripe.account.dispute(await byCard(who, id)).id;
  await decided(dispute, 'lost');
  expect([(await invoiceOf(who, id)).status, await creditOf(who)]).toEqual(['refunded', '0.00']);
  await decided(dispute, 'won');
  expect([(await invoiceOf(who, id)).status, await creditOf(who)]).toEqual(['paid', '5.00']);
});

it('of a return so old that its books do not say what was had, staff decides, and is told until then', async () => {
  const who = await newCustomer(paid.product);
  const { id, services } = await ordered(who, [600]);
  const intent = await byCard(who, id);
  await had(services[0] ?? 0);
  const reference = paid.stripe.account.dispute(intent).id;
  await decided(reference, 'lost');
  await sql(paid.product, 'update charge_returns set is_told = false where reference = $1', reference);
  await decided(reference, 'won');
  expect(await creditOf(who)).toBe('0.00');
  const concerns = async () =>
    (await paid.product.staff.get('/staff/attention')).body.data.concerns.filter(
      ({ kind }: { kind: string }) => kind === 'dispute.unclear',
    );
  const [concern] = await concerns();
  expect(concern.message).toContain(`of invoice ${id} was won after it was lost`);
  const { id: dispute } = concern.subject;
  const settle = (credit: string) =>
    paid.product.staff.post(`/staff/disputes/${dispute}/settle`, {
      credit,
      reason: 'A month that was not had',
    });
  expect((await paid.product.staff.get(`/staff/disputes/${dispute}`)).body.data.dispute.unclear).toBe('6.00');
  for (const credit of ['6.01', '-1.00', '1.001'])
    expect((await settle(credit)).body.code).toBe('invalid_amount');
  const answers = await Promise.all([settle('2.50'), settle('2.50'), settle('2.50')]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  expect([await creditOf(who), await concerns()]).toEqual(['2.50', []]);
});

it('what the bank has taken once more before staff decided is nobody’s to give', async () => {
  const who = await newCustomer(paid.product);
  const { id, services } = await ordered(who, [600]);
  const intent = await byCard(who, id);
  await had(services[0] ?? 0);
  const reference = paid.stripe.account.dispute(intent).id;
  await decided(reference, 'lost');
  await sql(paid.product, 'update charge_returns set is_told = false where reference = $1', reference);
  await decided(reference, 'won');
  const [{ id: dispute, unclear_minor: unclear } = { id: 0, unclear_minor: 0 }] = await sql<{
    id: number;
    unclear_minor: number;
  }>(paid.product, 'select id, unclear_minor::int from disputes where reference = $1', reference);
  expect(unclear).toBe(600);
  await decided(reference, 'lost');
  const answer = await paid.product.staff.post(`/staff/disputes/${dispute}/settle`, {
    credit: '6.00',
    reason: 'A month that was not had',
  });
  expect([answer.status, await creditOf(who)]).toEqual([409, '0.00']);
});

const line = fc.record({ minor: fc.integer({ min: 200, max: 900 }), isHad: fc.boolean() });
const sale = fc.record({
  lines: fc.array(line, { minLength: 1, maxLength: 3 }),
  /** What comes by transfer (a card takes no cents), and what staff gives back as a kindness, in hundredths of the whole. */
  byTransfer: fc.integer({ min: 0, max: 70 }),
  rebate: fc.integer({ min: 0, max: 60 }),
  rounds: fc.integer({ min: 1, max: 2 }),
});
const seed = Number(process.env.WON_AGAIN_SEED ?? Date.now() % 2_147_483_647);

it(`whatever paid and was had, who wins in the end leaves each what is theirs (seed ${seed})`, async () => {
  const play = async ({
    lines,
    byTransfer,
    rebate,
    rounds,
  }: typeof sale extends fc.Arbitrary<infer S> ? S : never) => {
    const who = await newCustomer(paid.product);
    const { id, services } = await ordered(
      who,
      lines.map(({ minor }) => minor),
    );
    const total = lines.reduce((sum, { minor }) => sum + minor, 0);
    const transferred = Math.floor((total * byTransfer) / 100);
    if (transferred > 0)
      await staff(`organizations/${who.organizationId}/transfers`, {
        ...{ amount: text(transferred), currency: 'EUR', reference: `SALE-${id}` },
        invoices: [{ invoice_id: id }],
      });
    const intent = await byCard(who, id);
    for (const [at, { isHad }] of lines.entries()) if (isHad) await had(services[at] ?? 0);
    const kind = Math.floor((total * rebate) / 100);
    if (kind > 0)
      await staff(`invoices/${id}/refund`, { method: 'credit', amount: text(kind), reason: 'A kindness' });
    const dispute = paid.stripe.account.dispute(intent).id;
    for (let round = 0; round < rounds; round += 1) {
      await decided(dispute, 'lost');
      await decided(dispute, 'won');
    }
    const undone = lines.reduce((sum, { minor, isHad }) => sum + (isHad ? 0 : minor), 0);
    const back = Math.min(total, undone + kind);
    const seen = await invoiceOf(who, id);
    const what = JSON.stringify({ lines, transferred, kind, rounds, seen });
    expect([seen.refunded, await creditOf(who)], what).toEqual([text(back), text(back)]);
    expect(seen.status, what).toBe(back === 0 ? 'paid' : back === total ? 'refunded' : 'partially_refunded');
  };
  const sales = fc.sample(sale, { seed, numRuns: 8 });
  for (const each of sales) await play(each);
}, 300_000);

changes.leaveEntries(() => paid.product, ['settleDispute']);
