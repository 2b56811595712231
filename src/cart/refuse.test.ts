import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vpsCart, vpsOptions } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { contents, settled, settledContents, sql } from '../../test/sql.ts';

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product);
  await settled(product);
});
afterAll(() => product.stop());

type Cart = Record<string, unknown> & { products: Record<string, unknown>[] };

/** A cart with one VPS, its item changed; `undefined` takes a field away. */
function cartWith(item: Record<string, unknown>, cart: Record<string, unknown> = {}): Cart {
  const [vps] = vpsCart(product.demo).products;
  return { products: [{ ...vps, ...item }], ...cart };
}

function withOptions(change: Record<string, unknown>): Cart {
  return cartWith({ options: vpsOptions(change) });
}

const missing = [400, 'missing_fields', 'missing fields'] as const;
const notFound = [400, 'product_not_orderable', 'product not found'] as const;
const configuration = [400, 'invalid_configuration', 'invalid product configuration'] as const;
const domain = [400, 'invalid_domain', 'invalid domain'] as const;
const weak = [
  ...[400, 'weak_password', 'VPS Server is configured with a weak password, please check your cart'],
] as const;
const shape = [400, 'invalid_request', 'The request is not valid; see details'] as const;

type Face = readonly (number | string)[];
type Case = [what: string, cart: () => unknown, face: Face, field?: string];

// Specification §2.1, §4.1, §7; contract §1 (400 or 404 for products) and §2 (order of checks).
const cases: Case[] = [
  ['a body without products', () => ({}), missing, 'products'],
  ['no products in it', () => ({ products: [] }), [400, 'empty_cart', 'no products in the cart']],
  ['products that are no list', () => ({ products: {} }), shape, 'products'],
  [
    'more than 50 products',
    () => ({ products: Array(51).fill(cartWith({}).products[0]) }),
    shape,
    'products',
  ],
  ['a product without id', () => cartWith({ id: undefined }), missing, 'products[0].id'],
  ['a product without cycle', () => cartWith({ cycle: undefined }), missing, 'products[0].cycle'],
  ['a product without type', () => cartWith({ type: undefined }), missing, 'products[0].type'],
  ['an absent field beside a wrong one', () => cartWith({ cycle: 5, type: undefined }), missing],
  [
    'an id that no product has',
    () => cartWith({ id: 99_999 }),
    [404, 'product_unknown', 'product not found'],
  ],
  ['the id 0', () => cartWith({ id: 0 }), notFound, 'products[0].id'],
  ['a negative id', () => cartWith({ id: -1 }), notFound],
  ['an id in pieces', () => cartWith({ id: 1.5 }), notFound],
  ['an id in quotes', () => cartWith({ id: '1' }), notFound],
  ['an id that is null', () => cartWith({ id: null }), notFound],
  ['another type than the product has', () => cartWith({ type: 'Domain' }), notFound, 'products[0].type'],
  ['a type that nothing has', () => cartWith({ type: 'vps' }), notFound],
  ['a field nobody knows', () => cartWith({ colour: 'red' }), shape, 'products[0].colour'],
  ['an option nobody knows', () => withOptions({ option9: 1 }), shape, 'products[0].options.option9'],
  ['a number in quotes', () => withOptions({ option1: '1' }), shape, 'products[0].options.option1'],
  ['a word in place of a number', () => withOptions({ option6: 1 }), shape],
  ['a coupon code that is no text', () => cartWith({}, { couponcode: 5 }), shape, 'couponcode'],
  ['no options for a VPS', () => cartWith({ options: undefined }), missing, 'products[0].options'],
  ['too much memory', () => withOptions({ option1: 9 }), configuration, 'products[0].options.option1'],
  ['too little storage', () => withOptions({ option2: 9 }), configuration, 'products[0].options.option2'],
  ['no CPU', () => withOptions({ option3: 0 }), configuration, 'products[0].options.option3'],
  ['memory below zero', () => withOptions({ option1: -4 }), configuration],
  ['three IPv4 addresses', () => withOptions({ option4: 3 }), configuration],
  ['an unknown operating system', () => withOptions({ option6: 'beos' }), configuration],
  ['a port speed that is not sold', () => withOptions({ option7: '10gbit' }), configuration],
  ['an unknown location', () => withOptions({ option8: 'MOON' }), configuration],
  ['a cycle that nothing has', () => cartWith({ cycle: 'weekly' }), configuration, 'products[0].cycle'],
  ['a cycle the product is not sold in', () => cartWith({ cycle: 'triennially' }), configuration],
  ['a name of the language as cycle', () => cartWith({ cycle: 'toString' }), configuration],
  [
    'a domain with a space',
    () => withOptions({ domain: 'a b.example' }),
    domain,
    'products[0].options.domain',
  ],
  ['a domain that starts with a dot', () => withOptions({ domain: '.example.com' }), domain],
  ['a domain that ends with a dot', () => withOptions({ domain: 'example.com.' }), domain],
  ['two domains', () => cartWith({ domain: 'web2.example.com' }), domain, 'products[0].domain'],
  ['an empty domain', () => withOptions({ domain: '' }), domain],
  ['a domain with a command in it', () => withOptions({ domain: '$(reboot).example' }), domain],
  ['a short password', () => withOptions({ password: 'Aa1!' }), weak, 'products[0].options.password'],
  ['a password of two classes', () => withOptions({ password: 'password1234' }), weak],
  ['an empty password', () => withOptions({ password: '' }), weak],
  [
    'an unknown coupon',
    () => cartWith({}, { couponcode: 'NO' }),
    [400, 'invalid_coupon', 'invalid coupon code'],
  ],
  ['an empty coupon', () => cartWith({}, { couponcode: '' }), [400, 'invalid_coupon', 'invalid coupon code']],
];
for (const key of ['option1', 'option2', 'option3', 'option4', 'option5', 'option6', 'option7', 'option8']) {
  cases.push([`no ${key}`, () => withOptions({ [key]: undefined }), missing, `products[0].options.${key}`]);
}
for (const key of ['domain', 'password']) {
  cases.push([`no ${key}`, () => withOptions({ [key]: undefined }), missing, `products[0].options.${key}`]);
}

