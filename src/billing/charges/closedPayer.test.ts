/** Money for an organization that was closed meanwhile: nobody is there to use it, so staff gives it back. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice } from '../../../test/invoices.ts';
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

/** The bank takes a payment back for good. */
async function lost(intent: string): Promise<void> {
  const { id } = paid.stripe.account.dispute(intent);
  paid.stripe.account.closeDispute(id, 'lost');
  await until(
    () => sql<{ state: string }>(paid.product, 'select state from disputes where reference = $1', id),
    ([row]) => row?.state === 'lost',
  );
  await settled(paid.product);
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
