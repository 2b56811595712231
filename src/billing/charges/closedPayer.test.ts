/** Money for an organization that was closed meanwhile: nobody is there to use it, so staff gives it back. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person, signedIn } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { failFor, type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
});
afterAll(async () => {
  await settled(paid.product);
  expect(await audit(paid.product.databaseUrl)).toEqual([]);
  await paid.stop();
});

async function close(who: Person): Promise<void> {
  const here = await signedIn(paid.product, who);
  const { status, body } = await here.post('/dashboard/account/close', { give_up_credit: true });
  expect(status, JSON.stringify(body)).toBe(200);
  await settled(paid.product);
}

/** What staff is told of an organization, in words. */
async function told(organizationId: number): Promise<string[]> {
  const { body } = await paid.product.staff.get('/staff/attention');
  const all = body.data.concerns as { kind: string; subject: { id: number }; message: string }[];
  return all
    .filter(({ kind, subject }) => kind === 'credit.ofClosed' && subject.id === organizationId)
    .map(({ message }) => message);
}

async function transferred(organizationId: number, amount: string, reference: string): Promise<number> {
  const { status, body } = await paid.product.staff.post(`/staff/organizations/${organizationId}/transfers`, {
    ...{ amount, currency: 'EUR', reference, received_on: '2026-01-30' },
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.transfer.id;
}

const takenBack = (transferId: number) =>
  paid.product.staff.post(`/staff/transfers/${transferId}/take-back`, { reason: 'It goes back' });

/** Buys credit by card, and says the payment's name and the invoice. */
async function toppedUp(who: Person, amount: string): Promise<{ intent: string; invoiceId: number }> {
  const { body } = await who.post('/dashboard/credit/top-up', { amount });
  const invoiceId = body.data.invoice_id as number;
  const page = await who.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'card' });
  await paid.click(page.body.data.redirect_url);
  const [payment] = await until(
    () =>
      sql<{ reference: string }>(
        paid.product,
        `select reference from charges where invoice_id = $1 and state = 'paid'`,
        invoiceId,
      ),
    (rows) => rows.length > 0,
  );
  await settled(paid.product);
  return { intent: payment?.reference ?? '', invoiceId };
}

/** The bank takes a payment back for good; says which dispute that was. */
async function lost(intent: string): Promise<string> {
  const { id } = paid.stripe.account.dispute(intent);
  await decided(id, 'lost');
  return id;
}

/** How a dispute ends, also after it had ended otherwise. */
async function decided(dispute: string, outcome: 'won' | 'lost'): Promise<void> {
  paid.stripe.account.closeDispute(dispute, outcome);
  await until(
    () => sql<{ state: string }>(paid.product, 'select state from disputes where reference = $1', dispute),
    ([row]) => row?.state === outcome,
  );
  await settled(paid.product);
}

/** A payment by card that becomes credit, since its invoice was cancelled while the page was open. */
async function paidTooLate(who: Person, meanwhile: () => Promise<void> = async () => {}): Promise<string> {
  const id = await newInvoice(paid.product, who);
  const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card', use_credit: false });
  const { location } = await paid.follow(body.data.redirect_url);
  // The page stays open, since the provider does not hear that it is to be closed.
  await failFor(paid, 'billing.closePages', /expire$/, async () =>
    expect((await who.post(`/dashboard/invoices/${id}/cancel`, {})).status).toBe(200),
  );
  await meanwhile();
  paid.product.clock.travel(60_000);
  await paid.stripe.click(location);
  const [charge] = await until(
    () =>
      sql<{ reference: string }>(
        paid.product,
        `select reference from charges where invoice_id = $1 and state = 'paid'`,
        id,
      ),
    (rows) => rows.length > 0,
  );
  await settled(paid.product);
  return charge?.reference ?? '';
}

/** What banks have taken and nobody else bears. */
async function losses(): Promise<number> {
  const [row] = await sql<{ minor: number }>(
    paid.product,
    `select coalesce(sum(e.amount_minor), 0)::int as minor from ledger_accounts a
     join ledger_entries e on e.account_id = a.id where a.kind = 'losses'`,
  );
  return row?.minor ?? 0;
}

/** What the ledger has of an organization, as the customer would see it. */
async function booked(organizationId: number): Promise<Record<string, number>> {
  const rows = await sql<{ kind: string; minor: number }>(
    paid.product,
    `select a.kind, -sum(e.amount_minor)::bigint as minor from ledger_accounts a
     join ledger_entries e on e.account_id = a.id where a.organization_id = $1 group by a.kind`,
    organizationId,
  );
  return Object.fromEntries(rows.map(({ kind, minor }) => [kind, Number(minor)]));
}