describe('a cart is refused for', () => {
  it.each(cases)('%s, by quote and checkout alike, and nothing changes', async (_, cart, face, field) => {
    const before = await settledContents(product);
    for (const path of ['/cart/checkout/invoice', '/cart/quote']) {
      const { status, body } = await customer.post(path, cart());
      expect([status, body.code, body.message]).toEqual(face);
      expect(body.success).toBe(false);
      if (field !== undefined)
        expect(body.details.map((detail: { field: string }) => detail.field)).toContain(field);
    }
    expect(await contents(product)).toEqual(before);
  });

  it('what is wrong first, in the order of the contract', async () => {
    const { vps } = product.demo.products;
    await product.staff.patch(`/staff/products/${vps}`, { stock: 0 });
    const cart = cartWith(
      { id: 99_999, options: vpsOptions({ option1: 99, domain: '-', password: 'weak' }) },
      { couponcode: 'NOPE' },
    );
    const [item] = cart.products as [Record<string, unknown> & { options: Record<string, unknown> }];
    const answer = async (headers: Record<string, string> = {}) =>
      (await customer.post('/cart/checkout/invoice', cart, headers)).body.message;

    const { cycle } = item;
    delete item.cycle;
    expect(await answer({ token: 'wrong', 'x-organization-id': '1' })).toBe('unauthenticated');
    expect(await answer({ 'x-organization-id': '1' })).toBe('You do not have access to this resource');
    expect(await answer()).toBe('missing fields');
    item.cycle = cycle;
    expect(await answer()).toBe('product not found');
    item.id = vps;
    expect(await answer()).toBe('invalid product configuration');
    item.options.option1 = 1;
    expect(await answer()).toBe('invalid domain');
    item.options.domain = 'web1.example.com';
    expect(await answer()).toBe(weak[2]);
    item.options.password = 'Good-Pass-1';
    expect(await answer()).toBe('invalid coupon code');
    delete cart.couponcode;
    expect(await answer()).toBe('Not enough stock available');
    await product.staff.patch(`/staff/products/${vps}`, { stock: null });
    expect((await customer.post('/cart/checkout/invoice', cart)).status).toBe(200);
  });

  it('a fault of its last item, whatever comes before', async () => {
    const good = cartWith({}).products[0];
    const answer = await customer.post('/cart/quote', { products: [good, { ...good, id: 99_999 }] });
    expect(answer.body).toMatchObject({ code: 'product_unknown', details: [{ field: 'products[1].id' }] });
  });

  it('a product that is hidden or retired', async () => {
    const { hosting } = product.demo.products;
    const cart = { products: [{ id: hosting, cycle: 'monthly', type: 'Hosting' }] };
    for (const status of ['hidden', 'retired', 'active']) {
      await product.staff.patch(`/staff/products/${hosting}`, { status });
      const answer = await customer.post('/cart/checkout/invoice', cart);
      const face = [answer.status, answer.body.message];
      expect(face).toEqual(status === 'active' ? [200, undefined] : [400, 'product not found']);
    }
  });
});

