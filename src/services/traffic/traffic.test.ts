import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newMeteredSwitch, rentedServer } from '../../../test/rack/metered.ts';
import { newServerProduct } from '../../../test/rack/stock.ts';
import { settled, sql } from '../../../test/sql.ts';
import { openSwitches, simulatedSwitches } from '../../drivers/switch/index.ts';

const hour = 3_600_000;
const switches = simulatedSwitches();
const open = openSwitches(switches);
let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct({
    startsAt: new Date('2027-03-10T12:00:30Z'),
    env: { HYPERVISOR: 'simulator', NETWORK4: '10.84.0.0/24' },
    drivers: { switch: (connection) => open({ ...connection, kind: 'simulated' }) },
  });
  customer = await newCustomer(product, { creditMinor: 100_000_000 });
});
afterAll(() => product.stop());

const tb = 1_000_000_000_000n;
const total = { billing: 'total', included: 1, price: '2.00' };

/** A server that is paid for three months from the tenth of March, at a port that was read. */
async function metered(traffic: object | null = total) {
  product.clock.set(new Date('2027-03-10T12:00:30Z'));
  const prices = [
    { cycle: 'monthly', price: '50.00' },
    { cycle: 'quarterly', price: '150.00' },
  ];
  const productId = await newServerProduct(product, { traffic, prices });
  const at = await newMeteredSwitch(product, switches, ['eth1']);
  const server = await rentedServer(product, customer, productId, 'quarterly');
  await at.plug('eth1', server.macs[0]);
  await at.readAfter(300_000);
  return { at, productId, ...server };
}

type Metered = Awaited<ReturnType<typeof metered>>;
/** So much is sent within an hour. */
async function carry({ at }: Metered, bytes: bigint) {
  at.carry('eth1', bytes, 0n);
  await at.readAfter(hour);
}
async function settleOn(moment: string) {
  product.clock.set(new Date(moment));
  await product.periodic('services.settleTraffic');
}
async function renew({ id }: Metered, cycle = 'quarterly') {
  const { status, body } = await customer.post(`/dashboard/services/${id}/renew`, { cycle });
  expect(status, JSON.stringify(body)).toBe(200);
  return invoiceOf(body.data.invoice_id);
}
async function invoiceOf(id: number) {
  return (await customer.get(`/dashboard/invoices/${id}`)).body.data.invoice;
}
const trafficOn = ({ items }: { items: { description: string }[] }) =>
  items.filter(({ description }) => /traffic|percentile/.test(description));
const told = ({ id }: Metered) =>
  sql<{ data: Record<string, unknown> }>(
    product,
    `select data from journal where action = 'service.traffic_used' and subject_id = $1 order by id`,
    String(id),
  );