const mailsOf = (organizationId: number) =>
  sql(paid.product, 'select recipient, subject from mails where organization_id = $1', organizationId);

it('a transfer for a closed organization is told to staff until it is sent back; credit that was given up is not', async () => {
  const who = await newCustomer(paid.product, { creditMinor: 200 });
  const id = await newInvoice(paid.product, who);
  expect((await who.post(`/dashboard/invoices/${id}/cancel`, {})).status).toBe(200);
  await close(who);
  const mails = await mailsOf(who.organizationId);
  expect(await told(who.organizationId)).toEqual([]);

  paid.product.clock.travel(86_400_000);
  const reference = `late ${id}`;
  const transferId = await transferred(who.organizationId, '3.00', reference);
  const [message, ...more] = await told(who.organizationId);
  expect(more).toEqual([]);
  expect(message).toContain(reference);
  expect(message).toContain('EUR');
  expect(message).toContain('take-back');
  await settled(paid.product);
  expect(await mailsOf(who.organizationId)).toEqual(mails);

  const back = await takenBack(transferId);
  expect(back.status, JSON.stringify(back.body)).toBe(200);
  expect(await told(who.organizationId)).toEqual([]);
});

it('no credit is given to an organization that is closed', async () => {
  const who = await newCustomer(paid.product);
  await close(who);
  const gift = { amount: '3.00', currency: 'EUR', description: 'A gift' };
  const { status, body } = await paid.product.staff.post(
    `/staff/organizations/${who.organizationId}/credit`,
    gift,
  );
  expect([status, body.code]).toEqual([409, 'conflict']);
  expect(body.message).toContain('closed');
  expect(await booked(who.organizationId)).toEqual({});
});

it('money that was on its way while the account was closed is told, whatever day it is booked on', async () => {
  const who = await newCustomer(paid.product);
  await close(who);
  await transferred(who.organizationId, '3.00', `on its way ${who.organizationId}`);
  const later = `update organizations set status_since = $2 where id = $1`;
  await sql(paid.product, later, who.organizationId, new Date(paid.product.clock.now().getTime() + 60_000));
  expect(await told(who.organizationId)).toHaveLength(1);
  const transfer = await transferred(who.organizationId, '1.00', `beside it ${who.organizationId}`);
  expect((await takenBack(transfer)).status).toBe(200);
  const { status, body } = await paid.product.staff.get('/staff/attention');
  expect(status, JSON.stringify(body)).toBe(200);
});

it('a payment by card for an invoice that was cancelled is told until the provider gave it back', async () => {
  const who = await newCustomer(paid.product);
  const id = await newInvoice(paid.product, who);
  const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card', use_credit: false });
  const { location } = await paid.follow(body.data.redirect_url);
  // The page stays open, since the provider does not hear that it is to be closed.
  await failFor(paid, 'billing.closePages', /expire$/, async () =>
    expect((await who.post(`/dashboard/invoices/${id}/cancel`, {})).status).toBe(200),
  );
  await close(who);
  expect(await told(who.organizationId)).toEqual([]);

  paid.product.clock.travel(60_000);
  await paid.stripe.click(location);
  const [message] = await until(
    () => told(who.organizationId),
    (messages) => messages.length > 0,
  );
  expect(message).toContain(`invoice ${id}`);
  const [charge] = await sql<{ reference: string }>(
    paid.product,
    `select reference from charges where invoice_id = $1 and state = 'paid'`,
    id,
  );
  paid.stripe.account.refund(charge?.reference ?? '', 300, {});
  await until(
    () => told(who.organizationId),
    (messages) => messages.length === 0,
  );
});

it('what came late is told also when a bank takes back as much of what came before', async () => {
  const who = await newCustomer(paid.product);
  const { intent } = await toppedUp(who, '5.00');
  await close(who);
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 500 });

  paid.product.clock.travel(86_400_000);
  const transferId = await transferred(who.organizationId, '3.00', `late after ${intent}`);
  await lost(intent);
  expect(await booked(who.organizationId)).toEqual({ credit: 300, given_up: 0 });
  expect(await told(who.organizationId)).toHaveLength(1);
  expect((await takenBack(transferId)).status).toBe(200);
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 0 });
  expect(await told(who.organizationId)).toEqual([]);
});

it('credit that was bought goes back from what was given up, and what came late stays', async () => {
  const who = await newCustomer(paid.product, { creditMinor: 200 });
  const { intent, invoiceId } = await toppedUp(who, '5.00');
  await close(who);
  paid.product.clock.travel(86_400_000);
  await transferred(who.organizationId, '3.00', `beside ${intent}`);
  const refund = { method: 'original', reason: 'A rebate' };
  const { status, body } = await paid.product.staff.post(`/staff/invoices/${invoiceId}/refund`, refund);
  expect(status, JSON.stringify(body)).toBe(200);
  await settled(paid.product);
  expect(paid.refunded(intent)).toBe(500);
  expect(await booked(who.organizationId)).toEqual({ credit: 300, given_up: 200 });
  expect(await told(who.organizationId)).toHaveLength(1);
});

