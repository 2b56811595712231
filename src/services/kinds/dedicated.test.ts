import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newServerProduct, newServers, serverCart } from '../../../test/rack/stock.ts';
import { settled, sql } from '../../../test/sql.ts';

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  const env = { NETWORK4: '10.81.0.0/24', MAX_RESERVED_ADDRESSES_NEW: '3' };
  product = await startTestProduct({ env });
  customer = await newCustomer(product, { creditMinor: 10_000_000 });
  // Who has paid may hold as much as the tests want.
  await payByCredit(customer, await newInvoice(product, customer));
});
afterAll(() => product.stop());

const checkout = (cart: object) => customer.post('/cart/checkout/invoice', cart);
const serverOf = async (id: number) =>
  (await product.staff.get(`/staff/servers/${id}`)).body.data.server as Record<string, unknown>;
const shown = async (id: number) => (await product.nobody.get(`/products/${id}`)).body.data.product;
const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;
const told = (id: number) =>
  sql<{ action: string }>(
    product,
    `select action from journal where subject_type = 'service' and subject_id = $1 order by id`,
    id,
  );

async function ordered(cart: object): Promise<{ invoiceId: number; serviceId: number }> {
  const { status, body } = await checkout(cart);
  expect(status, JSON.stringify(body)).toBe(200);
  return { invoiceId: body.data.invoice_id, serviceId: body.data.service_ids[0] };
}

/** A product with so many servers in stock. */
async function onSale(count: number, of: Parameters<typeof newServers>[3] = {}) {
  const productId = await newServerProduct(product);
  return { productId, ...(await newServers(product, productId, count, of)) };
}

describe('a product that is sold out of the rack', () => {
  it('has as many as there are ready servers of its profiles, and says what they are', async () => {
    const { productId, serverIds } = await onSale(2);
    await newServers(product, productId, 1, { memoryGb: 128, diskGb: 1_920, location: 'FRA' });
    await newServers(product, productId, 3, { state: 'quarantined' });
    const made = { threads: null, memory_gb: 64, storage_gb: 1_920, location: 'AMS' };
    expect(await shown(productId)).toMatchObject({
      stock: 3,
      servers: [
        { ...made, stock: 2 },
        { ...made, stock: 0 },
        { threads: null, memory_gb: 128, storage_gb: 3_840, location: 'FRA', stock: 1 },
      ],
    });
    await product.staff.post(`/staff/servers/${serverIds[0]}/quarantine`, { reason: 'a test' });
    const { body } = await product.nobody.get('/products?limit=100');
    const listed = body.data.products.find((each: { id: number }) => each.id === productId);
    expect(listed.stock).toBe(2);
  });

  it('takes its stock from its servers alone, whatever number staff gave it before', async () => {
    const productId = await newServerProduct(product, { stock: 7 });
    expect(await shown(productId)).toMatchObject({ stock: 7, servers: null });
    const { profileId } = await newServers(product, productId, 1);
    expect(await shown(productId)).toMatchObject({ stock: 1 });
    const refused = await product.staff.patch(`/staff/products/${productId}`, { stock: 5 });
    expect([refused.status, refused.body.details[0].field]).toEqual([400, 'stock']);
    await product.staff.patch(`/staff/products/${productId}`, { name: 'Whole' });
    const path = `/staff/server-profiles/${profileId}`;
    const { name } = (await product.staff.get(path)).body.data.profile;
    await product.staff.patch(path, { product_id: null, confirm: name });
    expect(await shown(productId)).toMatchObject({ stock: 7, servers: null });
  });

  it('is a dedicated product that exists', async () => {
    const { profileId } = await newServers(product, null, 1);
    const path = `/staff/server-profiles/${profileId}`;
    for (const id of [4_242, product.demo.products.vps]) {
      const { status, body } = await product.staff.patch(path, { product_id: id });
      expect([status, body.details[0].field]).toEqual([400, 'product_id']);
    }
    const productId = await newServerProduct(product, { name: 'Metal' });
    const { body } = await product.staff.patch(path, { product_id: productId });
    expect(body.data.profile).toMatchObject({ product_id: productId, product: 'Metal' });
  });
});

