import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newServerProduct, newServers, serverCart, serverProductOptions } from '../../../test/rack/stock.ts';

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  const env = { NETWORK4: '10.82.0.0/24', MAX_RESERVED_ADDRESSES_NEW: '3' };
  product = await startTestProduct({ env });
  customer = await newCustomer(product, { creditMinor: 10_000_000 });
  // Who has paid may hold as much as the tests want.
  await payByCredit(customer, await newInvoice(product, customer));
});
afterAll(() => product.stop());

const speeds = ['1gbit', '1000mbit', '10gbit', '25gbit'];
const options = serverProductOptions.map((option) =>
  option.key === 'option7' ? { ...option, values: speeds.map((value) => ({ value, label: value })) } : option,
);
const order = async (productId: number, option7: string, path = '/cart/checkout/invoice') => {
  const { status, body } = await customer.post(path, serverCart(productId, { option7 }));
  return { status, code: body.code, message: body.message, details: body.details, data: body.data };
};
const serverOf = async (id: number | undefined) =>
  (await product.staff.get(`/staff/servers/${id}`)).body.data.server;

it('chooses nothing where no profile of the product says one', async () => {
  const productId = await newServerProduct(product, { options });
  const { serverIds } = await newServers(product, productId, 2);
  for (const speed of ['25gbit', '1gbit']) expect((await order(productId, speed)).status).toBe(200);
  for (const id of serverIds) expect((await serverOf(id)).state).toBe('held');
});

it('chooses among the profiles that say one, by what it comes to', async () => {
  const productId = await newServerProduct(product, { options });
  const slow = await newServers(product, productId, 1, { portMbps: 1_000 });
  const fast = await newServers(product, productId, 1, { portMbps: 10_000 });
  // Nobody knows what it can do.
  const unknown = await newServers(product, productId, 1);
  const { servers } = (await product.nobody.get(`/products/${productId}`)).body.data.product;
  expect(servers.map(({ port_mbps: mbps }: { port_mbps: number }) => mbps)).toEqual([1_000, 10_000, null]);

  for (const path of ['/cart/quote', '/cart/checkout/invoice']) {
    const refused = await order(productId, '25gbit', path);
    expect([refused.status, refused.code, refused.details[0]?.field]).toEqual([
      ...[400, 'invalid_configuration', 'products[0].options.option7'],
    ]);
    expect(refused.details[0].message).toBe(
      'no server of this product has 25000 Mbit/s at its port; there are 1000, 10000',
    );
  }
  expect((await order(productId, '10gbit')).status).toBe(200);
  expect((await serverOf(fast.serverIds[0])).state).toBe('held');
  for (const path of ['/cart/quote', '/cart/checkout/invoice'])
    expect(await order(productId, '10gbit', path)).toMatchObject({
      ...{ status: 400, message: 'Not enough stock available' },
    });
  expect((await serverOf(slow.serverIds[0])).state).toBe('ready');
  expect((await order(productId, '1000mbit')).status).toBe(200);
  expect((await serverOf(slow.serverIds[0])).state).toBe('held');
  expect((await serverOf(unknown.serverIds[0])).state).toBe('ready');
});

it('that nobody can order is refused of a profile, and of a product once a profile says one', async () => {
  const productId = await newServerProduct(product, { options });
  const { profileId } = await newServers(product, productId, 1);
  const path = `/staff/server-profiles/${profileId}`;
  const refused = await product.staff.patch(path, { port_mbps: 2_500 });
  expect([refused.status, refused.body.details[0]]).toEqual([
    400,
    { field: 'product_id', message: expect.stringContaining('a port of 2500 Mbit/s by option7') },
  ]);
  const { name } = (await product.staff.get(path)).body.data.profile;
  expect((await product.staff.patch(path, { port_mbps: 10_000, confirm: name })).status).toBe(200);
  // None was measured, so there is none of it.
  expect((await product.staff.get(path)).body.data.profile).toMatchObject({ servers: 0, port_mbps: 10_000 });
  await newServers(product, productId, 1);
  const changed = await product.staff.patch(`/staff/products/${productId}`, { name: 'Another' });
  expect([changed.status, changed.body.details?.[0]?.message]).toEqual([
    400,
    expect.stringContaining('does not say how fast its port is'),
  ]);
});