it('a transfer from before is taken back from what was given up, one that came late never is', async () => {
  const who = await newCustomer(paid.product, { creditMinor: 300 });
  const before = await transferred(who.organizationId, '4.00', `before ${who.organizationId}`);
  await close(who);
  paid.product.clock.travel(86_400_000);
  const late = await transferred(who.organizationId, '4.00', `afterwards ${who.organizationId}`);
  expect((await takenBack(late)).status).toBe(200);
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 700 });
  expect((await takenBack(before)).status).toBe(200);
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 300 });
  expect(await told(who.organizationId)).toEqual([]);
});

it('credit that was given up is so again when a dispute is won after it was lost, and nobody is told', async () => {
  const who = await newCustomer(paid.product);
  const { intent, invoiceId } = await toppedUp(who, '5.00');
  await close(who);
  paid.product.clock.travel(86_400_000);
  const mails = await mailsOf(who.organizationId);
  const lossesBefore = await losses();
  const dispute = await lost(intent);
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 0 });
  await decided(dispute, 'won');
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 500 });
  const invoice = await paid.product.staff.get(`/staff/invoices/${invoiceId}`);
  expect(invoice.body.data.invoice).toMatchObject({ status: 'paid', refunded: '0.00' });
  expect(await losses()).toBe(lossesBefore);
  expect(await told(who.organizationId)).toEqual([]);
  expect(await mailsOf(who.organizationId)).toEqual(mails);
});

it('what became credit and was given up is so again as well', async () => {
  const who = await newCustomer(paid.product);
  const intent = await paidTooLate(who);
  await close(who);
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 300 });
  const dispute = await lost(intent);
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 0 });
  await decided(dispute, 'won');
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 300 });
  expect(await told(who.organizationId)).toEqual([]);
});

it('of returns and refunds that are older than the books of it, the ledger says what had been given up', async () => {
  const who = await newCustomer(paid.product);
  const all = [await paidTooLate(who), (await toppedUp(who, '5.00')).intent];
  await close(who);
  const disputes: string[] = [];
  for (const intent of all) disputes.push(await lost(intent));
  const known = () =>
    sql<{ minor: number }>(
      paid.product,
      `select reference, given_up_minor::int as minor from charge_returns
       union all select r.reference, r.given_up_minor::int from refunds r order by 1, 2`,
    );
  const before = await known();
  expect(before.map(({ minor }) => minor)).toEqual(expect.arrayContaining([300, 500]));
  const folder = path.join(import.meta.dirname, '../../../migrations');
  const file = readdirSync(folder).find((name) => name.endsWith('_given_up_again.sql'));
  const migration = readFileSync(path.join(folder, file as string), 'utf8');
  for (const table of ['charge_returns', 'refunds'])
    await sql(paid.product, `alter table ${table} drop column given_up_minor`);
  await sql(paid.product, migration);
  expect(await known()).toEqual(before);
  for (const dispute of disputes) await decided(dispute, 'won');
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 800 });
});

it('what came late is its sender’s again when a dispute is won after it was lost, and staff can pay it out', async () => {
  const who = await newCustomer(paid.product);
  const intent = await paidTooLate(who, () => close(who));
  const before = await losses();
  const dispute = await lost(intent);
  expect(await booked(who.organizationId)).toEqual({ credit: 0 });
  expect(await told(who.organizationId)).toEqual([]);
  await decided(dispute, 'won');
  expect(await booked(who.organizationId)).toEqual({ credit: 300 });
  expect(await losses()).toBe(before);
  const [message] = await told(who.organizationId);
  expect(message).toContain(dispute);
  // The provider gives nothing back of what was disputed once.
  expect(message).toContain('credit-returns');
  const path = `/staff/organizations/${who.organizationId}/credit-returns`;
  const back = await paid.product.staff.post(path, { currency: 'EUR', reason: 'It came too late' });
  expect(back.status, JSON.stringify(back.body)).toBe(200);
  expect(back.body.data.credit_return.amount).toBe('3.00');
  expect(await told(who.organizationId)).toEqual([]);
  const done = { paid_on: '2026-03-02' };
  const { id } = back.body.data.credit_return;
  expect((await paid.product.staff.post(`/staff/credit-returns/${id}/done`, done)).status).toBe(200);
});

