import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, newStaff, type Person, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { addDays, dayFor } from '../../platform/index.ts';

let product: TestProduct;
let customer: Person;
let hosting: number;
beforeAll(async () => {
  product = await startTestProduct();
  product.clock.set(new Date('2027-03-01T09:00:00Z'));
});
afterAll(() => product.stop());
beforeEach(async () => {
  customer = await newCustomer(product, { creditMinor: 1_000_000 });
  hosting = await newHosting(product, 1_000);
});

const today = () => product.clock.now().toISOString().slice(0, 10);
const inDays = (days: number) => addDays(today(), days);
const change = (prices: object[], id = hosting) => product.staff.patch(`/staff/products/${id}`, { prices });
const move = (body: object, id = hosting) => product.staff.post(`/staff/products/${id}/price-moves`, body);
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const quotes = async (id: number) => (await customer.get(`/dashboard/services/${id}/renew`)).body.data.cycles;
const readMove = async (id: number) =>
  (await product.staff.get(`/staff/price-moves/${id}`)).body.data.price_move;

async function ordered(cycle = 'monthly', id = hosting): Promise<number> {
  const cart = { products: [{ id, cycle, type: 'Hosting' }] };
  const { data } = (await customer.post('/cart/checkout/invoice', cart)).body;
  expect((await payByCredit(customer, data.invoice_id)).status).toBe(200);
  await settled(product);
  return data.service_ids[0];
}

async function deliver(id: number): Promise<void> {
  expect((await product.staff.post(`/staff/services/${id}/deliver`)).status).toBe(200);
}

async function delivered(cycle?: string): Promise<number> {
  const id = await ordered(cycle);
  await deliver(id);
  return id;
}

/** Its job, done by several at once and again, as by workers that stop in between; later it finds what was sent. */
async function carryOut(): Promise<void> {
  await Promise.all([1, 2, 3].map(() => product.periodic('services.priceMoves')));
  await settled(product);
  product.clock.travel(11 * 60_000);
  await product.periodic('services.priceMoves');
  await settled(product);
}

/** The product costs 12.00 and services go over to it; the move's id. */
async function moved(days = 30, price = '12.00'): Promise<number> {
  await change([{ cycle: 'monthly', price }]);
  const { status, body } = await move({ from: inDays(days) });
  expect(status, JSON.stringify(body)).toBe(200);
  await carryOut();
  return body.data.price_move.id;
}

/** Renews for one period and pays; what that cost. */
async function renew(id: number, cycle = 'monthly'): Promise<string> {
  const { body } = await customer.post(`/dashboard/services/${id}/renew`, { cycle });
  const { invoice } = (await customer.get(`/dashboard/invoices/${body.data.invoice_id}`)).body.data;
  if (invoice.status === 'unpaid') expect((await payByCredit(customer, invoice.id)).status).toBe(200);
  await settled(product);
  return invoice.subtotal;
}

/** The database came back from a backup, and staff has still to look; the restore's id. */
async function restored(): Promise<number | undefined> {
  const [restore] = await sql<{ id: number }>(
    product,
    `insert into restores (made_at, restored_at, settled_at) values ($1::timestamptz - interval '1 day', $1, $1)
     returning id::int`,
    product.clock.now(),
  );
  return restore?.id;
}

async function mails(): Promise<{ subject: string; body: string }[]> {
  return sql(
    product,
    `select subject, body from mails where recipient = $1 and template like 'service.price_change%' order by created_at, id`,
    customer.email,
  );
}

async function unchanged(send: () => ReturnType<typeof move>): Promise<Awaited<ReturnType<typeof move>>> {
  await settled(product);
  // The books are checked by themselves every few minutes.
  const all = async () => ({ ...(await contents(product)), ledger_checks: [] });
  const before = await all();
  const answer = await send();
  expect(await all()).toEqual(before);
  return answer;
}