describe('traffic beyond what a month includes', () => {
  it('is a line of the next invoice, once', async () => {
    const server = await metered();
    await carry(server, 3n * tb);
    // A month is settled a day after its end, and its last hours may still come until then.
    await settleOn('2027-04-01T23:00:00Z');
    expect(trafficOn(await renew(server))).toEqual([]);
    await settleOn('2027-04-02T01:00:00Z');
    await product.periodic('services.settleTraffic');
    // One that is open asks for what it asked for.
    expect(trafficOn(await renew(server))).toEqual([]);
    const first = await renew(server, 'monthly');
    // 22 of 31 days include 0.7096… TB; 2.2903… are beyond, of which each GB that began to count costs 0.002.
    const line = { quantity: '2.29', unit_price: '2.00', price: '4.58' };
    expect(trafficOn(first)).toMatchObject([line]);
    expect(first.items).toHaveLength(2);

    // Of an invoice that was cancelled it goes to the one in its place, and never to two.
    const second = await renew(server);
    expect((await invoiceOf(first.id)).status).toBe('cancelled');
    expect(second.items).toHaveLength(2);
    expect(trafficOn(second)).toMatchObject([line]);
    expect((await renew(server)).id).toBe(second.id);
    await payByCredit(customer, second.id);
    await settled(product);
    expect(trafficOn(await renew(server))).toEqual([]);
  });

  it('of months that were never asked for stands on one invoice, a line each', async () => {
    const server = await metered();
    await carry(server, 2n * tb);
    product.clock.set(new Date('2027-04-20T00:00:00Z'));
    await server.at.readAfter(hour);
    await carry(server, 3n * tb);
    await settleOn('2027-05-03T00:00:00Z');
    const lines = trafficOn(await renew(server));
    expect(lines).toMatchObject([
      { description: expect.stringContaining('2027-03'), quantity: '1.29', price: '2.58' },
      { description: expect.stringContaining('2027-04'), quantity: '2', price: '4.00' },
    ]);
  });

  it('of a service that ends is asked for by a last invoice, this month by its days', async () => {
    const server = await metered();
    await carry(server, 3n * tb);
    product.clock.set(new Date('2027-03-12T00:00:00Z'));
    const ended = await product.staff.post(`/staff/services/${server.id}/terminate`, {
      reason: 'For a test',
    });
    expect(ended.status, JSON.stringify(ended.body)).toBe(200);
    await settled(product);
    const invoices = await sql<{ id: number }>(
      product,
      'select i.id from service_traffic t join invoices i on i.id = t.invoice_id where t.service_id = $1',
      server.id,
    );
    expect(invoices).toHaveLength(1);
    const last = await invoiceOf(Number(invoices[0]?.id));
    // Three days of 31 include 0.0967… TB.
    expect(trafficOn(last)).toMatchObject([{ quantity: '2.903', price: '5.81' }]);
    expect(last).toMatchObject({ status: 'unpaid', subtotal: '5.81' });
  });

  it('of a service that ends has included what was paid for and not given back', async () => {
    const server = await metered();
    await payOrder(server);
    await carry(server, 3n * tb);
    product.clock.set(new Date('2027-03-12T00:00:00Z'));
    await end(server);
    const [last = 0] = await onInvoices(server);
    // To the end of March, as if it had gone on.
    expect(trafficOn(await invoiceOf(last))).toMatchObject([{ quantity: '2.29', price: '4.58' }]);
  });

  it('by the 95th percentile is that of the greater direction', async () => {
    const server = await metered({ billing: 'percentile95', included: 100, price: '1.00' });
    // 800 Mbit/s for twenty hours.
    server.at.carry('eth1', 7_200_000_000_000n, 720_000_000_000n);
    await server.at.readAfter(20 * hour);
    await settleOn('2027-04-02T01:00:00Z');
    const [line] = trafficOn(await renew(server)) as unknown as { quantity: string; price: string }[];
    expect(Number(line?.quantity)).toBeCloseTo((700 * 22) / 31, 0);
    expect(Number(line?.price)).toBeCloseTo((700 * 22) / 31, 0);
  });

  it('of which nobody knows the 95th percentile is told to staff for a month, and asked for by nobody', async () => {
    const server = await metered({ billing: 'percentile95', included: 100, price: '1.00' });
    server.at.carry('eth1', 3n * tb, 0n);
    await server.at.readAfter(72 * hour);
    await settleOn('2027-04-02T01:00:00Z');
    const told = async () =>
      (await product.staff.get('/staff/attention')).body.data.concerns.filter(
        ({ kind, subject }: { kind: string; subject: { id: number } }) =>
          kind === 'service.traffic_unknown' && subject.id === server.id,
      );
    expect(await told()).toMatchObject([{ message: expect.stringContaining('2027-03') }]);
    expect((await told())[0].message).toContain('until 2027-05-02');
    expect(await sql(product, `select 1 from set_aside where job = 'services.settleTraffic'`)).toEqual([]);
    // Nobody tries it again.
    const open = 'select 1 from server_traffic_months where service_id = $1 and settled_at is null';
    expect(await sql(product, open, server.id)).toEqual([]);
    expect(trafficOn(await renew(server))).toEqual([]);
    product.clock.set(new Date('2027-05-03T00:00:00Z'));
    expect(await told()).toEqual([]);
  });

  it('of a service whose renewal is further away than a month is asked for in the month after, by an invoice of its own', async () => {
    const bill = () => product.periodic('services.billTraffic');
    const server = await metered();
    await carry(server, 3n * tb);
    await settleOn('2027-04-02T01:00:00Z');
    // After a restore it may have been asked for already.
    await sql(
      product,
      'insert into restores (made_at, restored_at, settled_at) values ($1, $1, $1)',
      product.clock.now(),
    );
    await bill();
    expect(await onInvoices(server)).toEqual([0]);
    await sql(product, 'delete from restores');
    await bill();
    await bill();
    const [first = 0] = await onInvoices(server);
    const own = await invoiceOf(first);
    expect(own).toMatchObject({ status: 'unpaid', subtotal: '4.58', items: [{ quantity: '2.29' }] });
    expect(trafficOn(await renew(server))).toEqual([]);

    // Paid until the tenth of June: the renewal is asked for two weeks before, and asks for what was used in April.
    product.clock.set(new Date('2027-04-20T00:00:00Z'));
    await server.at.readAfter(hour);
    await carry(server, 3n * tb);
    await settleOn('2027-05-03T00:00:00Z');
    await bill();
    expect(await onInvoices(server)).toEqual([first, 0]);
    expect(trafficOn(await renew(server, 'monthly'))).toMatchObject([{ price: '4.00' }]);
  });

  it('is billed as it was sold: neither what was sold without terms, nor by terms of later', async () => {
    const server = await metered(null);
    const change = { traffic: total };
    await product.staff.patch(`/staff/products/${server.productId}`, change);
    await carry(server, 3n * tb);
    await settleOn('2027-04-02T01:00:00Z');
    expect(trafficOn(await renew(server))).toEqual([]);
    // Nobody looks at it again.
    const open = 'select 1 from server_traffic_months where service_id = $1 and settled_at is null';
    expect(await sql(product, open, server.id)).toEqual([]);
  });
});