it('a refund of credit that was given up and did not arrive is given up again', async () => {
  const who = await newCustomer(paid.product);
  const { intent, invoiceId } = await toppedUp(who, '5.00');
  await close(who);
  paid.product.clock.travel(86_400_000);
  const refund = { method: 'original', amount: '4.00', reason: 'A kindness' };
  expect((await paid.product.staff.post(`/staff/invoices/${invoiceId}/refund`, refund)).status).toBe(200);
  await settled(paid.product);
  expect(paid.refunded(intent)).toBe(400);
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 100 });
  const refundOf = () =>
    sql<{ reference: string; state: string }>(
      paid.product,
      'select reference, state from refunds where invoice_id = $1',
      invoiceId,
    );
  paid.stripe.account.failRefund((await refundOf())[0]?.reference ?? '');
  await until(refundOf, ([row]) => row?.state === 'failed');
  expect(await booked(who.organizationId)).toEqual({ credit: 0, given_up: 500 });
  expect(await told(who.organizationId)).toEqual([]);
});

/** Buys something for 3.00 from credit, and has it to its end. */
async function had(who: Person): Promise<void> {
  const products = [{ id: paid.product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' }];
  const { data } = (await who.post('/cart/checkout/invoice', { products })).body;
  expect((await payByCredit(who, data.invoice_id)).status).toBe(200);
  await settled(paid.product);
  for (const [verb, body] of [
    ['deliver', {}],
    ['terminate', { reason: 'A test' }],
  ] as const) {
    const answer = await paid.product.staff.post(`/staff/services/${data.service_ids[0]}/${verb}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    await settled(paid.product);
  }
}

const past = fc.record({
  bought: fc.integer({ min: 300, max: 900 }),
  /** A gift, what was sent from a bank before the closing, and what came from there afterwards: zero is none. */
  given: fc.constantFrom(0, 250),
  before: fc.constantFrom(0, 170),
  late: fc.constantFrom(0, 410),
  /** Whether an invoice of 3.00 was paid from the credit. */
  isSpent: fc.boolean(),
  /** Whether the bank first takes the money while its payer is still there. */
  isLostBefore: fc.boolean(),
  rounds: fc.integer({ min: 1, max: 2 }),
});
type Past = typeof past extends fc.Arbitrary<infer P> ? P : never;
const seed = Number(process.env.CLOSED_PAYER_SEED ?? Date.now() % 2_147_483_647);

it(`whatever a closed payer had, what a bank took and gave again lies where it lay (seed ${seed})`, async () => {
  const play = async ({ bought, given, before, late, isSpent, isLostBefore, rounds }: Past) => {
    const who = await newCustomer(paid.product, { creditMinor: given });
    const { intent } = await toppedUp(who, (bought / 100).toFixed(2));
    const transfer = (minor: number, when: string) =>
      minor === 0
        ? Promise.resolve(0)
        : transferred(who.organizationId, (minor / 100).toFixed(2), `${when} ${intent}`);
    await transfer(before, 'before');
    if (isSpent) await had(who);
    const heldMinor = bought + given + before - (isSpent ? 300 : 0);
    const dispute = isLostBefore ? await lost(intent) : null;
    await close(who);
    paid.product.clock.travel(86_400_000);
    await transfer(late, 'late');
    const what = JSON.stringify({ bought, given, before, late, isSpent, isLostBefore, rounds });
    const givenUp = isLostBefore ? Math.max(0, heldMinor - bought) : heldMinor;
    // What the bank gives again after the closing was in nothing that was given up.
    const again = isLostBefore ? Math.min(bought, heldMinor) : 0;
    const lossesBefore = (await losses()) - (isLostBefore ? bought - again : 0);
    if (dispute !== null) await decided(dispute, 'won');
    const settledAs = { credit: late + again, given_up: givenUp };
    const seen = async (): Promise<Record<string, number>> => ({
      given_up: 0,
      ...(await booked(who.organizationId)),
    });
    expect(await seen(), what).toEqual(settledAs);
    const named = dispute ?? (await lost(intent));
    for (let round = 0; round < rounds; round += 1) {
      await decided(named, 'lost');
      const { credit = 0, given_up: left = 0 } = await seen();
      const takenMinor = settledAs.credit + givenUp - credit - left;
      expect(takenMinor + (await losses()) - lossesBefore, what).toBe(bought);
      expect(credit, what).toBeGreaterThanOrEqual(Math.min(late, settledAs.credit + givenUp - bought));
      await decided(named, 'won');
      expect(await seen(), what).toEqual(settledAs);
      expect(await losses(), what).toBe(lossesBefore);
    }
    expect(await told(who.organizationId), what).toHaveLength(settledAs.credit > 0 ? 1 : 0);
  };
  for (const each of fc.sample(past, { seed, numRuns: 6 })) await play(each);
}, 300_000);