describe('a move of prices', () => {
  it('is previewed without a trace: whom it concerns, before and after, and the first day of each', async () => {
    const ids = [await delivered(), await delivered(), await delivered('annually')];
    const ending = await delivered();
    await customer.post(`/dashboard/services/${ending}/cancel`, { type: 'end_of_period' });
    await customer.post(`/dashboard/services/${ids[1]}/renew`, { cycle: 'monthly' });
    await change([{ cycle: 'monthly', price: '12.00' }]);
    const { body } = await unchanged(() => move({ from: inDays(30), dry_run: true }));
    const { price_move, preview } = body.data;
    expect(price_move).toBe(null);
    expect(preview.totals).toEqual({
      ...{ services: 2, unchanged: 2 },
      cycles: [{ cycle: 'monthly', services: 2, price_before: '20.00', price_after: '24.00' }],
    });
    const due = (await service(ids[0] ?? 0)).duedate;
    expect(preview.services.map((each: { service: { id: number } }) => each.service.id)).toEqual(
      ids.slice(0, 2).toSorted((one, other) => one - other),
    );
    // What is invoiced already keeps its price, so that one follows a period later.
    for (const each of preview.services) {
      expect(each).toMatchObject({ cycle: 'monthly', price_before: '10.00', price_after: '12.00' });
      expect(each.organization.id).toBe(customer.organizationId);
      if (each.service.id === ids[0]) expect(each.first_on).toBe(due);
      else expect(each.first_on > due).toBe(true);
    }
    expect(preview.next_cursor).toBe(null);
  });

  it.each<[string, object, string]>([
    ['tomorrow', { from: '2027-03-02' }, 'from'],
    ['a day too early', { days: 29 }, 'from'],
    ['on a day that there is not', { from: '2027-02-30' }, 'from'],
    ['at a moment', { from: '2028-01-01T00:00:00Z' }, 'from'],
    ['on no day', {}, 'from'],
    ['with what nobody asked for', { days: 90, price: '1.00' }, 'price'],
    ['with a dry run in words', { days: 90, dry_run: 'yes' }, 'dry_run'],
  ])(
    '%s is refused with what to do, and nothing changes',
    async (_, { days, ...body }: { days?: number }, field) => {
      await delivered();
      await change([{ cycle: 'monthly', price: '12.00' }]);
      const wanted = days === undefined ? body : { from: inDays(days), ...body };
      const { status, body: said } = await unchanged(() => move(wanted));
      expect(status).toBe(400);
      expect(said.details.map((each: { field: string }) => each.field)).toContain(field);
    },
  );

  it('is for a product that there is, and for those who look after money', async () => {
    expect((await move({ from: inDays(30) }, 4_711)).status).toBe(404);
    const operator = await newStaff(product, 'operator');
    const path = `/staff/products/${hosting}/price-moves`;
    expect((await operator.post(path, { from: inDays(30) })).status).toBe(403);
  });

  it('tells each customer once at once: when, from what to what, and how to end it', async () => {
    const id = await delivered();
    const { duedate } = await service(id);
    const moveId = await moved();
    const told = await mails();
    expect(told).toHaveLength(1);
    expect(told[0]?.subject).toBe(`Space costs €12.00 from ${dayFor({ language: 'en' }, duedate)} on`);
    for (const word of [
      '€10.00',
      '€12.00',
      dayFor({ language: 'en' }, duedate),
      `/services/${id}?organization=${customer.organizationId}`,
    ])
      expect(told[0]?.body).toContain(word);
    expect((await service(id)).coming_price).toEqual({ price: '12.00', from: duedate });
    const list = (await customer.get('/dashboard/services')).body.data.services;
    expect(list[0].coming_price).toEqual({ price: '12.00', from: duedate });
    const state = { waiting: 0, told: 1, moved: 0, ended: 0, revoked: 0 };
    expect(await readMove(moveId)).toMatchObject({ state: 'announced', services: state });
    const { data } = (await product.staff.get(`/staff/price-moves/${moveId}/services?state=told`)).body;
    expect(data.services).toMatchObject([
      {
        service: { id },
        price_before: '10.00',
        price_after: '12.00',
        told_on: today(),
        counts_on: inDays(30),
      },
    ]);
    // The same move once more tells nobody anything.
    await move({ from: inDays(31) });
    await carryOut();
    expect(await mails()).toHaveLength(1);
  });

  it('tells nobody after a restore, until staff has released it: it may have been revoked since the backup', async () => {
    const id = await delivered();
    const restore = await restored();
    const before = (await mails()).length;
    await moved(40, '13.00');
    expect(await mails()).toHaveLength(before);
    // Nor whoever takes a cancellation back meanwhile.
    expect((await customer.post(`/dashboard/services/${id}/cancel`, { type: 'end_of_period' })).status).toBe(
      200,
    );
    expect((await customer.delete(`/dashboard/services/${id}/cancel`)).status).toBe(200);
    await settled(product);
    expect(await mails()).toHaveLength(before);
    expect((await product.staff.post(`/staff/restores/${restore}/release`, {})).status).toBe(200);
    await carryOut();
    expect(await mails()).toHaveLength(before + 1);
  });

  it('counts from the first renewal on its day or later, never in a paid period', async () => {
    const id = await delivered();
    await renew(id);
    const paidUntil = (await service(id)).duedate;
    const moveId = await moved(40);
    // Forty days from now lie inside what is paid for.
    expect(inDays(40) < paidUntil).toBe(true);
    expect(await service(id)).toMatchObject({
      price: '10.00',
      coming_price: { price: '12.00', from: paidUntil },
    });
    expect(await renew(id)).toBe('12.00');
    expect(await service(id)).toMatchObject({ price: '12.00', coming_price: null });
    expect(await readMove(moveId)).toMatchObject({ state: 'done', services: { told: 0, moved: 1 } });
    expect(await renew(id)).toBe('12.00');
  });

  it('shows in quotes what each cycle costs from then on', async () => {
    const id = await delivered();
    await change([{ cycle: 'annually', price: '130.00' }]);
    await moved(60);
    expect(await quotes(id)).toMatchObject([
      { cycle: 'monthly', price: '10.00', coming_price: '12.00' },
      { cycle: 'annually', price: '130.00', coming_price: '130.00' },
    ]);
    expect(await renew(id)).toBe('10.00');
    expect(await quotes(id)).toMatchObject([{ price: '12.00', coming_price: null }, {}]);
  });

  it('leaves an invoice its price that was open before its customer was told', async () => {
    const id = await delivered();
    const { body } = await customer.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' });
    await moved(30);
    expect(await renew(id)).toBe('10.00');
    const { invoice } = (await customer.get(`/dashboard/invoices/${body.data.invoice_id}`)).body.data;
    expect(invoice).toMatchObject({ status: 'paid', subtotal: '10.00' });
    expect(await renew(id)).toBe('12.00');
  });

  it('is in the invoices that the calendar issues', async () => {
    const id = await delivered();
    await moved(30);
    const { duedate } = await service(id);
    product.clock.set(new Date(`${addDays(duedate, -15)}T10:00:00Z`));
    const { steps } = (await product.staff.get('/staff/settings/preview')).body.data;
    expect(
      steps.filter((each: { step: string; service: { id: number } }) => each.service.id === id)[0],
    ).toMatchObject({ on: addDays(duedate, -14), step: 'invoice', service: { price: '12.00' } });
    const invoices = async (on: string) => {
      product.clock.set(new Date(`${on}T10:00:00Z`));
      await product.periodic('services.calendar');
      await settled(product);
      return sql(
        product,
        `select i.subtotal_minor as minor from invoices i join service_renewals r on r.invoice_id = i.id
         where r.service_id = $1 order by i.id`,
        id,
      );
    };
    // The move may have been revoked since the backup that a database was restored from.
    const restore = await restored();
    expect(await invoices(addDays(duedate, -13))).toEqual([]);
    expect((await product.staff.post(`/staff/restores/${restore}/release`, {})).status).toBe(200);
    expect(await invoices(addDays(duedate, -12))).toEqual([{ minor: 1_200 }]);
    // Nor one in the place of another, whichever step would issue it.
    const stepIs = async (step: string) =>
      (await sql(product, 'select from service_calendar where service_id = $1 and step = $2', id, step))
        .length > 0;
    let day = -12;
    for (; !(await stepIs('overdue')) && day < 10; day += 1)
      expect(await invoices(addDays(duedate, day))).toHaveLength(1);
    expect(await stepIs('overdue')).toBe(true);
    const unpaid = () =>
      sql<{ id: string; minor: number }>(
        product,
        `select id::text, subtotal_minor as minor from invoices
         where organization_id = $1 and kind = 'renewal' and status = 'unpaid'`,
        customer.organizationId,
      );
    const [open] = await unpaid();
    const cancelled = await product.staff.post(`/staff/invoices/${open?.id}/cancel`, { reason: 'asked for' });
    expect(cancelled.status).toBe(200);
    const again = await restored();
    for (; day <= 13; day += 1) {
      await invoices(addDays(duedate, day));
      expect(await unpaid()).toEqual([]);
    }
    expect((await product.staff.post(`/staff/restores/${again}/release`, {})).status).toBe(200);
    await invoices(addDays(duedate, day));
    expect(await stepIs('last_reminder')).toBe(true);
    expect(await unpaid()).toMatchObject([{ minor: 1_200 }]);
  });

  it('waits for a customer whose mail was not sent, and then for the days of notice', async () => {
    const id = await delivered();
    const { duedate } = await service(id);
    await change([{ cycle: 'monthly', price: '12.00' }]);
    const { data } = (await move({ from: duedate })).body;
    // As while the mail server is away: written, and not sent.
    await product.periodic('services.priceMoves');
    await settled(product);
    await sql(
      product,
      `update mails set state = 'queued', sent_at = null where recipient = $1`,
      customer.email,
    );
    await carryOut();
    expect((await readMove(data.price_move.id)).services).toMatchObject({ waiting: 1, told: 0 });
    product.clock.set(new Date(`${addDays(duedate, -3)}T10:00:00Z`));
    await sql(
      product,
      `update mails set state = 'sent', sent_at = $2 where recipient = $1`,
      ...[customer.email, product.clock.now()],
    );
    await carryOut();
    expect((await readMove(data.price_move.id)).services).toMatchObject({ waiting: 0, told: 1 });
    // Three days before is too late for this period, and early enough for the next one.
    expect(await renew(id)).toBe('10.00');
    expect(await renew(id)).toBe('12.00');
  });

  it('reaches what was ordered before and delivered after, and leaves out what was ordered after', async () => {
    const early = await ordered();
    await moved(45);
    expect(await mails()).toHaveLength(0);
    const late = await delivered();
    expect(await service(late)).toMatchObject({ price: '12.00', coming_price: null });
    await deliver(early);
    product.clock.travel(2 * 3_600_000);
    await carryOut();
    expect(await mails()).toHaveLength(1);
    expect((await service(early)).coming_price).toMatchObject({ price: '12.00' });
  });

  it('tells nobody whose service ends, unless it goes on after all', async () => {
    const id = await delivered();
    await customer.post(`/dashboard/services/${id}/cancel`, { type: 'end_of_period' });
    await moved(40);
    expect(await mails()).toHaveLength(0);
    expect((await service(id)).coming_price).toBe(null);
    await customer.delete(`/dashboard/services/${id}/cancel`);
    product.clock.travel(25 * 3_600_000);
    await carryOut();
    expect(await mails()).toHaveLength(1);
    expect((await service(id)).coming_price).toMatchObject({ price: '12.00' });
  });

  it('reaches who takes a cancellation back for a minute each month to renew', async () => {
    const id = await delivered();
    const cancel = () => customer.post(`/dashboard/services/${id}/cancel`, { type: 'end_of_period' });
    await cancel();
    await moved(40);
    const costs: string[] = [];
    for (let month = 0; month < 3; month += 1) {
      const { duedate } = await service(id);
      product.clock.set(new Date(`${addDays(duedate, -1)}T10:00:00Z`));
      expect((await customer.delete(`/dashboard/services/${id}/cancel`)).status).toBe(200);
      costs.push(await renew(id));
      expect((await cancel()).status).toBe(200);
      await carryOut();
    }
    expect(costs).toEqual(['10.00', '12.00', '12.00']);
    expect(await mails()).toHaveLength(1);
  });

  it('sells nothing at the old price that begins after it may count, until its customer was told', async () => {
    const id = await delivered();
    const cancel = () => customer.post(`/dashboard/services/${id}/cancel`, { type: 'end_of_period' });
    await cancel();
    await moved(40);
    await customer.delete(`/dashboard/services/${id}/cancel`);
    const renewed = async () =>
      (await customer.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' })).status === 200
        ? renew(id)
        : null;
    const costs: (string | null)[] = [];
    for (let ahead = 0; ahead < 2; ahead += 1) costs.push(await renewed());
    expect(costs).toEqual(['10.00', null]);
    expect(await quotes(id)).toEqual([]);
    const { status, body } = await customer.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' });
    expect([status, body.code]).toEqual([409, 'conflict']);
    await carryOut();
    expect(await renew(id)).toBe('12.00');
  });

  it('is over for a service that ends or becomes another product', async () => {
    const other = await newHosting(product, 2_000, { name: 'Other' });
    const [ends, becomes] = [await delivered(), await delivered()];
    const moveId = await moved(60);
    await product.staff.post(`/staff/services/${ends}/terminate`, { reason: 'test' });
    const { body } = await customer.post(`/dashboard/services/${becomes}/upgrade`, { product_id: other });
    expect((await payByCredit(customer, body.data.invoice_id)).status).toBe(200);
    await settled(product);
    expect(await service(becomes)).toMatchObject({ price: '20.00', coming_price: null });
    expect(await readMove(moveId)).toMatchObject({ state: 'done', services: { ended: 2, told: 0 } });
  });

  it('follows a VPS that grows meanwhile: what was added keeps the price that it was sold at', async () => {
    const vps = product.demo.products.vps;
    const { serviceId: id } = await runningVps(product, customer, { option1: 2 });
    const units = (price: string) =>
      product.staff.patch(`/staff/products/${vps}`, { options: [{ key: 'option1', unit_price: price }] });
    // 4.00 and a GB for 2.00 cost 6.00; the GB is to cost 3.00.
    expect((await service(id)).price).toBe('6.00');
    await units('3.00');
    expect((await move({ from: inDays(60) }, vps)).status).toBe(200);
    await carryOut();
    expect((await service(id)).coming_price).toMatchObject({ price: '7.00' });
    await units('5.00');
    const grown = await customer.post(`/dashboard/services/${id}/upgrade-vps`, { option1: 3 });
    expect((await payByCredit(customer, grown.body.data.invoice_id)).status).toBe(200);
    await settled(product);
    expect(await service(id)).toMatchObject({ price: '11.00', coming_price: { price: '12.00' } });
    await customer.post(`/dashboard/services/${id}/upgrade-vps`, { option1: 2 });
    await settled(product);
    expect(await service(id)).toMatchObject({ price: '6.00', coming_price: { price: '7.00' } });
    await units('2.00');
  });

  it('is followed by another one before it counts for all: the one decided last', async () => {
    const id = await delivered();
    const first = await moved(30);
    const second = await moved(60, '15.00');
    expect(await mails()).toHaveLength(2);
    expect((await mails())[1]?.body).toContain('€12.00');
    expect((await service(id)).coming_price.price).toBe('12.00');
    expect(await renew(id)).toBe('12.00');
    expect((await service(id)).coming_price.price).toBe('15.00');
    expect(await renew(id)).toBe('15.00');
    expect([(await readMove(first)).state, (await readMove(second)).state]).toEqual(['done', 'done']);
  });
});

describe('a move that is revoked', () => {
  const revoke = (id: number) => product.staff.post(`/staff/price-moves/${id}/revoke`);

  it('leaves services their price, tells who was told, and replaces open invoices at the new one', async () => {
    const [id, paid] = [await delivered(), await delivered()];
    const moveId = await moved(30);
    expect(await renew(paid)).toBe('12.00');
    const { body } = await customer.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' });
    expect((await revoke(moveId)).body.data.price_move).toMatchObject({ state: 'revoked' });
    // From this moment on, also before the job has come by.
    expect((await service(id)).coming_price).toBe(null);
    await carryOut();
    const { invoice } = (await customer.get(`/dashboard/invoices/${body.data.invoice_id}`)).body.data;
    expect(invoice).toMatchObject({ status: 'cancelled', subtotal: '12.00' });
    expect((await mails()).map(({ subject }) => subject)).toContain('Space keeps its price');
    expect(await mails()).toHaveLength(3);
    expect(await renew(id)).toBe('10.00');
    // Who has paid it pays it.
    expect(await service(paid)).toMatchObject({ price: '12.00' });
    expect((await readMove(moveId)).services).toMatchObject({ moved: 1, revoked: 1, told: 0 });
    expect((await unchanged(() => revoke(moveId))).status).toBe(409);
  });

  it('that counts for all is refused with what to do instead', async () => {
    const id = await delivered();
    const moveId = await moved(30);
    await renew(id);
    const { status, body } = await unchanged(() => revoke(moveId));
    expect([status, body.code]).toEqual([409, 'conflict']);
    expect(body.message).toContain('change the price of the product');
    expect((await revoke(4_711)).status).toBe(404);
  });

  it('at the moment of a payment either counts or does not', async () => {
    const id = await delivered();
    const moveId = await moved(30);
    const { body } = await customer.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' });
    await Promise.all([
      payByCredit(customer, body.data.invoice_id),
      revoke(moveId).then(() => product.periodic('services.priceMoves')),
    ]);
    await carryOut();
    const { invoice } = (await customer.get(`/dashboard/invoices/${body.data.invoice_id}`)).body.data;
    const { price } = await service(id);
    expect([
      ['paid', '12.00'],
      ['cancelled', '10.00'],
    ]).toContainEqual([invoice.status, price]);
  });
});

describe('a new price that was announced', () => {
  it('goes along, as does what a coupon takes off each renewal, when the service moves to another organization', async () => {
    const code = `MOVES${customer.organizationId}`;
    expect((await product.staff.post('/staff/coupons', { code, percent: 50, recurring: true })).status).toBe(
      200,
    );
    const cart = { products: [{ id: hosting, cycle: 'monthly', type: 'Hosting' }], couponcode: code };
    const { data } = (await customer.post('/cart/checkout/invoice', cart)).body;
    expect((await payByCredit(customer, data.invoice_id)).status).toBe(200);
    await settled(product);
    const id: number = data.service_ids[0];
    await deliver(id);
    await moved(30);
    const before = await service(id);
    expect(before.coming_price).toMatchObject({ price: '12.00' });
    const other = await newCustomer(product, { creditMinor: 10_000 });
    await sql(
      product,
      `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'admin', now())`,
      ...[other.organizationId, customer.userId],
    );
    const here = await signedIn(product, customer);
    const wish = { organization_id: other.organizationId };
    const answer = await here.post(`/dashboard/services/${id}/move`, wish);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    await settled(product);
    const after = (await other.get(`/dashboard/services/${id}`)).body.data.service;
    expect(after).toMatchObject({ price: before.price, coming_price: before.coming_price });
    const [mail] = await sql<{ body: string }>(
      product,
      `select body from mails where recipient = $1 and template = 'service.moved_in'`,
      other.email,
    );
    expect(mail?.body).toContain('12.00');
    const renewal = await other.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' });
    const { invoice } = (await other.get(`/dashboard/invoices/${renewal.body.data.invoice_id}`)).body.data;
    expect(Number(invoice.discount)).toBe(Number(invoice.subtotal) / 2);
  });
});
