import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

let paid: PaidProduct;
let who: Person;
beforeAll(async () => {
  paid = await startPaidProduct();
  who = await newCustomer(paid.product);
});
afterAll(() => paid.stop({ audited: true }));

/** An invoice whose customer paid on the page, and of which we have not heard. */
async function paidUnheard(): Promise<number> {
  // The night's comparison would find it before a test does.
  await paid.product.periodic('billing.compareProvider');
  await settled(paid.product);
  const id = await newInvoice(paid.product, who);
  const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'stripe' });
  paid.stripe.events.hold();
  await paid.click(body.data.redirect_url);
  return id;
}
const statusOf = async (id: number) =>
  (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice.status as string;
const becomesPaid = (id: number) =>
  until(
    () => statusOf(id),
    (status) => status === 'paid',
  );

describe('what the provider tells', () => {
  it('three times, backwards and late has one effect', async () => {
    const id = await paidUnheard();
    await paid.product.clock.travel(60 * 3_600_000);
    const answers = await paid.stripe.events.deliver(3, (events) => events.toReversed());
    expect(new Set(answers)).toEqual(new Set([200]));
    await becomesPaid(id);
    const all = paid.stripe.events.events;
    for (const event of all) expect(await paid.stripe.events.send(event)).toBe(200);
    await settled(paid.product);
    const rows = await sql(paid.product, 'select id from payments where invoice_id = $1', id);
    expect(rows).toHaveLength(1);
    await paid.stripe.events.release();
  });

  it('at once, many times, is looked at once', async () => {
    const id = await paidUnheard();
    const last = paid.stripe.events.events.at(-1) ?? {};
    const answers = await Promise.all(Array.from({ length: 20 }, () => paid.stripe.events.send(last)));
    expect(new Set(answers)).toEqual(new Set([200]));
    const [count] = await sql<{ count: number }>(
      paid.product,
      'select count(*)::int as count from provider_events where reference = $1',
      (last as { id: string }).id,
    );
    expect(count).toEqual({ count: 1 });
    await paid.stripe.events.release();
    await becomesPaid(id);
  });

  it.each([
    ['is signed by somebody else', { secret: 'whsec_other' }],
    ['was signed an hour ago', { agedS: 3_600 }],
    ['was changed on its way', { tamper: (body: string) => body.replace('livemode', 'livemode ') }],
  ])('and %s changes nothing', async (_, sending) => {
    const id = await paidUnheard();
    await settled(paid.product);
    const before = await contents(paid.product);
    for (const event of paid.stripe.events.events)
      expect(await paid.stripe.events.send(event, sending)).toBe(400);
    await settled(paid.product);
    expect(await contents(paid.product)).toEqual(before);
    expect(await statusOf(id)).toBe('unpaid');
    await paid.stripe.events.release();
    await becomesPaid(id);
  });

  it('with a good signature of another account, another mode or of what is none of ours changes nothing', async () => {
    const id = await paidUnheard();
    const event = paid.stripe.events.events.find(({ type }) => type === 'payment_intent.succeeded') ?? {};
    const theirs = { id: 'pi_theirs', object: 'payment_intent', metadata: { innkeeper_charge: '7' } };
    await settled(paid.product);
    const before = await contents(paid.product);
    for (const other of [
      { ...event, id: 'evt_1', account: 'acct_other' },
      { ...event, id: 'evt_2', livemode: true },
      { ...event, id: 'evt_3', type: 'invoice.paid' },
    ])
      expect(await paid.stripe.events.send(other)).toBe(200);
    expect(await contents(paid.product)).toEqual(before);
    // Of what is not in our account we hear, and find nothing there.
    expect(await paid.stripe.events.send({ ...event, id: 'evt_4', data: { object: theirs } })).toBe(200);
    await settled(paid.product);
    expect(await statusOf(id)).toBe('unpaid');
    await paid.stripe.events.release();
    await becomesPaid(id);
  });

  it('of a payment that somebody else made in the same account changes nothing', async () => {
    const { account } = paid.stripe;
    const customer = account.makeCustomer({ name: 'A shop' }).id;
    const method = account.attach('pm_card_visa', customer).id;
    const fields = { amount: 5_000, currency: 'eur', customer, description: null, metadata: {} };
    account.confirm(account.makeIntent({ ...fields, payment_method: method }).id, {
      offSession: true,
      authenticates: false,
    });
    await paid.stripe.events.quiet();
    await settled(paid.product);
    const [count] = await sql<{ count: number }>(
      paid.product,
      `select count(*)::int as count from charges where amount_minor = 5000`,
    );
    expect(count).toEqual({ count: 0 });
  });

  it('is not believed where it is not told', async () => {
    const post = (path: string, body: string, headers: Record<string, string> = {}) =>
      paid.product.nobody.request('POST', path, body, headers);
    expect((await post('/payments/paypal/events', '{}')).status).toBe(404);
    expect((await post('/payments/stripe/events', '{}')).body.code).toBe('signature_invalid');
    expect((await post('/payments/stripe/events', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    const header = { 'stripe-signature': `t=9999999999,v1=${'0'.repeat(64)}` };
    expect((await post('/payments/stripe/events', '{"id":"evt_1"}', header)).body.code).toBe(
      'signature_invalid',
    );
  });

  it('while the provider is out of order is looked at when it is back', async () => {
    const id = await paidUnheard();
    paid.stripe.fail(/GET .*(payment_intents|sessions)/, 'error', 3);
    paid.stripe.fail(/GET .*(payment_intents|sessions)/, 'garbage', 2);
    await paid.stripe.events.release();
    await becomesPaid(id);
  });
});
