import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { newCustomer, type Person, signedIn } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

const changes = watchChanges();

let paid: PaidProduct;
let who: Person;
beforeAll(async () => {
  paid = await startPaidProduct();
  who = await newCustomer(paid.product);
});
afterAll(() => paid.stop());

interface Method {
  id: number;
  last4: string;
  is_default: boolean;
}

const list = async (client = who): Promise<Method[]> =>
  (await client.get('/dashboard/payment-methods')).body.data.payment_methods;
const defaults = async (client = who) =>
  (await list(client)).filter((each) => each.is_default).map(({ id }) => id);

describe('payment methods', () => {
  it('are saved on the page of the provider, and the first one is the default', async () => {
    const first = await paid.saveMethod(who);
    const second = await paid.saveMethod(who, '5555555555554444');
    expect(await list()).toMatchObject([
      { id: first, type: 'card', brand: 'visa', last4: '4242', expires_year: 2034, is_default: true },
      { id: second, brand: 'mastercard', last4: '4444', is_default: false },
    ]);
    await settled(paid.product);
    const subjects = await sql(
      paid.product,
      `select subject from mails where subject like 'Payment method saved%' order by 1`,
    );
    expect(subjects).toEqual([
      { subject: 'Payment method saved: mastercard ending in 4444' },
      { subject: 'Payment method saved: visa ending in 4242' },
    ]);
    const [kept] = await sql<{ all: string }>(
      paid.product,
      'select jsonb_agg(m)::text as all from payment_methods m',
    );
    expect(kept?.all).not.toMatch(/4242424242|5555555555/);
  });

  it('are none when the customer turns back', async () => {
    const other = await newCustomer(paid.product);
    const { body } = await other.post('/dashboard/payment-methods');
    expect((await paid.follow(body.data.redirect_url)).status).toBe(303);
    const { says } = await paid.click(body.data.redirect_url, { number: '4000000000000002' });
    expect(says).toContain('declined');
    expect(await list(other)).toEqual([]);
    await paid.product.clock.travel(25 * 3_600_000);
    expect((await paid.follow(body.data.redirect_url)).status).toBe(404);
  });

  it('have one default, which is chosen and can be none', async () => {
    const [first, second] = (await list()).map(({ id }) => id);
    const change = (id: number | undefined, isDefault: boolean) =>
      who.patch(`/dashboard/payment-methods/${id}`, { is_default: isDefault });
    expect((await change(second, true)).body.data.payment_method).toMatchObject({
      id: second,
      is_default: true,
    });
    expect(await defaults()).toEqual([second]);
    await change(first, false);
    expect(await defaults()).toEqual([second]);
    await change(second, false);
    expect(await defaults()).toEqual([]);
    const both = await Promise.all([change(first, true), change(second, true)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(await defaults()).toHaveLength(1);
    const tag = (await who.get(`/dashboard/payment-methods/${first}`)).headers.get('etag') ?? '';
    await change(first, !(await defaults()).includes(first ?? 0));
    const stale = await who.patch(
      `/dashboard/payment-methods/${first}`,
      { is_default: true },
      { 'if-match': tag },
    );
    expect(stale.status).toBe(412);
  });

  it('are gone when they are removed, here and at the provider', async () => {
    const id = await paid.saveMethod(who);
    const [row] = await sql<{ reference: string }>(
      paid.product,
      'select reference from payment_methods where id = $1',
      id,
    );
    expect((await who.delete(`/dashboard/payment-methods/${id}`)).body.data).toEqual({ deleted: true });
    expect((await list()).map((each) => each.id)).not.toContain(id);
    await settled(paid.product);
    expect(paid.stripe.account.require(row?.reference ?? '', 'payment_method').customer).toBeNull();
    expect((await who.delete(`/dashboard/payment-methods/${id}`)).status).toBe(404);
    // What an old event says brings it back to nobody.
    for (const event of paid.stripe.events.events) await paid.stripe.events.send(event);
    await settled(paid.product);
    expect((await list()).map((each) => each.id)).not.toContain(id);
  });

  it('go on when the bank renews the card, and are gone when the provider loses them', async () => {
    const id = await paid.saveMethod(who);
    const [row] = await sql<{ reference: string }>(
      paid.product,
      'select reference from payment_methods where id = $1',
      id,
    );
    const reference = row?.reference ?? '';
    paid.stripe.account.renewCard(reference, { last4: '1881', exp_year: 2039 });
    const find = async () => (await list()).find((each) => each.id === id);
    expect(await until(find, (method) => method?.last4 === '1881')).toMatchObject({ expires_year: 2039 });
    paid.stripe.account.detach(reference);
    await until(find, (method) => method === undefined);
  });

  it('under the key of another account are neither forgotten nor lost: that waits for the right key', async () => {
    const waiting = (name: string) =>
      until(
        () =>
          sql<{ id: number }>(
            paid.product,
            `select id from jobs where name = $1 and state = 'ready' and error_code = 'provider_refused'`,
            name,
          ),
        (jobs) => jobs.length > 0,
      );
    const leaving = await newCustomer(paid.product);
    const [removed, lost] = [await paid.saveMethod(leaving), await paid.saveMethod(leaving)];
    const referenceOf = async (id: number) =>
      (
        await sql<{ reference: string }>(
          paid.product,
          'select reference from payment_methods where id = $1',
          id,
        )
      )[0]?.reference ?? '';
    const [ofRemoved, ofLost] = [await referenceOf(removed), await referenceOf(lost)];
    const [customer] = await sql<{ reference: string }>(
      paid.product,
      'select reference from provider_customers where organization_id = $1',
      leaving.organizationId,
    );
    const at = paid.stripe.account;
    paid.stripe.isOfAnother(true);
    await leaving.delete(`/dashboard/payment-methods/${removed}`);
    await waiting('billing.forgetMethod');
    at.detach(ofLost);
    await waiting('billing.followProvider');
    expect((await list(leaving)).map(({ id }) => id)).toEqual([lost]);
    paid.stripe.isOfAnother(false);
    paid.product.clock.travel(3_600_000);
    await until(
      () => list(leaving),
      (methods) => methods.length === 0,
    );
    await settled(paid.product);
    expect(at.require(ofRemoved, 'payment_method').customer).toBeNull();

    paid.stripe.isOfAnother(true);
    const here = await signedIn(paid.product, leaving);
    expect((await here.post('/dashboard/account/close', {})).status).toBe(200);
    await waiting('billing.forgetCustomer');
    expect(at.require(customer?.reference ?? '', 'customer').deleted).toBeUndefined();
    paid.stripe.isOfAnother(false);
    paid.product.clock.travel(3_600_000);
    await settled(paid.product);
    expect(at.require(customer?.reference ?? '', 'customer').deleted).toBe(true);
  });

  it('of another organization neither show, change nor pay', async () => {
    const stranger = await newCustomer(paid.product);
    const [mine] = (await list()).map(({ id }) => id);
    for (const [method, body] of [['GET'], ['PATCH', { is_default: true }], ['DELETE']] as const) {
      expect((await stranger.request(method, `/dashboard/payment-methods/${mine}`, body)).status).toBe(403);
    }
    const id = await newInvoice(paid.product, stranger);
    const pay = (methodId: number | undefined) =>
      stranger.post(`/dashboard/invoices/${id}/pay`, { method: 'card', payment_method_id: methodId });
    expect((await pay(mine)).status).toBe(403);
    expect((await pay(4242)).body.code).toBe('payment_method_unknown');
    expect((await list()).map((each) => each.id)).toContain(mine);
  });

  it('are not kept for an account that was closed meanwhile, and the provider forgets them', async () => {
    const leaving = await newCustomer(paid.product);
    const { body } = await leaving.post('/dashboard/payment-methods');
    const later = await leaving.post('/dashboard/payment-methods');
    const { location } = await paid.follow(body.data.redirect_url);
    const here = await signedIn(paid.product, leaving);
    expect((await here.post('/dashboard/account/close', {})).status).toBe(200);
    await settled(paid.product);
    await paid.stripe.click(location);
    const saved = paid.stripe.events.events.findLast(({ type }) => type === 'payment_method.attached');
    const reference = String(saved?.data.object.id);
    await until(
      async () => paid.stripe.account.require(reference, 'payment_method').customer,
      (customer) => customer === null,
    );
    await settled(paid.product);
    expect(
      await sql(
        paid.product,
        'select 1 from payment_methods where organization_id = $1',
        leaving.organizationId,
      ),
    ).toEqual([]);
    expect((await paid.follow(later.body.data.redirect_url)).status).toBe(404);
    const [customer] = await sql<{ reference: string }>(
      paid.product,
      'select reference from provider_customers where organization_id = $1',
      leaving.organizationId,
    );
    expect(paid.stripe.account.require(customer?.reference ?? '', 'customer').deleted).toBe(true);
  });
});

describe('a change', () =>
  changes.leaveEntries(() => paid.product, ['changePaymentMethod', 'removePaymentMethod']));
