import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { orderVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, until } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { settled, sql } from '../../../test/sql.ts';
import { ibans } from '../../../test/stripe/cards.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

let paid: PaidProduct;
let who: Person;
beforeAll(async () => {
  paid = await startPaidProduct();
  who = await newCustomer(paid.product);
});
afterAll(() => paid.stop({ audited: true }));

const invoiceOf = async (id: number, client = who) =>
  (await client.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const becomes = (id: number, status: string, client = who) =>
  until(
    () => invoiceOf(id, client),
    (invoice) => invoice.status === status,
  );
const pay = async (id: number, body: object = {}, client = who) => {
  const { status, body: answer } = await client.post(`/dashboard/invoices/${id}/pay`, {
    method: 'card',
    ...body,
  });
  expect(status, JSON.stringify(answer)).toBe(200);
  return answer.data;
};
const sessionOf = (page: string) =>
  paid.stripe.account.require(page.split('/').at(-1) ?? '', 'checkout.session');
const credit = async (client = who) => (await client.get('/dashboard/invoices')).body.data.credit_balance;
const mails = (like: string) =>
  sql<{ subject: string; body: string }>(
    paid.product,
    'select subject, body from mails where subject like $1',
    like,
  );

/** Everything in the books that an invoice moved, by account. */
async function booked(invoiceId: number): Promise<Record<string, number>> {
  const rows = await sql<{ kind: string; minor: number }>(
    paid.product,
    `select a.kind, sum(e.amount_minor)::bigint as minor from ledger_entries e
     join ledger_accounts a on a.id = e.account_id join ledger_transactions t on t.id = e.transaction_id
     where t.invoice_id = $1 group by a.kind having sum(e.amount_minor) <> 0`,
    invoiceId,
  );
  return Object.fromEntries(rows.map(({ kind, minor }) => [kind, Number(minor)]));
}

describe('an invoice paid on the page of the provider', () => {
  it.each([
    ['a card', {}, [{ kind: 'card', country: 'NL' }]],
    ['an account', { number: ibans.arrives }, [{ kind: 'bank', country: 'AT' }]],
  ] as const)('shows where %s is that paid for a consumer', async (_, means, evidence) => {
    const consumer = await newCustomer(paid.product, { country: 'NL' });
    const id = await newInvoice(paid.product, consumer);
    const asked = await pay(id, {}, consumer);
    await paid.click(asked.redirect_url, means);
    if ('number' in means) {
      const [pending] = await until(
        () =>
          sql<{ state: string; reference: string }>(
            paid.product,
            'select state, reference from charges where id = $1',
            asked.charge.id,
          ),
        ([row]) => row?.state === 'pending',
      );
      paid.stripe.account.settleDebit(pending?.reference ?? '');
    }
    await becomes(id, 'paid', consumer);
    const { invoice } = (await paid.product.staff.get(`/staff/invoices/${id}`)).body.data;
    expect(invoice.tax_evidence).toMatchObject(evidence);
  });

  it('is delivered once the provider says that the money is there, whatever the customer told us', async () => {
    const { invoiceId, serviceId } = await orderVps(paid.product, who);
    const asked = await pay(invoiceId);
    expect(asked).toMatchObject({ invoice: { status: 'unpaid' }, charge: { state: 'open', amount: '4.00' } });
    const page = await paid.follow(asked.redirect_url);
    expect([page.status, page.location]).toEqual([303, expect.stringMatching(`^${paid.stripe.url}/c/pay/`)]);
    paid.stripe.events.hold();
    const { location } = await paid.stripe.click(page.location);
    expect(location).toContain(`/invoices/${invoiceId}?paid=true`);
    expect((await invoiceOf(invoiceId)).status).toBe('unpaid');
    await paid.stripe.events.release();
    const invoice = await becomes(invoiceId, 'paid');
    expect(invoice).toMatchObject({
      paid_with_credit: '0.00',
      amount_due: '0.00',
      payments: [{ method: 'stripe', amount: '4.00' }],
    });
    expect(invoice.payments[0].reference).toMatch(/^pi_/);
    await until(
      () => who.get(`/dashboard/services/${serviceId}`),
      ({ body }) => body.data.service.status === 'active',
    );
    await settled(paid.product);
    // 1.5 % and a quarter, as the stand-in takes it.
    expect(await booked(invoiceId)).toEqual({ provider: 400 - 31, fees: 31, deferred: -400 });
    expect(await mails(`Payment received for invoice ${invoiceId}`)).toHaveLength(1);
  });

  it('is one page for two clicks, and none once it is paid', async () => {
    const id = await newInvoice(paid.product, who);
    const first = await pay(id);
    const second = await pay(id);
    expect(second).toEqual(first);
    const both = await Promise.all([paid.follow(first.redirect_url), paid.follow(first.redirect_url)]);
    expect(new Set(both.map(({ location }) => location)).size).toBe(1);
    await paid.click(first.redirect_url);
    await becomes(id, 'paid');
    expect((await paid.follow(first.redirect_url)).location).toMatch(new RegExp(`/invoices/${id}$`));
    const again = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
    expect([again.status, again.body.code]).toEqual([409, 'invoice_not_payable']);
  });

  it('waits for a debit that is on its way for days, and is open again when it fails', async () => {
    for (const [number, status] of [
      [ibans.arrives, 'paid'],
      [ibans.fails, 'unpaid'],
    ] as const) {
      const id = await newInvoice(paid.product, who);
      const asked = await pay(id);
      await paid.click(asked.redirect_url, { number });
      const charge = () =>
        sql<{ state: string; reference: string }>(
          paid.product,
          'select state, reference from charges where id = $1',
          asked.charge.id,
        );
      const [pending] = await until(charge, ([row]) => row?.state === 'pending');
      expect((await invoiceOf(id)).status).toBe('unpaid');
      paid.stripe.account.settleDebit(pending?.reference ?? '');
      await until(charge, ([row]) => row?.state !== 'pending');
      expect((await invoiceOf(id)).status).toBe(status);
    }
  });

  it('takes the credit first when the rest has come, and never before', async () => {
    const saver = await newCustomer(paid.product, { creditMinor: 100 });
    const id = await newInvoice(paid.product, saver);
    const asked = await pay(id, { use_credit: true }, saver);
    expect(asked.charge.amount).toBe('2.00');
    expect(await credit(saver)).toBe('1.00');
    await paid.click(asked.redirect_url);
    const invoice = await becomes(id, 'paid', saver);
    expect(invoice).toMatchObject({ paid_with_credit: '1.00', amount_paid: '3.00' });
    expect(
      invoice.payments
        .map(({ method, amount }: { method: string; amount: string }) => `${method} ${amount}`)
        .sort(),
    ).toEqual(['credit 1.00', 'stripe 2.00']);
    expect(await credit(saver)).toBe('0.00');
  });

  it('stays open for what was to come from credit that is spent by then', async () => {
    const saver = await newCustomer(paid.product, { creditMinor: 300 });
    const id = await newInvoice(paid.product, saver, 2);
    const asked = await pay(id, { use_credit: true }, saver);
    expect((await payByCredit(saver, await newInvoice(paid.product, saver))).status).toBe(200);
    await paid.click(asked.redirect_url);
    await until(
      () => invoiceOf(id, saver),
      (invoice) => invoice.amount_paid !== '0.00',
    );
    expect(await invoiceOf(id, saver)).toMatchObject({
      status: 'unpaid',
      amount_paid: '3.00',
      amount_due: '3.00',
    });
    const rest = await pay(id, {}, saver);
    expect(rest.charge.amount).toBe('3.00');
    await paid.click(rest.redirect_url);
    await becomes(id, 'paid', saver);
  });

  it('and another one, both with the same credit, spend it once', async () => {
    const saver = await newCustomer(paid.product, { creditMinor: 300 });
    const ids = [await newInvoice(paid.product, saver, 2), await newInvoice(paid.product, saver, 2)];
    const pages = await Promise.all(ids.map((id) => pay(id, { use_credit: true }, saver)));
    expect(pages.map(({ charge }) => charge.amount)).toEqual(['3.00', '3.00']);
    await Promise.all(pages.map(({ redirect_url: link }) => paid.click(link)));
    await paid.stripe.events.quiet();
    await settled(paid.product);
    const invoices = await Promise.all(ids.map((id) => invoiceOf(id, saver)));
    expect(invoices.map(({ status }) => status).toSorted()).toEqual(['paid', 'unpaid']);
    expect(invoices.map(({ amount_paid }) => amount_paid).toSorted()).toEqual(['3.00', '6.00']);
    expect(await credit(saver)).toBe('0.00');
  });

  it('needs no page when the credit is enough', async () => {
    const saver = await newCustomer(paid.product, { creditMinor: 300 });
    const id = await newInvoice(paid.product, saver);
    expect(await pay(id, { use_credit: true }, saver)).toMatchObject({
      invoice: { status: 'paid', paid_with_credit: '3.00' },
      redirect_url: null,
      charge: null,
    });
  });

  it('that was paid in another way meanwhile becomes credit', async () => {
    const saver = await newCustomer(paid.product, { creditMinor: 300 });
    const id = await newInvoice(paid.product, saver);
    const { location } = await paid.follow((await pay(id, {}, saver)).redirect_url);
    // The page is closed, and somebody is quicker.
    paid.stripe.fail(/expire$/, 'error', 3);
    expect((await payByCredit(saver, id)).status).toBe(200);
    await paid.stripe.click(location);
    await until(
      () => credit(saver),
      (balance) => balance === '3.00',
    );
    await settled(paid.product);
    const [mail] = await mails(`Your payment for invoice ${id} became credit`);
    expect(mail?.body).toContain('it was paid already');
  });

  it('that is paid or cancelled in another way has its page closed', async () => {
    for (const how of ['pay', 'cancel']) {
      const saver = await newCustomer(paid.product, { creditMinor: 300 });
      const id = await newInvoice(paid.product, saver);
      const { location } = await paid.follow((await pay(id, {}, saver)).redirect_url);
      expect(
        (await saver.post(`/dashboard/invoices/${id}/${how}`, how === 'pay' ? { method: 'credit' } : {}))
          .status,
      ).toBe(200);
      const session = () => paid.stripe.account.require(location.split('/').at(-1) ?? '', 'checkout.session');
      await until(
        async () => session().status,
        (status) => status === 'expired',
      );
      expect((await paid.stripe.click(location)).location).toBeNull();
    }
  });

  it('that nobody pays in time has its page closed', async () => {
    const late = await newCustomer(paid.product);
    const id = await newInvoice(paid.product, late);
    const { location } = await paid.follow((await pay(id, {}, late)).redirect_url);
    await sql(paid.product, 'update invoices set expires_at = created_at where id = $1', id);
    // More than once: an invoice that is held at that moment is left for the next time.
    await until(
      async () => {
        await paid.product.periodic('billing.expire');
        return sessionOf(location).status;
      },
      (status) => status === 'expired',
    );
    expect((await paid.stripe.click(location)).location).toBeNull();
    // Once it was looked at, which nobody paid on.
    await until(
      async () => {
        await paid.product.periodic('billing.expire');
        return (await invoiceOf(id, late)).status;
      },
      (status) => status === 'cancelled',
    );
  });

  it('that is paid in another way while the provider opens its page has that page closed', async () => {
    const saver = await newCustomer(paid.product, { creditMinor: 300 });
    const id = await newInvoice(paid.product, saver);
    const { redirect_url: link } = await pay(id, {}, saver);
    let opened = '';
    paid.stripe.meanwhile(/POST .*checkout\/sessions$/, async () => {
      expect((await payByCredit(saver, id)).status).toBe(200);
      opened = paid.stripe.account.objects.every('checkout.session').at(-1)?.id ?? '';
    });
    // They are sent to their invoice, which is paid, and to no page.
    expect((await paid.follow(link)).location).toMatch(new RegExp(`/invoices/${id}$`));
    await until(
      async () => paid.stripe.account.require(opened, 'checkout.session').status,
      (status) => status === 'expired',
    );
  });

  it('has its page closed in the night when the provider was away for long', async () => {
    const saver = await newCustomer(paid.product, { creditMinor: 300 });
    const id = await newInvoice(paid.product, saver);
    const { location } = await paid.follow((await pay(id, {}, saver)).redirect_url);
    await settled(paid.product);
    paid.stripe.fail(/expire$/, 'error', 100);
    expect((await payByCredit(saver, id)).status).toBe(200);
    await until(
      () =>
        sql<{ id: number }>(
          paid.product,
          `select id from jobs where name = 'billing.closePages' and (payload->>'invoiceId')::bigint = $1 and attempts > 0`,
          id,
        ),
      (jobs) => jobs.length === 1,
    );
    // As if it had been given up.
    await sql(
      paid.product,
      `delete from jobs where name = 'billing.closePages' and (payload->>'invoiceId')::bigint = $1 and state = 'ready'`,
      id,
    );
    paid.stripe.heal();
    await paid.product.clock.travel(25 * 3_600_000);
    await paid.product.periodic('billing.compareProvider');
    await until(
      async () => sessionOf(location).status,
      (status) => status === 'expired',
    );
  });

  it('on the page and by transfer at one moment is paid once; what came second is credit, and told', async () => {
    for (let round = 0; round < 3; round += 1) {
      const payer = await newCustomer(paid.product);
      const id = await newInvoice(paid.product, payer);
      const { location } = await paid.follow((await pay(id, {}, payer)).redirect_url);
      const transfer = { amount: '3.00', reference: `both ${id}` };
      const [, byTransfer] = await Promise.all([
        paid.stripe.click(location),
        paid.product.staff.post(`/staff/invoices/${id}/payments`, transfer),
      ]);
      await becomes(id, 'paid', payer);
      await paid.stripe.events.quiet();
      await settled(paid.product);
      const came =
        3 * (byTransfer.status === 200 ? 1 : 0) + 3 * (sessionOf(location).payment_status === 'paid' ? 1 : 0);
      expect(await credit(payer)).toBe((came - 3).toFixed(2));
      expect(await mails(`Your payment for invoice ${id} became credit`)).toHaveLength(came === 6 ? 1 : 0);
    }
  });

  it('by two people at two pages pays it once, and the other payment becomes credit', async () => {
    const id = await newInvoice(paid.product, who);
    const { redirect_url: link } = await pay(id);
    const first = await paid.follow(link);
    await paid.product.clock.travel(25 * 3_600_000);
    const second = await paid.follow(link);
    expect(second.location).not.toBe(first.location);
    // The first page was closed for it; somebody was quicker.
    const before = Number(await credit());
    await paid.stripe.click(second.location);
    await becomes(id, 'paid');
    expect((await paid.stripe.click(first.location)).location).toBeNull();
    expect(Number(await credit())).toBe(before);
  });
});

describe('a link to a page', () => {
  it('is refused when anybody else made it', async () => {
    const id = await newInvoice(paid.product, who);
    const { redirect_url: link } = await pay(id);
    const other = link.replace(
      /charge-(\d)/,
      (_: string, digit: string) => `charge-${(Number(digit) % 9) + 1}`,
    );
    for (const wrong of [
      other,
      `${link}x`,
      link.slice(0, -1),
      link.replace(/\.[\w-]+$/, ''),
      link.replace(/\.[\w-]+$/, '.'),
    ]) {
      expect((await paid.follow(wrong)).status, wrong).toBe(404);
    }
    expect((await paid.follow(link)).status).toBe(303);
  });

  it('says so when the provider is away, and works again when it is back', async () => {
    const id = await newInvoice(paid.product, who);
    const { redirect_url: link } = await pay(id);
    for (const fault of ['error', 'limited', 'garbage'] as const) {
      paid.stripe.fail(/checkout/, fault);
      const answer = await paid.product.nobody.get(new URL(link).pathname.replace('/api', ''));
      expect([answer.status, answer.body.code]).toEqual([503, 'payment_provider_unavailable']);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect((await paid.follow(link)).status).toBe(303);
  });
});

describe('an order that waits for a debit', () => {
  it('is neither paid on another page nor cancelled while the money is on its way, and both when it fails', async () => {
    const { body } = await who.post('/cart/checkout/invoice', {
      products: [{ id: paid.product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' }],
    });
    const { invoice_id: id, service_ids } = body.data;
    const asked = await pay(id);
    const other = await pay(id, { use_credit: true });
    const { location: open } = await paid.follow(other.redirect_url);
    await paid.click(asked.redirect_url, { number: ibans.fails });
    const row = () =>
      sql<{ state: string; reference: string }>(
        paid.product,
        'select state, reference from charges where id = $1',
        asked.charge.id,
      );
    const [pending] = await until(row, ([charge]) => charge?.state === 'pending');
    const about = { message: expect.stringContaining('is on its way') };
    const again = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
    expect([again.status, again.body]).toMatchObject([409, { code: 'invoice_not_payable', ...about }]);
    // The page that is open in another window takes nothing either, nor does the link to it.
    await until(
      async () => sessionOf(open).status,
      (status) => status === 'expired',
    );
    expect((await paid.follow(other.redirect_url)).location).toMatch(new RegExp(`/invoices/${id}$`));
    const cancel = () => who.post(`/dashboard/invoices/${id}/cancel`);
    const ofService = await who.post(`/dashboard/services/${service_ids[0]}/cancel`, { type: 'immediate' });
    for (const refused of [await cancel(), ofService])
      expect([refused.status, refused.body]).toMatchObject([409, { code: 'conflict', ...about }]);
    const seen = (await who.get(`/dashboard/invoices/${id}`)).body.data;
    const can = (shown: typeof seen) => [
      shown.invoice.actions.cancel.allowed,
      shown.payment_ways.find(({ method }: { method: string }) => method === 'card').allowed,
    ];
    expect(can(seen)).toEqual([false, false]);

    paid.stripe.account.settleDebit(pending?.reference ?? '');
    await until(row, ([charge]) => charge?.state === 'failed');
    expect(can((await who.get(`/dashboard/invoices/${id}`)).body.data)).toEqual([true, true]);
    expect((await paid.follow((await pay(id)).redirect_url)).location).toContain(paid.stripe.url);
    // For the next debit nothing waits any more, so its customer need not wait either.
    const next = await pay(id);
    await paid.click(next.redirect_url, { number: ibans.fails });
    const nextRow = () =>
      sql<{ state: string }>(paid.product, 'select state from charges where id = $1', next.charge.id);
    await until(nextRow, ([charge]) => charge?.state === 'pending');
    expect(can((await who.get(`/dashboard/invoices/${id}`)).body.data)).toEqual([true, true]);
    expect((await paid.follow((await pay(id)).redirect_url)).location).toContain(paid.stripe.url);
    expect((await cancel()).status).toBe(200);
  });

  it('keeps its customer neither from ordering more, nor in a circle of paying and cancelling', async () => {
    const orderer = await newCustomer(paid.product);
    const { fresh } = paid.product.ctx.config.unpaid;
    const { orders: before } = fresh;
    const most = 2;
    fresh.orders = most;
    const item = { id: paid.product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const order = () => orderer.post('/cart/checkout/invoice', { products: [item] });
    try {
      for (let nth = 0; nth < most; nth += 1) {
        const { body } = await order();
        const { redirect_url: link } = await pay(body.data.invoice_id, {}, orderer);
        await paid.click(link, { number: ibans.arrives });
      }
      await until(
        () =>
          sql(
            paid.product,
            `select id from charges where organization_id = $1 and state = 'pending'`,
            orderer.organizationId,
          ),
        ({ length }) => length === most,
      );
      for (let nth = 0; nth < most; nth += 1) expect((await order()).status).toBe(200);
      expect((await order()).body.code).toBe('too_many');
    } finally {
      fresh.orders = before;
    }
  });

  it('for the time of a service is not replaced by another cycle or product, which would be paid a second time', async () => {
    const buyer = await newCustomer(paid.product, { creditMinor: 300 });
    const [hosting, other] = [paid.product.demo.products.hosting, await newHosting(paid.product, 900)];
    const { data } = (
      await buyer.post('/cart/checkout/invoice', {
        products: [{ id: hosting, cycle: 'monthly', type: 'Hosting' }],
      })
    ).body;
    expect((await payByCredit(buyer, data.invoice_id)).status).toBe(200);
    await settled(paid.product);
    const [id] = data.service_ids;
    expect((await paid.product.staff.post(`/staff/services/${id}/deliver`)).status).toBe(200);
    const pending = async (invoiceId: number) => {
      const { redirect_url: link, charge } = await pay(invoiceId, {}, buyer);
      await paid.click(link, { number: ibans.fails });
      const [row] = await until(
        () =>
          sql<{ state: string; reference: string }>(
            paid.product,
            'select state, reference from charges where id = $1',
            charge.id,
          ),
        ([found]) => found?.state === 'pending',
      );
      return row?.reference ?? '';
    };
    const renew = (cycle: string) => buyer.post(`/dashboard/services/${id}/renew`, { cycle });
    const upgrade = (productId: number) =>
      buyer.post(`/dashboard/services/${id}/upgrade`, { product_id: productId });
    const renewal = (await renew('monthly')).body.data.invoice_id;
    const reference = await pending(renewal);
    const about = { code: 'conflict', message: expect.stringMatching(`invoice ${renewal} .*is on its way`) };
    for (const refused of [await renew('annually'), await upgrade(other)])
      expect([refused.status, refused.body]).toMatchObject([409, about]);
    expect((await renew('monthly')).body.data.invoice_id).toBe(renewal);
    paid.stripe.account.settleDebit(reference);
    await until(
      async () => (await renew('annually')).status,
      (status) => status === 200,
    );

    // What came back before the day has spared nothing: the next debit is waited for, also for another cycle.
    const annual = (await renew('annually')).body.data.invoice_id;
    const next = await pending(annual);
    const byCard = await buyer.post(`/dashboard/invoices/${annual}/pay`, { method: 'card' });
    expect([byCard.status, byCard.body.message]).toEqual([409, expect.stringContaining('is on its way')]);
    paid.stripe.account.settleDebit(next);
    const changed = await until(
      () => upgrade(other),
      ({ status }) => status === 200,
    );

    const { invoice_id: change } = changed.body.data;
    await pending(change);
    const waits = {
      code: 'conflict',
      message: expect.stringMatching(/is on its way; wait for it, or pay it from credit/),
    };
    for (const refused of [await renew('monthly'), await upgrade(await newHosting(paid.product, 1_200))])
      expect([refused.status, refused.body]).toMatchObject([409, waits]);
    const ended = await buyer.post(`/dashboard/services/${id}/cancel`, { type: 'end_of_period' });
    expect(ended.status).toBe(200);
  });

  it('does not expire while the money is on its way, and does when it fails', async () => {
    const asked = await Promise.all(
      [ibans.arrives, ibans.fails].map(async (number) => {
        const id = await newInvoice(paid.product, who);
        const { redirect_url: link, charge } = await pay(id);
        await paid.click(link, { number });
        const rows = () =>
          sql<{ state: string; reference: string }>(
            paid.product,
            'select state, reference from charges where id = $1',
            charge.id,
          );
        const [row] = await until(rows, ([row]) => row?.state === 'pending');
        return { id, rows, reference: row?.reference ?? '' };
      }),
    );
    paid.product.clock.travel(5 * 86_400_000);
    await paid.product.periodic('billing.expire');
    for (const { id, rows, reference } of asked) {
      expect((await invoiceOf(id)).status).toBe('unpaid');
      paid.stripe.account.settleDebit(reference);
      await until(rows, ([row]) => row?.state !== 'pending');
    }
    await paid.product.periodic('billing.expire');
    const states = await Promise.all(asked.map(async ({ id }) => (await invoiceOf(id)).status));
    expect(states).toEqual(['paid', 'cancelled']);
  });
});

describe('without a payment provider', () => {
  it('what needs one says so, and nothing changes', { timeout: 180_000 }, async () => {
    const product = await startTestProduct();
    const customer = await newCustomer(product, { creditMinor: 300 });
    const id = await newInvoice(product, customer);
    const missing = [503, 'payment_provider_missing'];
    for (const body of [{ method: 'card' }, { method: 'stripe', use_credit: true }]) {
      const answer = await customer.post(`/dashboard/invoices/${id}/pay`, body);
      expect([answer.status, answer.body.code]).toEqual(missing);
    }
    const added = await customer.post('/dashboard/payment-methods');
    expect([added.status, added.body.code]).toEqual(missing);
    const told = await product.nobody.post('/payments/stripe/events', {});
    expect(told.status).toBe(404);
    expect((await payByCredit(customer, id)).status).toBe(200);
    await product.stop();
  });
});