describe('what else a cart needs', () => {
  it('a domain product its domain, with two labels', async () => {
    const item = { id: product.demo.products.domain, cycle: 'annually', type: 'Domain' };
    const answer = async (domain?: string) =>
      (await customer.post('/cart/checkout/invoice', { products: [{ ...item, domain }] })).body;
    expect((await answer()).message).toBe('missing fields');
    expect((await answer('localhost')).message).toBe('invalid domain');
    expect((await answer('.example')).message).toBe('invalid domain');
    expect((await answer('Shop.Example')).data.items[0].domain).toBe('shop.example');
  });

  it('any product the domain it is for, once, wherever it stands', async () => {
    const order = async (item: object) => {
      const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
      const { service } = (await customer.get(`/dashboard/services/${data?.service_ids[0]}`)).body.data;
      return [data.items[0].domain, service.domain];
    };
    const hosting = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    expect(await order({ ...hosting, domain: 'Shop.Example' })).toEqual(['shop.example', 'shop.example']);
    const [vps] = cartWith({ domain: 'WEB1.example.com' }).products;
    expect(await order(vps ?? {})).toEqual(['web1.example.com', 'web1.example.com']);
    const domains = { id: product.demo.products.domain, cycle: 'annually', type: 'Domain' };
    const both = { ...domains, domain: 'shop.example', options: { domain: 'other.example' } };
    const refused = await customer.post('/cart/checkout/invoice', { products: [both] });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_domain']);
  });

  it('a dedicated server its options', async () => {
    const item = { id: product.demo.products.dedicated, cycle: 'monthly', type: 'Hosting' };
    const answer = await customer.post('/cart/checkout/invoice', { products: [item] });
    expect([answer.status, answer.body.message]).toEqual([400, 'missing fields']);
    const options = { option1: 64, option2: 960, domain: 'big.example.com', password: 'Good-Pass-1' };
    const whole = await customer.post('/cart/checkout/invoice', { products: [{ ...item, options }] });
    expect(whole.status).toBe(200);
  });

  it('an account without the header, when that leaves no doubt', async () => {
    const token = customer.key;
    const order = () => product.nobody.post('/cart/checkout/invoice', cartWith({}), { token });
    expect((await order()).status).toBe(200);
    await customer.post('/dashboard/organizations', { name: 'Another' });
    product.clock.travel(1_001); // who somebody is, is remembered for a second
    expect((await order()).body.code).toBe('organization_ambiguous');
  });
});

it('what the product says is required is, also where it is no server', async () => {
  const id = product.demo.products.hosting;
  await sql(
    product,
    `insert into product_options (product_id, key, name, label, kind, choices, unit_price_minor, required) values
       ($1, 'option6', 'plan', 'Plan', 'choice', '[{"value":"large","label":"Large","price_minor":900}]', 0, true)`,
    id,
  );
  const quote = (item: object) =>
    customer.post('/cart/quote', { products: [{ id, cycle: 'monthly', type: 'Hosting', ...item }] });
  for (const item of [{}, { options: {} }]) {
    expect((await quote(item)).body).toMatchObject({
      code: 'missing_fields',
      details: [{ field: 'products[0].options.option6' }],
    });
  }
  expect((await quote({ options: { option6: 'large' } })).body.data.total).toBe('12.00');
  await sql(product, 'delete from product_options where product_id = $1', id);
});