describe('an order', () => {
  it('holds the server with the lowest id that is what it says, and its addresses', async () => {
    const { productId, serverIds } = await onSale(2);
    const [first, second] = serverIds;
    const cart = serverCart(productId, { option4: 2, option5: 1 });
    const { serviceId, invoiceId } = await ordered(cart);
    expect(await serverOf(Number(first))).toMatchObject({ state: 'held', service_id: serviceId });
    expect(await serverOf(Number(second))).toMatchObject({ state: 'ready', service_id: null });
    expect((await shown(productId)).stock).toBe(1);
    const held = await sql(product, 'select 1 from addresses where service_id = $1', serviceId);
    expect(held).toHaveLength(3);
    await payByCredit(customer, invoiceId);
    await settled(product);
    const actions = (await told(serviceId)).map(({ action }) => action);
    expect(actions).toContain('service.delivery_wanted');
    expect(actions).not.toContain('service.staff_delivery_wanted');
    expect(await service(serviceId)).toMatchObject({ type: 'dedicated', status: 'pending' });
    const byHand = await product.staff.post(`/staff/services/${serviceId}/deliver`, {});
    expect([byHand.status, byHand.body.code]).toEqual([409, 'conflict']);
  });

  it('is quoted as it is then sold, and refused alike', async () => {
    const { productId } = await onSale(1);
    const two = { products: [...serverCart(productId).products, ...serverCart(productId).products] };
    for (const path of ['/cart/quote', '/cart/checkout/invoice']) {
      const { status, body } = await customer.post(path, two);
      expect([path, status, body.message]).toEqual([path, 400, 'Not enough stock available']);
    }
    for (const option6 of ['tiny', 'debian'])
      expect((await customer.post('/cart/quote', serverCart(productId, { option6 }))).status).toBe(200);
    expect((await shown(productId)).stock).toBe(1);
    await ordered(serverCart(productId));
    for (const path of ['/cart/quote', '/cart/checkout/invoice'])
      expect((await customer.post(path, serverCart(productId))).body.code).toBe('insufficient_stock');
  });

  it('of what no server is, in whatever state but retired, is no configuration of the product', async () => {
    const { productId } = await onSale(1);
    const { serverIds } = await newServers(product, productId, 1, {
      ...{ memoryGb: 128, diskGb: 1_920, location: 'FRA', state: 'quarantined' },
    });
    const big = { option1: 128, option2: 3_840, option8: 'FRA' };
    const answers: [Record<string, unknown>, string, string | null][] = [
      [{ option1: 65 }, 'invalid_configuration', 'products[0].options.option1'],
      [{ option2: 960 }, 'invalid_configuration', 'products[0].options.option2'],
      [{ option8: 'FRA' }, 'invalid_configuration', 'products[0].options.option8'],
      [{ option6: 'windows' }, 'invalid_configuration', 'products[0].options.option6'],
      [big, 'insufficient_stock', null],
    ];
    for (const path of ['/cart/quote', '/cart/checkout/invoice'])
      for (const [options, code, field] of answers) {
        const { status, body } = await customer.post(path, serverCart(productId, options));
        expect([status, body.code, body.details?.[0]?.field ?? null]).toEqual([400, code, field]);
      }
    const words = await customer.post('/cart/quote', serverCart(productId, { option1: 65 }));
    expect(words.body).toMatchObject({
      message: 'invalid product configuration',
      details: [{ message: 'no server of this product has 65 GB of memory; there are 64, 128' }],
    });
    await product.staff.post(`/staff/servers/${serverIds[0]}/retire`, {});
    const gone = await customer.post('/cart/quote', serverCart(productId, big));
    expect(gone.body.code).toBe('invalid_configuration');
  });

  it('whose addresses are not there holds no server', async () => {
    const { productId, serverIds } = await onSale(1, { location: 'FRA' });
    const { body } = await checkout(serverCart(productId, { option8: 'FRA' }));
    expect(body.code).toBe('insufficient_stock');
    expect(await serverOf(Number(serverIds[0]))).toMatchObject({ state: 'ready' });
    const none = await checkout(serverCart(productId, { option4: 0, option8: 'FRA' }));
    expect(none.status, JSON.stringify(none.body)).toBe(200);
  });
});

