import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';
import { newId } from '../../platform/index.ts';

const changes = watchChanges();

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
});
afterAll(() => paid.stop({ audited: true }));

const invoiceOf = async (who: Person, id: number) =>
  (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const credit = async (who: Person) => (await who.get('/dashboard/invoices')).body.data.credit_balance;
const becomesPaid = (who: Person, id: number) =>
  until(
    () => invoiceOf(who, id),
    ({ status }) => status === 'paid',
  );
const unknown = async () =>
  (await paid.product.staff.get('/staff/unknown-payments?limit=100')).body.data.payments;
const decide = (id: number, how: 'book' | 'dismiss', body: object) =>
  paid.product.staff.post(`/staff/unknown-payments/${id}/${how}`, body);
const concerns = async () =>
  (await paid.product.staff.get('/staff/attention')).body.data.concerns.filter(
    ({ kind }: { kind: string }) => kind === 'payment.unknown',
  );

/** A night later the provider is compared. */
async function night(): Promise<void> {
  await paid.product.clock.travel(25 * 3_600_000);
  await paid.product.periodic('billing.compareProvider');
  await settled(paid.product);
}

/** An invoice of three euro, paid on the page after the backup that is restored now: no row knows of the payment. */
async function paidAfterBackup(means: { methodId?: number } = {}, options = {}) {
  const who = await newCustomer(paid.product, options);
  const id = await newInvoice(paid.product, who);
  await settled(paid.product);
  paid.stripe.events.hold();
  const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card', ...means });
  await paid.click(body.data.redirect_url);
  paid.stripe.events.lose();
  await settled(paid.product);
  await sql(paid.product, 'delete from charges where invoice_id = $1', id);
  await paid.stripe.events.release();
  const intent = paid.stripe.account.objects.every('payment_intent').at(-1)?.id ?? '';
  return { who, id, intent };
}

/** A payment of ours for what is in no row. */
function paidForNothing(metadata: Record<string, string>, amount = 700) {
  const { account } = paid.stripe;
  const customer = account.makeCustomer({}).id;
  const method = account.attach('pm_card_visa', customer).id;
  const fields = { amount, currency: 'eur', customer, description: null, payment_method: method };
  const intent = account.makeIntent({
    ...fields,
    metadata: { innkeeper_charge: String(newId()), ...metadata },
  });
  account.confirm(intent.id, { offSession: true, authenticates: false });
  return intent.id;
}

describe('a payment that the restored database does not know', () => {
  it('is found in the night and pays the invoice that it was made for, once', async () => {
    const { who, id, intent } = await paidAfterBackup();
    expect((await invoiceOf(who, id)).status).toBe('unpaid');
    await night();
    expect(await becomesPaid(who, id)).toMatchObject({
      payments: [{ method: 'stripe', amount: '3.00', reference: intent }],
    });
    await night();
    for (const event of paid.stripe.events.events) await paid.stripe.events.send(event);
    await settled(paid.product);
    const charges = await sql(paid.product, 'select state, fee_minor from charges where invoice_id = $1', id);
    expect(charges).toEqual([{ state: 'paid', fee_minor: 30 }]);
    expect(await unknown()).toEqual([]);
    // It can be given back as any other.
    const refund = { method: 'original', reason: 'test' };
    expect((await paid.product.staff.post(`/staff/invoices/${id}/refund`, refund)).status).toBe(200);
    await settled(paid.product);
    expect(paid.refunded(intent)).toBe(300);
  });

  it('becomes credit when its invoice was paid again or given up since', async () => {
    for (const how of ['pay', 'cancel'] as const) {
      const { who, id } = await paidAfterBackup({}, { creditMinor: 300 });
      if (how === 'pay') await payByCredit(who, id);
      else await who.post(`/dashboard/invoices/${id}/cancel`);
      await night();
      await until(
        () => credit(who),
        (balance) => balance === (how === 'pay' ? '3.00' : '6.00'),
      );
    }
  });

  it('for an invoice that is gone as well waits for a person, who is told of it once', async () => {
    const who = await newCustomer(paid.product);
    const gone = String(newId());
    const reference = paidForNothing({
      innkeeper_invoice: gone,
      innkeeper_organization: String(who.organizationId),
    });
    await night();
    const [found] = (await unknown()).filter((each: { reference: string }) => each.reference === reference);
    expect(found).toMatchObject({
      driver: 'stripe',
      amount: '7.00',
      currency: 'EUR',
      organization: { id: who.organizationId },
      told_invoice_id: Number(gone),
      state: 'open',
    });
    expect(await concerns()).toHaveLength(1);
    await night();
    expect(
      (await unknown()).filter((each: { reference: string }) => each.reference === reference),
    ).toHaveLength(1);

    // Whose it is not, and what is none, is refused; nothing changes.
    const stranger = await newCustomer(paid.product);
    const theirs = await newInvoice(paid.product, stranger);
    const support = await newStaff(paid.product, 'support');
    await settled(paid.product);
    const before = await contents(paid.product);
    expect((await decide(found.id, 'book', { invoice_id: theirs })).body.code).toBe('payment_mismatch');
    expect((await decide(found.id, 'book', { invoice_id: 4242 })).status).toBe(400);
    expect((await decide(4242, 'book', { invoice_id: theirs })).status).toBe(404);
    expect((await support.post(`/staff/unknown-payments/${found.id}/dismiss`, { reason: 'x' })).status).toBe(
      403,
    );
    await settled(paid.product);
    expect(await contents(paid.product)).toEqual(before);

    const mine = await newInvoice(paid.product, who);
    const answers = await Promise.all([1, 2, 3].map(() => decide(found.id, 'book', { invoice_id: mine })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    await becomesPaid(who, mine);
    // Seven came, three were due.
    expect(await credit(who)).toBe('4.00');
    expect(await concerns()).toEqual([]);
  });

  it('of nobody that is known is dismissed with a reason', async () => {
    const reference = paidForNothing({
      innkeeper_invoice: String(newId()),
      innkeeper_organization: String(newId()),
    });
    await night();
    const [found] = (await unknown()).filter((each: { reference: string }) => each.reference === reference);
    expect(found).toMatchObject({ organization: null, state: 'open' });
    expect((await decide(found.id, 'dismiss', {})).status).toBe(400);
    const answer = await decide(found.id, 'dismiss', { reason: 'Our test shop' });
    expect(answer.body.data.payment).toMatchObject({ state: 'dismissed', reason: 'Our test shop' });
    expect((await decide(found.id, 'dismiss', { reason: 'Again' })).status).toBe(409);
    expect(await concerns()).toEqual([]);
    await night();
    expect(await concerns()).toEqual([]);
  });

  it('is not taken on for another organization’s invoice, nor for one in another currency', async () => {
    const who = await newCustomer(paid.product);
    const stranger = await newCustomer(paid.product);
    const id = await newInvoice(paid.product, who);
    const reference = paidForNothing({
      innkeeper_invoice: String(id),
      innkeeper_organization: String(stranger.organizationId),
    });
    await night();
    expect((await invoiceOf(who, id)).status).toBe('unpaid');
    const [found] = (await unknown()).filter((each: { reference: string }) => each.reference === reference);
    expect(found).toMatchObject({ state: 'open', organization: { id: stranger.organizationId } });
    await decide(found.id, 'dismiss', { reason: 'test' });
  });
});

describe('a change', () =>
  changes.leaveEntries(() => paid.product, ['bookUnknownPayment', 'dismissUnknownPayment']));
