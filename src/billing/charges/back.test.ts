import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { settled, sql } from '../../../test/sql.ts';
import { failFor, type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
  await sql(paid.product, `insert into tax_rates (country, rate_basis_points) values ('NL', 2100)`);
});
afterAll(async () => {
  await settled(paid.product);
  expect(await audit(paid.product.databaseUrl)).toEqual([]);
  expect(await provider()).toBe(paid.stripe.account.balance('eur'));
  await paid.stop();
});

const invoiceOf = async (who: Person, id: number) =>
  (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const credit = async (who: Person) => (await who.get('/dashboard/invoices')).body.data.credit_balance;
const refund = (id: number, body: object = {}) =>
  paid.product.staff.post(`/staff/invoices/${id}/refund`, { method: 'original', reason: 'test', ...body });

async function provider(): Promise<number> {
  const [ledger] = await sql<{ minor: number }>(
    paid.product,
    `select coalesce(sum(e.amount_minor), 0)::bigint as minor from ledger_entries e
     join ledger_accounts a on a.id = e.account_id where a.kind = 'provider' and a.currency = 'EUR'`,
  );
  return Number(ledger?.minor);
}

/** An invoice of six euro that was paid on the page, and the payment's name. */
async function paidByCard(options: { creditMinor?: number; number?: string } = {}) {
  const { creditMinor = 0, number } = options;
  const who = await newCustomer(paid.product, { creditMinor });
  const id = await newInvoice(paid.product, who, 2);
  const way = { method: 'card', use_credit: creditMinor > 0 };
  const { body } = await who.post(`/dashboard/invoices/${id}/pay`, way);
  await paid.click(body.data.redirect_url, { ...(number && { number }) });
  const invoice = await until(
    () => invoiceOf(who, id),
    ({ status }) => status !== 'unpaid',
  );
  await settled(paid.product);
  const payment = invoice.payments.find(({ method }: { method: string }) => method === 'stripe');
  return { who, id, intent: payment.reference as string };
}
describe('a refund to where the money came from', () => {
  it('goes back in parts, and never above what was paid, also when asked for at once', async () => {
    const { who, id, intent } = await paidByCard();
    expect((await refund(id, { amount: '1.50' })).body.data.invoice).toMatchObject({
      status: 'partially_refunded',
    });
    const answers = await Promise.all(Array.from({ length: 6 }, () => refund(id, { amount: '1.00' })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    expect((await refund(id, { amount: '0.51' })).body.code).toBe('invalid_amount');
    expect((await refund(id)).status).toBe(200);
    expect((await refund(id)).body.code).toBe('conflict');
    await settled(paid.product);
    expect(paid.refunded(intent)).toBe(600);
    expect(await credit(who)).toBe('0.00');
    expect(await invoiceOf(who, id)).toMatchObject({ status: 'refunded', refunded: '6.00' });
    const states = await sql(paid.product, 'select distinct state from refunds where invoice_id = $1', id);
    expect(states).toEqual([{ state: 'done' }]);
  });

  it('is one refund when the provider does it and its answer is lost', async () => {
    const { id, intent } = await paidByCard();
    paid.stripe.fail(/POST .*refunds/, 'failed', 2);
    paid.stripe.fail(/POST .*refunds/, 'garbage', 1);
    await refund(id, { amount: '2.00' });
    await settled(paid.product);
    expect(paid.refunded(intent)).toBe(200);
  });

  it('arrives after all when the provider was away for longer than we tried', async () => {
    const { id, intent } = await paidByCard();
    await failFor(paid, 'billing.sendBack', /POST .*refunds/, () => refund(id, { amount: '2.00' }));
    expect(paid.refunded(intent)).toBe(0);
    paid.product.clock.travel(3_601_000);
    await paid.product.periodic('jobs.heal');
    await settled(paid.product);
    expect(paid.refunded(intent)).toBe(200);
  });

  it('gives as credit what came from credit', async () => {
    const { who, id, intent } = await paidByCard({ creditMinor: 200 });
    expect((await refund(id)).status).toBe(200);
    await settled(paid.product);
    expect([paid.refunded(intent), await credit(who)]).toEqual([400, '2.00']);
  });

  it('is refused where nothing came by the provider', async () => {
    const who = await newCustomer(paid.product, { creditMinor: 300 });
    const id = await newInvoice(paid.product, who);
    await who.post(`/dashboard/invoices/${id}/pay`, { method: 'credit' });
    const answer = await refund(id);
    expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
    expect((await invoiceOf(who, id)).refunded).toBe('0.00');
  });

  it('that does not arrive becomes credit, and the customer is told', async () => {
    const { who, id } = await paidByCard({ number: '4000000000005126' });
    await refund(id, { amount: '2.00' });
    await settled(paid.product);
    const [row] = await sql<{ reference: string }>(
      paid.product,
      'select reference from refunds where invoice_id = $1',
      id,
    );
    paid.stripe.account.failRefund(row?.reference ?? '');
    await until(
      () => credit(who),
      (balance) => balance === '2.00',
    );
    await settled(paid.product);
    const mails = await sql(
      paid.product,
      'select id from mails where subject = $1',
      `Your refund of invoice ${id} became credit`,
    );
    expect(mails).toHaveLength(1);
  });

  it('that somebody made at the provider’s desk is booked once', async () => {
    const { who, id, intent } = await paidByCard();
    paid.stripe.account.refund(intent, 250, {});
    await until(
      () => invoiceOf(who, id),
      (invoice) => invoice.refunded === '2.50',
    );
    for (const event of paid.stripe.events.events.slice(-3)) await paid.stripe.events.send(event);
    await settled(paid.product);
    expect((await invoiceOf(who, id)).refunded).toBe('2.50');
    expect((await refund(id, { amount: '3.51' })).body.code).toBe('invalid_amount');
  });
});

describe('a dispute', () => {
  const concerns = async () =>
    (await paid.product.staff.get('/staff/attention')).body.data.concerns.filter(
      ({ kind }: { kind: string }) => kind === 'dispute.open',
    );
  const account = async (kind: string, invoiceId: number) => {
    const [row] = await sql<{ minor: number }>(
      paid.product,
      `select coalesce(sum(e.amount_minor), 0)::bigint as minor from ledger_entries e
       join ledger_accounts a on a.id = e.account_id join ledger_transactions t on t.id = e.transaction_id
       where a.kind = $1 and t.invoice_id = $2`,
      ...[kind, invoiceId],
    );
    return Number(row?.minor);
  };
  const opened = async () => {
    const made = await paidByCard();
    const dispute = paid.stripe.account.dispute(made.intent);
    await until(
      () => account('disputes', made.id),
      (minor) => minor === 600,
    );
    return { ...made, dispute: dispute.id };
  };

  it('takes the money until it is decided, costs a fee, and stands in staff’s list', async () => {
    const { who, id, dispute } = await opened();
    await until(concerns, (all) => all.length === 1);
    expect((await concerns())[0].message).toContain(
      `of invoice ${id} is disputed (fraudulent); answer at the payment provider by`,
    );
    expect(await invoiceOf(who, id)).toMatchObject({ status: 'paid' });
    expect((await refund(id)).body.code).toBe('conflict');
    const fees = await account('fees', id);
    expect(fees).toBeGreaterThanOrEqual(2_000);
    paid.stripe.account.closeDispute(dispute, 'won');
    await until(
      () => account('disputes', id),
      (minor) => minor === 0,
    );
    await settled(paid.product);
    expect(await concerns()).toEqual([]);
    expect(await invoiceOf(who, id)).toMatchObject({ status: 'paid', refunded: '0.00' });
  });

  it('that is lost gives the invoice back, once, whatever is told again', async () => {
    const { who, id, dispute } = await opened();
    paid.stripe.account.closeDispute(dispute, 'lost');
    await until(
      () => invoiceOf(who, id),
      ({ status }) => status === 'refunded',
    );
    for (const event of paid.stripe.events.events.slice(-6).toReversed())
      await paid.stripe.events.send(event);
    await settled(paid.product);
    expect([await account('disputes', id), await credit(who), await concerns()]).toEqual([0, '0.00', []]);
    const told = await sql(
      paid.product,
      `select data->>'outcome' as outcome from journal where action = 'dispute.closed' and (data->>'invoice_id')::bigint = $1`,
      id,
    );
    expect(told).toEqual([{ outcome: 'lost' }]);
  });

  it('that is lost once more by the same customer stands in staff’s list, while they have something', async () => {
    const again = async () =>
      (await paid.product.staff.get('/staff/attention')).body.data.concerns.filter(
        ({ kind }: { kind: string }) => kind === 'dispute.again',
      );
    const { who, id, intent } = await paidByCard();
    const second = await newInvoice(paid.product, who, 2);
    const { body } = await who.post(`/dashboard/invoices/${second}/pay`, { method: 'card' });
    await paid.click(body.data.redirect_url);
    const { payments } = await until(
      () => invoiceOf(who, second),
      ({ status }) => status === 'paid',
    );
    // Something of theirs goes on that neither was for.
    await newInvoice(paid.product, who);
    for (const [payment, of, expected] of [
      [intent, id, 0],
      [payments[0].reference, second, 1],
    ] as const) {
      const { id: dispute } = paid.stripe.account.dispute(payment);
      await settled(paid.product);
      paid.stripe.account.closeDispute(dispute, 'lost');
      await until(
        () => invoiceOf(who, of),
        ({ status }) => status === 'refunded',
      );
      expect(await again()).toHaveLength(expected);
    }
    expect(await again()).toMatchObject([{ subject: { type: 'organization', id: who.organizationId } }]);
    await paid.product.staff.post(`/staff/organizations/${who.organizationId}/block`, { reason: 'test' });
    expect(await again()).toEqual([]);
  });

  it('that is won after it was lost brings the money back, as credit, and first what was our loss', async () => {
    const { who, id, dispute } = await opened();
    paid.stripe.account.closeDispute(dispute, 'lost');
    await until(
      () => invoiceOf(who, id),
      ({ status }) => status === 'refunded',
    );
    paid.stripe.account.closeDispute(dispute, 'won');
    await until(
      () => credit(who),
      (now) => now === '6.00',
    );
    await settled(paid.product);
    expect(await invoiceOf(who, id)).toMatchObject({ status: 'refunded', refunded: '6.00' });
    const { mails } = (
      await paid.product.staff.get(`/staff/mails?recipient=${encodeURIComponent(who.email)}`)
    ).body.data;
    const told = mails.find(({ subject }: { subject: string }) =>
      subject.includes(`invoice ${id} became credit`),
    );
    expect(told.body).toContain('has given them to us again');
    // And once more, whatever the provider says.
    paid.stripe.account.closeDispute(dispute, 'lost');
    await until(
      () => credit(who),
      (now) => now === '0.00',
    );
    await settled(paid.product);
    expect(await account('losses', id)).toBe(0);

    // Given back as credit before, and spent: what the bank took was our loss, and is none any more.
    const other = await paidByCard();
    expect((await refund(other.id, { method: 'credit' })).status).toBe(200);
    await payByCredit(other.who, await newInvoice(paid.product, other.who, 2));
    const lost = paid.stripe.account.dispute(other.intent);
    paid.stripe.account.closeDispute(lost.id, 'lost');
    await until(
      () => account('losses', other.id),
      (minor) => minor === 600,
    );
    paid.stripe.account.closeDispute(lost.id, 'won');
    await until(
      () => account('losses', other.id),
      (minor) => minor === 0,
    );
    expect(await credit(other.who)).toBe('0.00');
    await settled(paid.product);
  });

  it('of what paid a part of an open invoice makes that part due again, and nobody has it twice', async () => {
    const who = await newCustomer(paid.product, { creditMinor: 200 });
    const id = await newInvoice(paid.product, who, 2);
    const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card', use_credit: true });
    // What was to come from credit is spent before the page is paid.
    const space = { id: await newHosting(paid.product, 200), cycle: 'monthly', type: 'Hosting' };
    const other = (await who.post('/cart/checkout/invoice', { products: [space] })).body.data.invoice_id;
    expect((await payByCredit(who, other)).status).toBe(200);
    await paid.click(body.data.redirect_url);
    const part = await until(
      () => invoiceOf(who, id),
      ({ payments }) => payments.length > 0,
    );
    expect(part).toMatchObject({ status: 'unpaid', amount_paid: '4.00', amount_due: '2.00' });
    const dispute = paid.stripe.account.dispute(part.payments[0].reference);
    paid.stripe.account.closeDispute(dispute.id, 'lost');
    const open = await until(
      () => invoiceOf(who, id),
      ({ amount_due }) => amount_due !== '2.00',
    );
    expect(open).toMatchObject({ status: 'unpaid', amount_paid: '0.00', amount_due: '6.00' });
    expect((await who.post(`/dashboard/invoices/${id}/cancel`)).status).toBe(200);
    expect(await credit(who)).toBe('0.00');
  });

  it('that is open keeps its money from becoming credit as well, by staff and by a cancellation', async () => {
    const { who, id, dispute } = await opened();
    const had = await credit(who);
    expect((await refund(id, { method: 'credit' })).body.code).toBe('conflict');
    const [service] = (await invoiceOf(who, id)).items.map((item: { service_id: number }) => item.service_id);
    const path = `/dashboard/services/${service}/cancel`;
    const shown = (await who.get(path)).body.data.immediate.refund;
    expect(shown).toMatchObject({ because: 'none', total: '0.00' });
    expect((await who.post(path, { type: 'immediate' })).status).toBe(200);
    await settled(paid.product);
    expect(await credit(who)).toBe(had);
    paid.stripe.account.closeDispute(dispute, 'lost');
    await until(
      () => invoiceOf(who, id),
      ({ status }) => status === 'refunded',
    );
    await settled(paid.product);
    expect([await account('losses', id), await credit(who)]).toEqual([0, had]);
  });

  it('of money that bought credit keeps that from being spent until it is decided', async () => {
    const who = await newCustomer(paid.product, { creditMinor: 200 });
    const { invoice_id: topUp } = (await who.post('/dashboard/credit/top-up', { amount: '5.00' })).body.data;
    const { body } = await who.post(`/dashboard/invoices/${topUp}/pay`, { method: 'card' });
    await paid.click(body.data.redirect_url);
    const { payments } = await until(
      () => invoiceOf(who, topUp),
      ({ status }) => status === 'paid',
    );
    const dispute = paid.stripe.account.dispute(payments[0].reference);
    await until(
      () => account('disputes', topUp),
      (minor) => minor === 500,
    );
    const id = await newInvoice(paid.product, who);
    const refused = await payByCredit(who, id);
    expect([refused.status, refused.body.code]).toEqual([409, 'insufficient_credit']);
    expect(refused.body.message).toContain('2.00 can be spent');
    // What is no bank's can be, and the rest comes otherwise.
    const way = { method: 'card', use_credit: true };
    const asked = await who.post(`/dashboard/invoices/${id}/pay`, way);
    expect(asked.body.data.charge).toMatchObject({ amount: '1.00' });
    paid.stripe.account.closeDispute(dispute.id, 'won');
    await until(
      () => account('disputes', topUp),
      (minor) => minor === 0,
    );
    expect((await payByCredit(who, id)).status).toBe(200);
    expect(await credit(who)).toBe('4.00');
    await settled(paid.product);
  });

  it('that is lost undoes the sale also where a cent came otherwise, and that becomes credit', async () => {
    const who = await newCustomer(paid.product);
    const id = await newInvoice(paid.product, who, 2);
    const path = `/staff/organizations/${who.organizationId}/transfers`;
    const cent = { amount: '0.01', currency: 'EUR', reference: `CENT-${id}`, invoices: [{ invoice_id: id }] };
    expect((await paid.product.staff.post(path, cent)).status).toBe(200);
    const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
    await paid.click(body.data.redirect_url);
    const { payments, items } = await until(
      () => invoiceOf(who, id),
      ({ status }) => status === 'paid',
    );
    await settled(paid.product);
    const { reference } = payments.find(({ method }: { method: string }) => method === 'stripe');
    const dispute = paid.stripe.account.dispute(reference);
    paid.stripe.account.closeDispute(dispute.id, 'lost');
    const seen = await until(
      () => invoiceOf(who, id),
      ({ refunded: back }) => back !== '0.00',
    );
    expect(seen).toMatchObject({ status: 'refunded', refunded: '6.00' });
    await settled(paid.product);
    expect([await credit(who), await account('losses', id)]).toEqual(['0.01', 0]);
    for (const { service_id: serviceId } of items) {
      const { service } = (await who.get(`/dashboard/services/${serviceId}`)).body.data;
      expect(service.status).toBe('cancelled');
    }
  });

  it('that is lost gives nothing back of what was had to its end', async () => {
    const who = await newCustomer(paid.product);
    const id = await newInvoice(paid.product, who);
    const path = `/staff/organizations/${who.organizationId}/transfers`;
    const most = { amount: '2.00', currency: 'EUR', reference: `MOST-${id}`, invoices: [{ invoice_id: id }] };
    expect((await paid.product.staff.post(path, most)).status).toBe(200);
    const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
    await paid.click(body.data.redirect_url);
    const { payments, items } = await until(
      () => invoiceOf(who, id),
      ({ status }) => status === 'paid',
    );
    await settled(paid.product);
    for (const { service_id: serviceId } of items) {
      const at = `/staff/services/${serviceId}`;
      expect((await paid.product.staff.post(`${at}/deliver`, {})).status).toBe(200);
      expect((await paid.product.staff.post(`${at}/terminate`, { reason: 'a test' })).status).toBe(200);
    }
    await settled(paid.product);
    const { reference } = payments.find(({ method }: { method: string }) => method === 'stripe');
    const dispute = paid.stripe.account.dispute(reference);
    paid.stripe.account.closeDispute(dispute.id, 'lost');
    const seen = await until(
      () => invoiceOf(who, id),
      ({ refunded: back }) => back !== '0.00',
    );
    expect(seen).toMatchObject({ status: 'partially_refunded', refunded: '1.00' });
    await settled(paid.product);
    expect(await credit(who)).toBe('0.00');
  });

  it('that is lost after its money was given back and spent is our loss, by name', async () => {
    const { who, id, intent } = await paidByCard();
    expect((await refund(id, { method: 'credit', amount: '3.00' })).status).toBe(200);
    expect((await payByCredit(who, await newInvoice(paid.product, who))).status).toBe(200);
    const dispute = paid.stripe.account.dispute(intent);
    paid.stripe.account.closeDispute(dispute.id, 'lost');
    await until(
      () => account('losses', id),
      (minor) => minor === 300,
    );
    await settled(paid.product);
    expect([await account('goodwill', id), await credit(who)]).toEqual([0, '0.00']);
  });

  it('that is open keeps what was given back of its money, in part, from being spent', async () => {
    const { who, id, intent } = await paidByCard();
    expect((await refund(id, { method: 'credit', amount: '4.00' })).status).toBe(200);
    const dispute = paid.stripe.account.dispute(intent);
    await until(
      () => account('disputes', id),
      (minor) => minor === 600,
    );
    const other = await newInvoice(paid.product, who);
    const refused = await payByCredit(who, other);
    expect([refused.status, refused.body.code]).toEqual([409, 'insufficient_credit']);
    expect(refused.body.message).toContain('0.00 can be spent');
    paid.stripe.account.closeDispute(dispute.id, 'won');
    await until(
      () => account('disputes', id),
      (minor) => minor === 0,
    );
    expect((await payByCredit(who, other)).status).toBe(200);
    await until(concerns, (all) => all.length === 0);
  });

  it('of several payments of one invoice keeps what was given back of it once, and not once for each', async () => {
    const who = await newCustomer(paid.product, { creditMinor: 300 });
    const id = await newInvoice(paid.product, who, 2);
    const way = { method: 'card', use_credit: true };
    const first = (await who.post(`/dashboard/invoices/${id}/pay`, way)).body.data;
    // The credit is gone before the page is used, which so pays a part.
    await payByCredit(who, await newInvoice(paid.product, who));
    await paid.click(first.redirect_url);
    await until(
      () => invoiceOf(who, id),
      ({ amount_paid }) => amount_paid === '3.00',
    );
    const second = (await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' })).body.data;
    await paid.click(second.redirect_url);
    const { payments } = await until(
      () => invoiceOf(who, id),
      ({ status }) => status === 'paid',
    );
    await settled(paid.product);
    expect((await refund(id, { method: 'credit', amount: '4.00' })).status).toBe(200);
    const grant = { amount: '2.00', currency: 'EUR', description: 'A gift' };
    await paid.product.staff.post(`/staff/organizations/${who.organizationId}/credit`, grant);
    const all = payments.map(({ reference }: { reference: string }) =>
      paid.stripe.account.dispute(reference),
    );
    await until(
      () => account('disputes', id),
      (minor) => minor === 600,
    );
    const refused = await payByCredit(who, await newInvoice(paid.product, who));
    expect(refused.body.message).toContain('2.00 can be spent');
    for (const { id: dispute } of all) paid.stripe.account.closeDispute(dispute, 'won');
    await until(concerns, (open) => open.length === 0);
  });

  it('of which the bank only asks takes nothing', async () => {
    const { id, intent } = await paidByCard();
    const dispute = paid.stripe.account.dispute(intent, 'warning_needs_response');
    await until(concerns, (all) => all.length === 1);
    paid.stripe.account.closeDispute(dispute.id, 'warning_closed');
    await until(concerns, (all) => all.length === 0);
    expect(await account('disputes', id)).toBe(0);
  });

  it('that comes with the payment itself is found', async () => {
    const { id } = await paidByCard({ number: '4000000000000259' });
    await until(
      () => account('disputes', id),
      (minor) => minor === 600,
    );
  });
});

describe('money that goes back at two desks at once', () => {
  it('by staff here and in the dashboard of the provider goes back once, never above what was paid', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { who, id, intent } = await paidByCard();
      const atDesk = async () => paid.stripe.account.refund(intent, 600, {});
      const answers = await Promise.allSettled([refund(id), atDesk(), refund(id, { amount: '4.00' })]);
      expect(answers.length).toBe(3);
      await paid.stripe.events.quiet();
      await settled(paid.product);
      const { total, refunded: back, status } = await invoiceOf(who, id);
      expect([total, back, status]).toEqual(['6.00', '6.00', 'refunded']);
      expect(paid.refunded(intent)).toBe(600);
      // What the provider refused, since it had gone already, is no gift.
      expect(await credit(who)).toBe('0.00');
      const [provider] = await sql<{ minor: number }>(
        paid.product,
        'select amount_minor - returned_minor as minor from charges where invoice_id = $1',
        id,
      );
      expect(Number(provider?.minor)).toBe(0);
    }
  });
});

describe('bought credit', () => {
  it('is there once its invoice is paid, without tax, and credit does not buy it', async () => {
    const who = await newCustomer(paid.product, { creditMinor: 100_000, country: 'NL' });
    const asked = await who.post('/dashboard/credit/top-up', { amount: '50.00' });
    const id = asked.body.data.invoice_id;
    expect(await invoiceOf(who, id)).toMatchObject({
      kind: 'top_up',
      total: '50.00',
      tax: '0.00',
      currency: 'EUR',
    });
    for (const way of [{ method: 'credit' }, { method: 'card', use_credit: true }]) {
      const refused = await who.post(`/dashboard/invoices/${id}/pay`, way);
      expect([refused.status, refused.body.code]).toEqual([409, 'invoice_not_payable']);
    }
    const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
    await paid.click(body.data.redirect_url);
    await until(
      () => credit(who),
      (balance) => balance === '1050.00',
    );
    await settled(paid.product);
    expect((await refund(id, { method: 'credit' })).body.code).toBe('conflict');
    expect((await refund(id, { amount: '20.00' })).status).toBe(200);
    expect(await credit(who)).toBe('1030.00');
  });

  it.each(['0.00', '-5.00', '1.234', 'x', '1e3', ''])('is not of %j', async (amount) => {
    const who = await newCustomer(paid.product);
    const answer = await who.post('/dashboard/credit/top-up', { amount });
    expect(answer.body.code).toBe('invalid_amount');
    expect(answer.body.details).toEqual([
      { field: 'amount', message: 'must be an amount of EUR above zero, such as 12.50' },
    ]);
    const wrong = await who.post('/dashboard/credit/top-up', { amount: 5 });
    expect(wrong.status).toBe(400);
    expect((await who.get('/dashboard/invoices')).body.data.invoices).toEqual([]);
  });
});

describe('what we missed', () => {
  it('while we were away is found in the night', async () => {
    const who = await newCustomer(paid.product);
    const id = await newInvoice(paid.product, who);
    const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
    paid.stripe.events.hold();
    await paid.click(body.data.redirect_url);
    paid.stripe.events.lose();
    const { id: other, intent } = await paidByCardUnheard(who);
    await settled(paid.product);
    expect((await invoiceOf(who, id)).status).toBe('unpaid');
    await paid.product.clock.travel(25 * 3_600_000);
    await paid.product.periodic('billing.compareProvider');
    await until(
      () => invoiceOf(who, id),
      ({ status }) => status === 'paid',
    );
    await until(
      () => invoiceOf(who, other),
      ({ status }) => status === 'paid',
    );
    expect(intent).toMatch(/^pi_/);
    const jobs = () => sql(paid.product, `select id from jobs where name = 'billing.compareWithProvider'`);
    const before = await jobs();
    await paid.product.periodic('billing.compareProvider');
    expect(await jobs()).toEqual(before);
    await paid.stripe.events.release();
  });

  it('is looked for every night also after a clock that was ahead for a moment', async () => {
    const day = 86_400_000;
    const look = async () => {
      await paid.product.periodic('billing.compareProvider');
      await settled(paid.product);
      return (await sql(paid.product, `select id from jobs where name = 'billing.compareWithProvider'`))
        .length;
    };
    paid.product.clock.travel(400 * day);
    const before = await look();
    paid.product.clock.travel(-398 * day);
    expect(await look()).toBe(before + 1);
    expect(await look()).toBe(before + 1);
  });

  /** Taken at the provider, and nobody told us, and its page is not known either. */
  async function paidByCardUnheard(who: Person) {
    const id = await newInvoice(paid.product, who);
    const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
    await paid.click(body.data.redirect_url);
    paid.stripe.events.lose();
    await sql(paid.product, 'update charges set page_reference = null where invoice_id = $1', id);
    const intent = paid.stripe.account.objects.every('payment_intent').at(-1)?.id ?? '';
    return { id, intent };
  }
});