it('without an address counts as one of what unpaid orders may hold', async () => {
  const { productId } = await onSale(4);
  const stranger = await newCustomer(product);
  const cart = serverCart(productId, { option4: 0 });
  const codes: unknown[] = [];
  for (let nth = 0; nth < 4; nth += 1) {
    const { status, body } = await stranger.post('/cart/checkout/invoice', cart);
    codes.push(status === 200 ? 'sold' : body.code);
  }
  expect(codes).toEqual(['sold', 'sold', 'sold', 'too_many']);
  expect((await shown(productId)).stock).toBe(1);
});

describe('a server that was held', () => {
  const back = async (serverId: number, serviceId: number) => {
    await settled(product);
    expect(await serverOf(serverId)).toMatchObject({ state: 'ready', service_id: null });
    expect(await service(serviceId)).toMatchObject({ status: 'cancelled' });
    expect(await sql(product, 'select 1 from addresses where service_id = $1', serviceId)).toEqual([]);
  };

  it('is in stock again when nobody pays', async () => {
    const { productId, serverIds } = await onSale(1);
    const { serviceId } = await ordered(serverCart(productId));
    product.clock.travel(97 * 3_600_000);
    await product.periodic('billing.expire');
    await back(Number(serverIds[0]), serviceId);
    await ordered(serverCart(productId));
  });

  it('is in stock again when the order is cancelled', async () => {
    const { productId, serverIds } = await onSale(1);
    const { serviceId } = await ordered(serverCart(productId));
    const path = `/dashboard/services/${serviceId}/cancel`;
    expect((await customer.post(path, { type: 'immediate' })).status).toBe(200);
    await back(Number(serverIds[0]), serviceId);
  });

  it('is in stock again when the money is given back before it was begun', async () => {
    const { productId, serverIds } = await onSale(1);
    await product.staff.patch('/staff/settings', { review: { above: '1.00' } });
    const { serviceId, invoiceId } = await ordered(serverCart(productId));
    await payByCredit(customer, invoiceId);
    await settled(product);
    await product.staff.post(`/staff/invoices/${invoiceId}/refund`, {
      ...{ method: 'credit', reason: 'a test' },
    });
    await back(Number(serverIds[0]), serviceId);
    await product.staff.patch('/staff/settings', { review: { above: null } });
  });

  it('is taken out of stock by nobody meanwhile', async () => {
    const { productId, serverIds } = await onSale(1);
    await ordered(serverCart(productId));
    const aside = await product.staff.post(`/staff/servers/${serverIds[0]}/quarantine`, { reason: 'x' });
    expect([aside.status, aside.body.code]).toEqual([409, 'conflict']);
  });
});

it('what no profile is sold as staff delivers by hand, as before', async () => {
  const productId = await newServerProduct(product, { stock: 1 });
  const { serviceId, invoiceId } = await ordered(serverCart(productId));
  expect((await shown(productId)).stock).toBe(0);
  // Servers that come now are not for those who ordered before.
  await newServers(product, productId, 1);
  await payByCredit(customer, invoiceId);
  await settled(product);
  const answer = await product.staff.post(`/staff/services/${serviceId}/deliver`, {});
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect((await told(serviceId)).map(({ action }) => action)).toContain('service.staff_delivery_wanted');
  expect((await shown(productId)).stock).toBe(1);
});
