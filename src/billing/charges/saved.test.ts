import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { ibans } from '../../../test/stripe/cards.ts';
import { failFor, type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';
import { dayFor, statement, transaction } from '../../platform/index.ts';
import { chargeSaved } from '../index.ts';

/** Has the charges wait that were asked for and not begun. */
const putOff = statement<never, { runAt: Date }>(
  'test.putOff',
  `update jobs set run_at = :runAt, not_before = :runAt where name = 'billing.chargeSaved' and state = 'ready'`,
);

const alwaysAsks = '4000002760003184';
const declines = '4000000000000341';
const day = 86_400_000;
const hour = 3_600_000;

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
});
afterAll(async () => {
  await settled(paid.product);
  expect(await audit(paid.product.databaseUrl)).toEqual([]);
  const [ledger] = await sql<{ minor: number }>(
    paid.product,
    `select coalesce(sum(e.amount_minor), 0)::bigint as minor from ledger_entries e
     join ledger_accounts a on a.id = e.account_id where a.kind = 'provider' and a.currency = 'EUR'`,
  );
  expect(Number(ledger?.minor)).toBe(paid.stripe.account.balance('eur'));
  await paid.stop();
});

/** Somebody with a saved card, and an invoice. */
async function someone(
  number?: string,
  creditMinor = 0,
): Promise<{ who: Person; invoiceId: number; methodId: number }> {
  const who = await newCustomer(paid.product, { creditMinor });
  const methodId = await paid.saveMethod(who, number);
  return { who, methodId, invoiceId: await newInvoice(paid.product, who) };
}
const charge = (invoiceId: number) =>
  transaction(paid.product.ctx, 'test.charge', (tx) => chargeSaved(tx, invoiceId));
