import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payByCredit } from '../../test/invoices.ts';
import { newCustomer, newStaff, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';

let product: TestProduct;
let group: number;
beforeAll(async () => {
  product = await startTestProduct();
  const made = await product.staff.post('/staff/product-groups', { name: 'Storage' });
  group = made.body.data.product_group.id;
});
afterAll(() => product.stop());

const storage = {
  ...{ key: 'option2', name: 'storage_gb', label: 'Storage (GB)' },
  ...{ min: 10, max: 20, step: 5, unit_price: '1.50' },
};
const port = {
  ...{ key: 'option7', name: 'port_speed', label: 'Port speed', required: false },
  values: [
    { value: '1gbit', label: '1 Gbit/s' },
    { value: '5gbit', label: '5 Gbit/s', price: '20.00' },
  ],
};
const large = () => ({
  type: 'Hosting',
  moduleId: 3,
  group_id: group,
  name: 'Large',
  description: 'More of it',
  currency: 'EUR',
  stock: 1,
  prices: [
    { cycle: 'monthly', price: '99.00', setup_fee: '10.00' },
    { cycle: 'annually', price: '990' },
  ],
  options: [storage, port],
});
const create = (body: unknown) => product.staff.post('/staff/products', body);
const change = (id: number, body: unknown) => product.staff.patch(`/staff/products/${id}`, body);
const read = async (id: number) => (await product.staff.get(`/staff/products/${id}`)).body.data.product;
async function made(more: object = {}): Promise<number> {
  const { status, body } = await create({ ...large(), stock: null, status: 'active', ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.product.id;
}
const cartOf = (id: number, options: object = { option2: 20, option7: '5gbit' }) => ({
  products: [{ id, cycle: 'monthly', type: 'Hosting', options }],
});

/** Ordered, paid and delivered; the service's id. */
async function bought(person: Person, id: number): Promise<number> {
  const order = await person.post('/cart/checkout/invoice', cartOf(id));
  expect((await payByCredit(person, order.body.data.invoice_id)).status).toBe(200);
  await settled(product);
  const [service] = order.body.data.service_ids;
  expect((await product.staff.post(`/staff/services/${service}/deliver`)).status).toBe(200);
  return service;
}

/** Sends a body that is refused for a field of it, and holds that nothing changed. */
async function refused(send: () => ReturnType<typeof create>, status: number, field: string): Promise<void> {
  await settled(product);
  const before = await contents(product);
  const answer = await send();
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  if (status === 400)
    expect(answer.body.details.map((each: { field: string }) => each.field)).toContain(field);
  else expect(answer.body.code).toBe(field);
  expect(await contents(product)).toEqual(before);
}

describe('a product that staff makes', () => {
  it('is hidden until staff shows it, and then sold as it was described', async () => {
    const { product: shown } = (await create({ ...large(), currency: 'SEK' })).body.data;
    expect(shown).toMatchObject({ name: 'Large', status: 'hidden', stock: 1, group: { name: 'Storage' } });
    const person = await newCustomer(product);
    expect((await person.post('/cart/quote', cartOf(shown.id))).body.message).toBe('product not found');
    await change(shown.id, { status: 'active' });
    const { body } = await person.post('/cart/checkout/invoice', cartOf(shown.id));
    // 99.00, ten units at 1.50 and 20.00 a month, and 10.00 once.
    expect(body.data).toMatchObject({ currency: 'SEK', total: '144.00' });
    const again = await person.post('/cart/checkout/invoice', cartOf(shown.id));
    expect(again.body.message).toBe('Not enough stock available');
  });

  const [monthly] = large().prices;
  it.each<[string, object, string]>([
    ['in a currency that is none', { currency: 'XQX' }, 'currency'],
    ['in a group that is none', { group_id: 4711 }, 'group_id'],
    ['at a price as a number', { prices: [{ cycle: 'monthly', price: 9 }] }, 'prices[0].price'],
    ['at a negative price', { prices: [{ cycle: 'monthly', price: '-9.00' }] }, 'prices[0].price'],
    ['at a price of too many digits', { prices: [{ cycle: 'monthly', price: '9.001' }] }, 'prices[0].price'],
    [
      'in parts of a yen',
      { currency: 'JPY', prices: [{ cycle: 'monthly', price: '9.5' }] },
      'prices[0].price',
    ],
    ['for sale without a price', { prices: [], status: 'active' }, 'prices'],
    ['twice at one cycle', { prices: [monthly, monthly] }, 'prices[1].cycle'],
    ['for a cycle that is none', { prices: [{ cycle: 'weekly', price: '1.00' }] }, 'prices[0].cycle'],
    ['a domain by the month', { type: 'Domain', moduleId: 4 }, 'prices'],
    ['a domain that is hosting', { type: 'Domain' }, 'type'],
    ['of a kind that is none', { moduleId: 6 }, 'moduleId'],
    ['with an option twice', { options: [storage, storage] }, 'options[1].key'],
    ['with bounds the wrong way round', { options: [{ ...storage, min: 30 }] }, 'options[0].max'],
    ['with an option of nothing', { options: [{ key: 'option2', name: 'x', label: 'x' }] }, 'options[0]'],
    ['with an option without a name', { options: [{ key: 'option2', min: 1, max: 2 }] }, 'options[0]'],
    ['with an option of both kinds', { options: [{ ...port, min: 1, max: 2 }] }, 'options[0]'],
    [
      'with a value twice',
      { options: [{ ...port, values: [port.values[0], port.values[0]] }] },
      'options[0].values',
    ],
    ['with a step of nothing', { options: [{ ...storage, step: 0 }] }, 'options[0].step'],
    ['with a blank name', { name: ' ' }, 'name'],
    ['with less than nothing in stock', { stock: -1 }, 'stock'],
    ['for sale as a VPS of no size', { moduleId: 2, status: 'active' }, 'options'],
    ['with what nobody asked for', { colour: 'red' }, 'colour'],
  ])('%s is refused, and nothing changes', async (_, wrong, field) => {
    await refused(() => create({ ...large(), ...wrong }), 400, field);
  });

  it('is not support’s to make', async () => {
    const support = await newStaff(product, 'support');
    expect((await support.post('/staff/products', large())).status).toBe(403);
  });
});

describe('a change of a product', () => {
  it('says all of it anew, and stands in the journal with what was before', async () => {
    const id = await made();
    const other = (await product.staff.post('/staff/product-groups', { name: 'Elsewhere' })).body.data;
    const body = {
      ...{ name: 'Larger', description: '', status: 'hidden', stock: 7, downgrade: 'period_end' },
      group_id: other.product_group.id,
      position: 9,
      prices: [
        { cycle: 'monthly', price: '109.00' },
        { cycle: 'annually', price: null },
        { cycle: 'triennially', price: '3000.00', setup_fee: '1.00' },
      ],
      options: [
        { key: 'option2', label: 'Space', max: 40 },
        { key: 'option7', retired: true },
        { key: 'option3', name: 'copies', label: 'Copies', min: 0, max: 3, required: false },
      ],
    };
    expect((await change(id, body)).status).toBe(200);
    const after = await read(id);
    expect(after).toMatchObject({
      ...{
        name: 'Larger',
        description: '',
        status: 'hidden',
        stock: 7,
        downgrade: 'period_end',
        position: 9,
      },
      group: { name: 'Elsewhere' },
      prices: [
        { cycle: 'monthly', price: '109.00', setup_fee: '10.00' },
        { cycle: 'triennially', price: '3000.00', setup_fee: '1.00' },
      ],
      options: [
        { key: 'option2', label: 'Space', min: 10, max: 40, step: 5, unit_price: '1.50' },
        { key: 'option3', name: 'copies', min: 0, max: 3, step: 1, unit_price: '0.00', required: false },
      ],
      retired_options: [{ key: 'option7', values: [{ value: '1gbit' }, { value: '5gbit' }] }],
    });
    const [entry] = await sql<{ data: object }>(
      product,
      `select data from journal where action = 'product.updated' and subject_id = $1`,
      id,
    );
    expect(entry?.data).toMatchObject({
      change: body,
      before: { name: 'Large', group_id: group, stock: null },
    });
    // What is taken back is as it was.
    await change(id, { options: [{ key: 'option7', retired: false }] });
    expect(await read(id)).toMatchObject({ retired_options: [], options: [{}, {}, { key: 'option7' }] });
  });

  it('leaves those alone who have bought it: cycle, options and price', async () => {
    const id = await made();
    const person = await newCustomer(product, { creditMinor: 50_000 });
    const service = await bought(person, id);
    const mine = async () => (await person.get(`/dashboard/services/${service}`)).body.data.service;
    const before = await mine();
    expect(before).toMatchObject({ price: '134.00', options: { option2: 20, option7: '5gbit' } });
    const after = await change(id, {
      status: 'retired',
      prices: [
        { cycle: 'monthly', price: null },
        { cycle: 'annually', price: '10.00' },
      ],
      options: [
        { key: 'option2', max: 10, unit_price: '9.99' },
        { key: 'option7', retired: true },
      ],
    });
    expect(after.status, JSON.stringify(after.body)).toBe(200);
    expect(await mine()).toEqual({ ...before, product: { ...before.product, price: null } });
    const { body } = await person.post(`/dashboard/services/${service}/renew`, { cycle: 'monthly' });
    const invoice = (await person.get(`/dashboard/invoices/${body.data.invoice_id}`)).body.data.invoice;
    expect(invoice).toMatchObject({ subtotal: '134.00' });
  });

  it('that would make something else of what was sold is refused with what to do instead', async () => {
    const id = await made();
    await change(id, { moduleId: 1 });
    await change(id, { moduleId: 3, options: [{ key: 'option7', name: 'speed', min: 1, max: 5 }] });
    await change(id, { options: [{ ...port }] });
    await bought(await newCustomer(product, { creditMinor: 50_000 }), id);
    for (const body of [{ moduleId: 1 }, { type: 'Domain', moduleId: 4 }])
      await refused(() => change(id, body), 409, 'product_sold');
    expect((await change(id, { moduleId: 1 })).body.message).toContain('create another product');
    const another = { key: 'option7', min: 1, max: 5 };
    await refused(() => change(id, { options: [another] }), 400, 'options[0]');
    await refused(() => change(id, { options: [{ key: 'option2', name: 'x' }] }), 400, 'options[0].name');
    const said = (await change(id, { options: [another] })).body.details[0].message;
    expect(said).toContain('take another key');
    await refused(() => change(id, { currency: 'USD' }), 400, 'currency');
    expect((await change(id, { moduleId: 3, type: 'Hosting', currency: 'EUR' })).status).toBe(200);
  });

  it.each<[string, object, string]>([
    ['to an unknown group', { group_id: 4711 }, 'group_id'],
    ['to a price of too many digits', { prices: [{ cycle: 'monthly', price: '1.001' }] }, 'prices[0].price'],
    [
      'to a fee for no price',
      { prices: [{ cycle: 'monthly', price: null, setup_fee: '1.00' }] },
      'prices[0].setup_fee',
    ],
    [
      'that leaves nothing to pay by',
      { prices: ['monthly', 'annually'].map((cycle) => ({ cycle, price: null })) },
      'prices',
    ],
    ['to bounds the wrong way round', { options: [{ key: 'option2', min: 21 }] }, 'options[0].max'],
    ['to a new option without words', { options: [{ key: 'option1', min: 1, max: 2 }] }, 'options[0]'],
    ['to no name', { name: '' }, 'name'],
    ['to a place that is none', { position: -1 }, 'position'],
  ])('%s is refused, and nothing changes', async (_, wrong, field) => {
    const id = await made();
    await refused(() => change(id, { description: 'Half of it', ...wrong }), 400, field);
  });

  it('of a VPS that nobody could order any more is refused while it is for sale', async () => {
    const id = product.demo.products.vps;
    await refused(() => change(id, { options: [{ key: 'option1', retired: true }] }), 400, 'options');
    const words = { key: 'option2', values: [{ value: 'much', label: 'Much' }] };
    await refused(() => change(id, { options: [words] }), 400, 'options');
  });

  it('made by two at once loses neither', async () => {
    const id = await made({ stock: 100 });
    const fields = [{ name: 'Both' }, { description: 'of them' }, { options: [{ key: 'option2', max: 30 }] }];
    await Promise.all(fields.map((body) => change(id, body)));
    expect(await read(id)).toMatchObject({
      name: 'Both',
      description: 'of them',
      options: [{ max: 30 }, {}],
    });
  });
});

describe('what customers see', () => {
  it('stands in the order of the groups, and in each in that of its products', async () => {
    const first = (await product.staff.post('/staff/product-groups', { name: 'First', position: 0 })).body
      .data;
    const [one, other] = [
      await made({ name: 'Zeta', position: 5 }),
      await made({ name: 'Eta', position: 5 }),
    ];
    const ids = async () => {
      const { products } = (await product.nobody.get('/products?limit=100')).body.data;
      return products
        .map((each: { id: number }) => each.id)
        .filter((id: number) => [one, other].includes(id));
    };
    expect(await ids()).toEqual([one, other]);
    await change(other, { position: 4 });
    expect(await ids()).toEqual([other, one]);
    await change(one, { group_id: first.product_group.id });
    expect(await ids()).toEqual([one, other]);
    const moved = await product.staff.patch(`/staff/product-groups/${first.product_group.id}`, {
      position: 999_999,
      name: 'Last',
    });
    expect(moved.body.data.product_group).toMatchObject({ name: 'Last', products: 1 });
    expect(await ids()).toEqual([other, one]);
  });

  it('has a group of each name once', async () => {
    await refused(() => product.staff.post('/staff/product-groups', { name: ' Storage ' }), 409, 'conflict');
    const other = (await product.staff.post('/staff/product-groups', { name: 'Other' })).body.data;
    const path = `/staff/product-groups/${other.product_group.id}`;
    await refused(() => product.staff.patch(path, { name: 'Storage' }), 409, 'conflict');
  });
});

describe('a preview of a change', () => {
  const preview = (id: number, body: object) => product.staff.post(`/staff/products/${id}/preview`, body);

  it('says how the product would be, what an order would cost and what others would pay, and changes nothing', async () => {
    const id = await made();
    const customer = await newCustomer(product, { creditMinor: 100_000 });
    await bought(customer, id);
    await settled(product);
    const before = await contents(product);
    const { status, body } = await preview(id, {
      prices: [{ cycle: 'monthly', price: '100.00' }],
      options: [{ key: 'option2', unit_price: '2.00', max: 30 }],
      order: { cycle: 'monthly', options: { option2: 30, option7: '1gbit' } },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const { product: shown, order, having } = body.data;
    expect(shown.options[0]).toMatchObject({ key: 'option2', max: 30, unit_price: '2.00' });
    expect(order).toEqual({ cycle: 'monthly', price: '140.00', setup_fee: '10.00', currency: 'EUR' });
    // It has ten GB above the least and the faster port: 99 + 10 × 1.50 + 20 before.
    expect(having).toEqual({
      ...{ services: 1, differing: 1 },
      cycles: [{ cycle: 'monthly', services: 1, price_before: '134.00', price_after: '140.00' }],
    });
    expect(await contents(product)).toEqual(before);
    const alone = await preview(id, { order: { cycle: 'annually', options: { option2: 10 } } });
    expect(alone.body.data).toMatchObject({ having: null, order: { price: '990.00' } });
  });

  it('names at its field what cannot be: of the change as of the order', async () => {
    const id = await made();
    const wrong = await preview(id, {
      options: [{ key: 'option2', min: 40 }],
      order: { cycle: 'monthly', options: { option2: 40 } },
    });
    expect(wrong.body.details).toEqual([{ field: 'options[0].max', message: 'must not be below min' }]);
    const order = (options: object, cycle = 'monthly') => preview(id, { order: { cycle, options } });
    expect((await order({ option2: 11 })).body.details[0].field).toBe('order.options.option2');
    expect((await order({})).body.details).toEqual([
      { field: 'order.options.option2', message: 'must be there' },
    ]);
    expect((await order({ option2: 10 }, 'quarterly')).body.details[0].field).toBe('order.cycle');
    expect((await preview(999_999, {})).body.code).toBe('not_found');
  });
});