/** Money of a transfer for an invoice; answers how to take it back. */
async function transferTo(invoiceId: number, amount: string) {
  const path = `/staff/organizations/${customer.organizationId}/transfers`;
  const money = {
    amount,
    currency: 'EUR',
    reference: `T-${invoiceId}`,
    invoices: [{ invoice_id: invoiceId }],
  };
  const { status, body } = await product.staff.post(path, money);
  expect(status, JSON.stringify(body)).toBe(200);
  await settled(product);
  return async () => {
    const back = await product.staff.post(`/staff/transfers/${body.data.transfer.id}/take-back`, {
      reason: 'a slip',
    });
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    await settled(product);
  };
}
async function withTraffic() {
  const server = await metered();
  await carry(server, 3n * tb);
  await settleOn('2027-04-02T01:00:00Z');
  return server;
}
async function payOrder({ id }: Metered) {
  const [order] = await sql<{ id: number }>(
    product,
    'select invoice_id::int8 as id from service_periods where service_id = $1',
    id,
  );
  await payByCredit(customer, Number(order?.id));
}
async function end({ id }: Metered) {
  const { status, body } = await product.staff.post(`/staff/services/${id}/terminate`, {
    reason: 'For a test',
  });
  expect(status, JSON.stringify(body)).toBe(200);
  await settled(product);
}
const onInvoices = async ({ id }: Metered) =>
  (
    await sql<{ id: number }>(
      product,
      'select invoice_id::int8 as id from service_traffic where service_id = $1 order by month',
      id,
    )
  ).map(({ id: invoiceId }) => Number(invoiceId));