const invoiceOf = async (who: Person, id: number) =>
  (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const becomesPaid = (who: Person, id: number) =>
  until(
    () => invoiceOf(who, id),
    ({ status }) => status === 'paid',
  );
const charges = (invoiceId: number) =>
  sql<{ state: string; attempt: number }>(
    paid.product,
    'select state, attempt from charges where invoice_id = $1 and means = $2 order by created_at, attempt',
    ...[invoiceId, 'saved'],
  );
const mailOf = async (subject: string) =>
  (
    await sql<{ body: string }>(
      paid.product,
      'select body from mails where subject = $1 order by created_at, journal_id',
      subject,
    )
  ).map(({ body }) => body);
const taken = () => paid.stripe.account.objects.every('charge').filter((each) => each.paid).length;

describe('a saved method', () => {
  it('pays an invoice while its customer is away', async () => {
    const { who, invoiceId } = await someone();
    expect(await charge(invoiceId)).toEqual(expect.any(Number));
    // Asked again meanwhile, nothing more is charged.
    expect(await charge(invoiceId)).toBeNull();
    expect(await becomesPaid(who, invoiceId)).toMatchObject({
      payments: [{ method: 'stripe', amount: '3.00' }],
      charge: { state: 'paid', amount: '3.00', decline: null },
    });
    expect(await charge(invoiceId)).toBeNull();
  });

  it('is chosen by the customer as well, with credit first', async () => {
    const { who, invoiceId, methodId } = await someone('5555555555554444', 100);
    const body = { method: 'card', payment_method_id: methodId, use_credit: true };
    const answer = await who.post(`/dashboard/invoices/${invoiceId}/pay`, body);
    expect(answer.body.data).toMatchObject({ redirect_url: null, charge: { amount: '2.00', state: 'open' } });
    expect(await becomesPaid(who, invoiceId)).toMatchObject({ paid_with_credit: '1.00' });
  });

  it('pays what its customer ordered with it, although credit pays renewals first', async () => {
    const creditFirst = (first: boolean) =>
      paid.product.staff.patch('/staff/settings', { payments: { credit_first: first } });
    expect((await creditFirst(true)).status).toBe(200);
    const { who, invoiceId } = await someone(undefined, 500);
    await charge(invoiceId);
    expect((await becomesPaid(who, invoiceId)).payments).toMatchObject([
      { method: 'stripe', amount: '3.00' },
    ]);
    expect((await who.get('/dashboard/invoices')).body.data.credit_balance).toBe('5.00');
    await creditFirst(false);
  });

  it('is not charged where there is none, or none is the default', async () => {
    const who = await newCustomer(paid.product);
    expect(await charge(await newInvoice(paid.product, who))).toBeNull();
    expect(await charge(4242)).toBeNull();
  });

  it.each(['lost', 'failed', 'garbage', 'limited', 'error'] as const)(
    'is charged once when the provider is %s while it charges',
    async (fault) => {
      const { who, invoiceId } = await someone();
      const before = taken();
      paid.stripe.fail(/payment_intents\/\w+\/confirm/, fault, 2);
      await charge(invoiceId);
      await becomesPaid(who, invoiceId);
      expect(taken()).toBe(before + 1);
    },
  );

  it('that is declined is told of truthfully, asked again some days later, and then left to the customer', async () => {
    const { who, invoiceId } = await someone(declines);
    // The invoice outlives the tries.
    await sql(
      paid.product,
      `update invoices set expires_at = expires_at + interval '60 days' where id = $1`,
      invoiceId,
    );
    await charge(invoiceId);
    const subject = `Your payment for invoice ${invoiceId} was declined`;
    for (const [tries, days] of [
      [1, 1],
      [2, 3],
      [3, 5],
    ] as const) {
      const told = await until(
        () => mailOf(subject),
        (mails) => mails.length === tries,
      );
      const next = new Date(paid.product.clock.now().getTime() + days * day).toISOString().slice(0, 10);
      expect(told.at(-1)).toContain(`We try again on ${dayFor({ language: 'en' }, next)}.`);
      expect(told.at(-1)).toContain('Nothing was taken');
      await paid.product.clock.travel(days * day + 60_000);
    }
    const last = await until(
      () => mailOf(subject),
      (mails) => mails.length === 4,
    );
    expect(last.at(-1)).toContain('We do not try again by ourselves.');
    expect((await charges(invoiceId)).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    // Its page is open, and no money was asked for there yet.
    expect(await invoiceOf(who, invoiceId)).toMatchObject({
      ...{ status: 'unpaid', amount_due: '3.00' },
      charge: { state: 'failed', decline: 'Your card was declined.', needs_customer: false },
    });
    const [link = ''] = /http\S+pages\S+/.exec(last.at(-1) ?? '') ?? [];
    await paid.click(link);
    await becomesPaid(who, invoiceId);
  });

  it('whose bank wants the customer there makes a mail with a link, which works', async () => {
    const { who, invoiceId } = await someone(alwaysAsks);
    await charge(invoiceId);
    const [mail = ''] = await until(
      () => mailOf(`Please confirm your payment for invoice ${invoiceId}`),
      (mails) => mails.length > 0,
    );
    expect(await invoiceOf(who, invoiceId)).toMatchObject({
      ...{ status: 'unpaid', charge: { state: 'failed', needs_customer: true } },
    });
    const [link = ''] = /http\S+pages\S+/.exec(mail) ?? [];
    await paid.product.clock.travel(2 * day);
    await paid.click(link, { number: alwaysAsks, authenticates: true });
    await becomesPaid(who, invoiceId);
    expect(await charges(invoiceId)).toMatchObject([{ state: 'failed' }]);
  });

  it('that was removed in the meantime is not charged', async () => {
    const { who, invoiceId, methodId } = await someone();
    paid.stripe.fail(/POST .*payment_intents$/, 'error', 2);
    await charge(invoiceId);
    await who.delete(`/dashboard/payment-methods/${methodId}`);
    await until(
      () => charges(invoiceId),
      ([row]) => row?.state === 'failed',
    );
    expect((await invoiceOf(who, invoiceId)).status).toBe('unpaid');
  });

  it('that is removed between the payment’s making and its taking is not charged, and its owner is told', async () => {
    const { who, invoiceId, methodId } = await someone();
    const before = taken();
    paid.stripe.meanwhile(/POST .*payment_intents$/, async () => {
      expect((await who.delete(`/dashboard/payment-methods/${methodId}`)).status).toBe(200);
    });
    await charge(invoiceId);
    await until(
      () => charges(invoiceId),
      ([row]) => row?.state === 'failed',
    );
    await settled(paid.product);
    expect(taken()).toBe(before);
    expect((await invoiceOf(who, invoiceId)).status).toBe('unpaid');
    expect(await mailOf(`Your payment for invoice ${invoiceId} was declined`)).toHaveLength(1);
    expect((await paid.product.staff.get('/staff/jobs')).body.data.jobs).toEqual([]);
  });

  it('that the provider forgets in the very moment of charging ends the charge, and nothing hangs', async () => {
    const { who, invoiceId, methodId } = await someone();
    const [row] = await sql<{ reference: string }>(
      paid.product,
      'select reference from payment_methods where id = $1',
      methodId,
    );
    paid.stripe.meanwhile(/GET .*payment_intents\/\w+$/, async () => {
      expect((await who.delete(`/dashboard/payment-methods/${methodId}`)).status).toBe(200);
      await until(
        async () => paid.stripe.account.require(row?.reference ?? '', 'payment_method').customer,
        (customer) => customer === null,
      );
    });
    await charge(invoiceId);
    await until(
      () => charges(invoiceId),
      ([each]) => each?.state === 'failed',
    );
    await settled(paid.product);
    expect((await paid.product.staff.get('/staff/jobs')).body.data.jobs).toEqual([]);
    // Another way is open.
    const { body } = await who.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'card' });
    await paid.click(body.data.redirect_url);
    await becomesPaid(who, invoiceId);
  });

  it('that is removed once it was charged has paid all the same', async () => {
    const { who, invoiceId, methodId } = await someone();
    paid.stripe.meanwhile(/POST .*confirm$/, async () => {
      expect((await who.delete(`/dashboard/payment-methods/${methodId}`)).status).toBe(200);
    });
    paid.stripe.fail(/POST .*confirm$/, 'lost');
    const before = taken();
    await charge(invoiceId);
    await becomesPaid(who, invoiceId);
    expect(taken()).toBe(before + 1);
  });

  it('is charged once, however often it is clicked, and beside no charge of ours', async () => {
    const { who, invoiceId, methodId } = await someone();
    const before = taken();
    const pay = () =>
      who.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'card', payment_method_id: methodId });
    const answers = await Promise.all([pay(), pay(), pay()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    await becomesPaid(who, invoiceId);
    await settled(paid.product);
    expect(taken()).toBe(before + 1);
  });

  it('is charged while a debit of another that came back is sent again, for which nothing waits; that other one is not', async () => {
    const { who, invoiceId, methodId: account } = await someone(ibans.fails);
    const pay = (payment_method_id: number) =>
      who.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'card', payment_method_id });
    const debit = async () => {
      const { body } = await pay(account);
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
    };
    const failed = (count: number) =>
      until(
        () => charges(invoiceId),
        (all) => all.filter(({ state }) => state === 'failed').length === count,
      );
    const first = await debit();
    const card = await paid.saveMethod(who);
    const meanwhile = await pay(card);
    expect([meanwhile.status, meanwhile.body.message]).toEqual([
      409,
      expect.stringContaining('is on its way'),
    ]);
    paid.stripe.account.settleDebit(first);
    await failed(1);
    const second = await debit();
    const twice = await pay(account);
    expect([twice.status, twice.body]).toMatchObject([
      409,
      { code: 'invoice_not_payable', message: expect.stringContaining('is on its way') },
    ]);
    expect((await pay(card)).status).toBe(200);
    await becomesPaid(who, invoiceId);
    paid.stripe.account.settleDebit(second);
    await failed(2);
    expect(await invoiceOf(who, invoiceId)).toMatchObject({ status: 'paid' });
  });

  it('is charged after all when the provider was away for longer than we tried, with nobody doing anything', async () => {
    const { who, invoiceId } = await someone();
    await failFor(paid, 'billing.chargeSaved', /confirm/, () => charge(invoiceId));
    expect((await invoiceOf(who, invoiceId)).status).toBe('unpaid');
    paid.product.clock.travel(hour + 1_000);
    await paid.product.periodic('jobs.heal');
    await becomesPaid(who, invoiceId);
    expect(await charges(invoiceId)).toMatchObject([{ state: 'paid' }]);
  });

  it('that was prepared and not taken for a day is asked for anew', async () => {
    const { who, invoiceId } = await someone();
    await failFor(paid, 'billing.chargeSaved', /confirm/, () => charge(invoiceId));
    await sql(paid.product, `update jobs set dismissed_at = finished_at where state = 'failed'`);
    paid.product.clock.travel(day + hour);
    await paid.product.periodic('billing.compareProvider');
    await becomesPaid(who, invoiceId);
    expect(await charges(invoiceId)).toMatchObject([{ state: 'over' }, { state: 'paid' }]);
  });

  it('whose job waits for longer than a day is not asked for twice', async () => {
    const { who, invoiceId } = await someone();
    await transaction(paid.product.ctx, 'test.wait', async (tx) => {
      await chargeSaved(tx, invoiceId);
      await tx.db.run(putOff, { runAt: new Date(tx.clock.now().getTime() + 2 * day) });
    });
    paid.product.clock.travel(day + hour);
    await paid.product.periodic('billing.compareProvider');
    await until(
      () =>
        sql(
          paid.product,
          `select id from jobs where name = 'billing.compareWithProvider' and state <> 'done'`,
        ),
      (jobs) => jobs.length === 0,
    );
    expect(await charges(invoiceId)).toMatchObject([{ state: 'open' }]);
    paid.product.clock.travel(day);
    await becomesPaid(who, invoiceId);
    expect(await charges(invoiceId)).toMatchObject([{ state: 'paid' }]);
  });

  it.each(['payment_intents$', 'confirm$'])(
    'that the provider does not take any more (POST …/%s) is a decline, and no job hangs',
    async (path) => {
      const { who, invoiceId } = await someone();
      paid.stripe.fail(new RegExp(`POST .*${path}`), 'refused');
      const before = taken();
      await charge(invoiceId);
      await until(
        () => charges(invoiceId),
        ([row]) => row?.state === 'failed',
      );
      await settled(paid.product);
      const [mail = ''] = await mailOf(`Your payment for invoice ${invoiceId} was declined`);
      expect(mail).toContain('does not take this method any more');
      expect(mail).toContain('We do not try again by ourselves.');
      expect(taken()).toBe(before);
      expect((await paid.product.staff.get('/staff/jobs')).body.data.jobs).toEqual([]);
      const [link = ''] = /http\S+pages\S+/.exec(mail) ?? [];
      await paid.click(link);
      await becomesPaid(who, invoiceId);
    },
  );

  it('of a customer whom somebody deleted at the provider is a decline, and they can pay and save one again', async () => {
    const { who, invoiceId } = await someone();
    const of = async () =>
      sql<{ reference: string }>(
        paid.product,
        'select reference from provider_customers where organization_id = $1',
        who.organizationId,
      );
    const [gone] = await of();
    // The methods go with them; that is not told here.
    paid.stripe.account.require(gone?.reference ?? '', 'customer').deleted = true;
    await charge(invoiceId);
    const [mail = ''] = await until(
      () => mailOf(`Your payment for invoice ${invoiceId} was declined`),
      (mails) => mails.length > 0,
    );
    // It would decline every month: it is shown no more, and its owner is told what to do.
    await until(
      () => who.get('/dashboard/payment-methods'),
      ({ body }) => body.data.payment_methods.length === 0,
    );
    await settled(paid.product);
    const removed = await mailOf('Payment method removed: visa ending in 4242');
    expect(removed.at(-1)).toContain('Save another payment method');
    const [link = ''] = /http\S+pages\S+/.exec(mail) ?? [];
    await paid.click(link);
    await becomesPaid(who, invoiceId);
    expect(await of()).not.toEqual([gone]);
    await paid.saveMethod(who);
  });

  it('under the key of another account is no decline: it is charged, and nobody is another customer, once the key is right', async () => {
    const { who, invoiceId } = await someone();
    const other = await newInvoice(paid.product, who);
    const { redirect_url: link } = (await who.post(`/dashboard/invoices/${other}/pay`, { method: 'card' }))
      .body.data;
    const customers = () =>
      sql(
        paid.product,
        'select reference from provider_customers where organization_id = $1',
        who.organizationId,
      );
    const before = await customers();
    paid.stripe.isOfAnother(true);
    expect((await paid.follow(link)).status).toBe(503);
    await charge(invoiceId);
    await until(
      () =>
        sql<{ error_code: string }>(
          paid.product,
          `select error_code from jobs where name = 'billing.chargeSaved' and state = 'ready' and error_code is not null`,
        ),
      ([job]) => job?.error_code === 'provider_refused',
    );
    expect(await charges(invoiceId)).toEqual([{ state: 'open', attempt: 1 }]);
    paid.stripe.isOfAnother(false);
    expect(await customers()).toEqual(before);
    await paid.product.clock.travel(hour);
    await becomesPaid(who, invoiceId);
    await paid.click(link);
    await becomesPaid(who, other);
  });

  it('of many customers are charged side by side: each once, and none is held up by another', async () => {
    const many = await Promise.all(Array.from({ length: 8 }, () => someone()));
    // Its bank wants the customer there, so it is not asked again.
    const declined = await someone(alwaysAsks);
    const [first] = many;
    const second = first && { ...first, invoiceId: await newInvoice(paid.product, first.who) };
    const good = second ? [...many, second] : many;
    const before = taken();
    // Of three the answer is lost after the money was taken, which is found again.
    paid.stripe.fail(/payment_intents\/\w+\/confirm/, 'lost', 3);
    await transaction(paid.product.ctx, 'test.charge', async (tx) => {
      for (const { invoiceId } of [...good.slice(0, 4), declined, ...good.slice(4)])
        await chargeSaved(tx, invoiceId);
    });
    await Promise.all(good.map(({ who, invoiceId }) => becomesPaid(who, invoiceId)));
    await until(
      () => charges(declined.invoiceId),
      ([each]) => each?.state === 'failed',
    );
    expect(taken()).toBe(before + good.length);
    const states = await Promise.all(good.map(({ invoiceId }) => charges(invoiceId)));
    expect(states).toEqual(good.map(() => [{ state: 'paid', attempt: 1 }]));
  });

  it('and credit at the same moment pay an invoice once; what came twice is credit', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { who, invoiceId, methodId } = await someone(undefined, 300);
      const way = { method: 'card', payment_method_id: methodId };
      const [byCard, byCredit] = await Promise.all([
        who.post(`/dashboard/invoices/${invoiceId}/pay`, way),
        payByCredit(who, invoiceId),
      ]);
      expect([200, 409]).toContain(byCard.status);
      expect([200, 409]).toContain(byCredit.status);
      await becomesPaid(who, invoiceId);
      await settled(paid.product);
      // Three of credit and three of the card, of which the invoice took three.
      const { credit_balance: left } = (await who.get('/dashboard/invoices')).body.data;
      const [came] = await sql<{ minor: number }>(
        paid.product,
        `select coalesce(sum(amount_minor), 0)::int as minor from charges where invoice_id = $1 and state = 'paid'`,
        invoiceId,
      );
      expect(Number(left) * 100).toBe(300 + (came?.minor ?? 0) - 300);
    }
  });
});