describe('traffic on an invoice', () => {
  it.each([
    ['all', (total: string) => total],
    ['a part', () => '10.00'],
  ])('of which %s was paid by what is taken back is asked for by the next', async (_what, amountOf) => {
    const server = await withTraffic();
    const first = await renew(server);
    expect(trafficOn(first)).toHaveLength(1);
    const takeBack = await transferTo(first.id, amountOf(first.total));
    if ((await invoiceOf(first.id)).status === 'unpaid') await payByCredit(customer, first.id);
    await settled(product);
    await takeBack();
    expect((await invoiceOf(first.id)).status).toBe('refunded');
    const second = await renew(server);
    expect(second.items).toMatchObject([{ description: first.items[0].description }, trafficOn(first)[0]]);
  });

  it('that staff gives back, or cancels, is waived', async () => {
    const server = await withTraffic();
    const first = await renew(server);
    await product.staff.post(`/staff/invoices/${first.id}/cancel`, { reason: 'As agreed' });
    await settled(product);
    expect(trafficOn(first)).toHaveLength(1);
    expect(trafficOn(await renew(server))).toEqual([]);

    const other = await withTraffic();
    const paid = await renew(other);
    await payByCredit(customer, paid.id);
    await settled(product);
    const refund = { method: 'credit', reason: 'As agreed' };
    expect((await product.staff.post(`/staff/invoices/${paid.id}/refund`, refund)).status).toBe(200);
    await settled(product);
    expect(trafficOn(await renew(other))).toEqual([]);
  });

  it('is billed before its service is another organization’s', async () => {
    const server = await withTraffic();
    await payOrder(server);
    const other = await newCustomer(product);
    await sql(
      product,
      `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'owner', now())`,
      ...[other.organizationId, customer.userId],
    );
    const here = await signedIn(product, customer);
    const move = () =>
      here.post(`/dashboard/services/${server.id}/move`, { organization_id: other.organizationId });
    const refused = await move();
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain('traffic of 2027-03');
    await payByCredit(customer, (await renew(server)).id);
    await settled(product);
    expect(JSON.stringify((await move()).body)).not.toContain('traffic');
  });

  it('of a service that has ended is asked for again where what paid the last one is taken back', async () => {
    const server = await withTraffic();
    await end(server);
    const [first = 0] = await onInvoices(server);
    const takeBack = await transferTo(first, (await invoiceOf(first)).total);
    await takeBack();
    const [second = 0] = await onInvoices(server);
    expect(second).not.toBe(first);
    expect(trafficOn(await invoiceOf(second))).toMatchObject(trafficOn(await invoiceOf(first)));
    expect((await invoiceOf(second)).status).toBe('unpaid');
  });

  it('is not given back with the period where its service ended before that began', async () => {
    const server = await withTraffic();
    const { id, items, total } = await renew(server);
    await sql(
      product,
      `update services set status = 'terminated', terminated_at = $2 where id = $1`,
      server.id,
      product.clock.now(),
    );
    await payByCredit(customer, id);
    await settled(product);
    const { status, refunded } = await invoiceOf(id);
    expect(status).toBe('partially_refunded');
    const share = Number(items[0].price) / (Number(items[0].price) + Number(items[1].price));
    expect(Number(refunded)).toBeCloseTo(Number(total) * share, 1);
  });
});

describe('who nears what a month includes', () => {
  it('is told at four fifths and when all is used, each once', async () => {
    const server = await metered({ ...total, included: 4 });
    await carry(server, 2n * tb);
    const look = () => product.periodic('services.tellOfTraffic');
    await look();
    expect(await told(server)).toEqual([]);
    await carry(server, tb / 2n);
    await look();
    await look();
    expect(await told(server)).toMatchObject([{ data: { percent: 80, used: 2.5, included: 2.839 } }]);
    await carry(server, tb);
    await look();
    await look();
    expect((await told(server)).map(({ data }) => data.percent)).toEqual([80, 100]);
    const { limit_gb: limit } = (await customer.get(`${server.path}/overview`)).body.data.dedicated.traffic;
    expect(limit).toBeCloseTo((4_000 * 22) / 31, 6);
  });
});

describe('terms of a product', () => {
  it('are shown to customers with it, and beside the month of a server', async () => {
    const server = await metered({ billing: 'percentile95', included: 100, price: '1.50', direction: 'out' });
    const terms = {
      billing: 'percentile95',
      included: 100,
      price: '1.50',
      currency: 'EUR',
      direction: 'out',
    };
    const shown = await customer.get(`/products/${server.productId}`);
    expect(shown.body.data.product.traffic).toEqual(terms);
    const { body } = await customer.get(`${server.path}/bandwidth/summary`);
    expect(body.data).toMatchObject({ terms, monthlyLimitTB: null });
  });

  it.each([
    ['of what is no server', { moduleId: 1, traffic: total }, 'traffic'],
    ['with a direction of all traffic', { traffic: { ...total, direction: 'out' } }, 'traffic.direction'],
    ['at a price that is none', { traffic: { ...total, price: '1.005' } }, 'traffic.price'],
    ['with a part of a TB', { traffic: { ...total, included: 0.5 } }, 'traffic.included'],
  ])('are refused %s', async (_what, change, field) => {
    await expect(newServerProduct(product, change)).rejects.toThrow(`"${field}"`);
  });
});
