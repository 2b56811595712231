import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCoupon } from '../../test/coupons.ts';
import { vpsCart, vpsOptions } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  // Room and addresses for all the orders that the property makes.
  product = await startTestProduct({ env: { NETWORK4: '10.77.0.0/22' } });
  await sql(product, `insert into tax_rates (country, rate_basis_points) values ('CZ', 2100), ('HU', 2700)`);
  customer = await newCustomer(product);
});
afterAll(() => product.stop());

const minor = (text: string) => Number(text.replace('.', ''));

function hosting(couponcode?: string) {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  return { products: [item], ...(couponcode === undefined ? {} : { couponcode }) };
}

describe('a quote', () => {
  it('for a member holds the tax of the organization, and equals the invoice', async () => {
    const taxed = await newCustomer(product, { country: 'CZ' });
    const quote = await taxed.post('/cart/quote', hosting());
    expect(quote.body.data).toMatchObject({ subtotal: '3.00', tax: '0.63', total: '3.63' });
    const order = await taxed.post('/cart/checkout/invoice', hosting());
    expect(order.body.data.total).toBe('3.63');
    expect((await product.nobody.post('/cart/quote', hosting())).body.data.total).toBe('3.00');
  });

  it('with a wrong key or for a foreign organization is refused', async () => {
    const wrong = await product.nobody.post('/cart/quote', hosting(), { token: 'ink_wrong' });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'unauthorized']);
    const organization = String(product.demo.other_customer.organization_id);
    const foreign = await product.customer.post('/cart/quote', hosting(), {
      'x-organization-id': organization,
    });
    expect([foreign.status, foreign.body.code]).toEqual([403, 'forbidden']);
  });
});

describe('a price', () => {
  it('is that of the cycle, and for each month of it every unit above the minimum', async () => {
    const cart = vpsCart(product.demo, { option1: 4, option2: 25, option3: 2, option4: 2, option5: 1 });
    const monthly = await customer.post('/cart/quote', cart);
    // 4.00 + 3 GB × 2.00 + 15 GB × 0.10 + 1 core × 1.50 + 1 address × 1.00
    expect(monthly.body.data).toMatchObject({ subtotal: '14.00', total: '14.00', currency: 'EUR' });
    const [item] = cart.products;
    const yearly = await customer.post('/cart/quote', { products: [{ ...item, cycle: 'annually' }] });
    expect(yearly.body.data.total).toBe('160.00'); // 40.00 + 12 × 10.00
  });

  it('holds the setup fee once, apart from what each period costs', async () => {
    const options = { option1: 65, option2: 961, domain: 'big.example.com', password: 'Good-Pass-1' };
    const item = { id: product.demo.products.dedicated, cycle: 'monthly', type: 'Hosting', options };
    const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
    expect(data.items[0]).toMatchObject({ price: '89.51', setup_fee: '49.00' });
    expect(data.total).toBe('138.51');
    const { service } = (await customer.get(`/dashboard/services/${data.service_ids[0]}`)).body.data;
    expect(service).toMatchObject({ firstPrice: '138.51', price: '89.51' });
  });

  it.each([
    ['CZ', '21.00', '0.63', '3.63', false],
    ['HU', '27.00', '0.81', '3.81', false],
    ['BR', '0.00', '0.00', '3.00', true],
    [null, '0.00', '0.00', '3.00', true],
  ])('carries the tax of the country %s', async (country, rate, tax, total, exempt) => {
    const person = await newCustomer(product, { country });
    const order = await person.post('/cart/checkout/invoice', hosting());
    expect(order.body.data).toMatchObject({ subtotal: '3.00', tax, total });
    const { invoice } = (await person.get(`/dashboard/invoices/${order.body.data.invoice_id}`)).body.data;
    expect(invoice).toMatchObject({ tax_rate: rate, tax_country: country, tax_exempt: exempt, total });
  });

  it('stays that of the order when the catalogue changes', async () => {
    const order = await customer.post('/cart/checkout/invoice', hosting());
    const path = `/staff/products/${product.demo.products.hosting}`;
    await product.staff.patch(path, { prices: [{ cycle: 'monthly', price: '9.99' }] });
    expect((await customer.post('/cart/quote', hosting())).body.data.total).toBe('9.99');
    const invoice = await customer.get(`/dashboard/invoices/${order.body.data.invoice_id}`);
    expect(invoice.body.data.invoice.total).toBe('3.00');
    await product.staff.patch(path, { prices: [{ cycle: 'monthly', price: '3.00' }] });
  });
});

describe('a coupon', () => {
  const discount = async (couponcode: string) => {
    const { status, body } = await customer.post('/cart/quote', hosting(couponcode));
    return status === 200 ? body.data.discount : body.message;
  };

  it('takes a share or an amount off, and never more than is due', async () => {
    expect(await discount(await newCoupon(product, { percent: 15 }))).toBe('0.45');
    expect(await discount(await newCoupon(product, { percent: 100 }))).toBe('3.00');
    expect(await discount(await newCoupon(product, { amountMinor: 120 }))).toBe('1.20');
    expect(await discount(await newCoupon(product, { amountMinor: 99_900 }))).toBe('3.00');
  });

  it('is found whatever its case', async () => {
    expect(await discount((await newCoupon(product, { percent: 10 })).toUpperCase())).toBe('0.30');
  });

  it('covers the products it is for', async () => {
    const { vps, hosting: id } = product.demo.products;
    const couponcode = await newCoupon(product, { percent: 50, productIds: [id] });
    const both = { products: [...vpsCart(product.demo).products, ...hosting().products], couponcode };
    const { data } = (await customer.post('/cart/quote', both)).body;
    expect(data.items.map((item: { discount: string }) => item.discount)).toEqual(['0.00', '1.50']);
    const elsewhere = await newCoupon(product, { percent: 50, productIds: [vps] });
    for (const path of ['/cart/quote', '/cart/checkout/invoice']) {
      const { status, body } = await customer.post(path, hosting(elsewhere));
      expect([status, body.code, body.message]).toEqual([400, 'invalid_coupon', 'invalid coupon code']);
      expect(body.details).toEqual([
        { field: 'couponcode', message: 'takes nothing off what is in the cart' },
      ]);
    }
    const uses = 'select uses from coupons where code = $1';
    expect(await sql(product, uses, elsewhere)).toEqual([{ uses: 0 }]);
  });

  it('is refused when it is not good now', async () => {
    const now = product.clock.now().getTime();
    const [past, future] = [new Date(now - 1), new Date(now + 60_000)];
    const bad = [
      { percent: 10, expiresAt: past },
      { percent: 10, startsAt: future },
      { percent: 10, active: false },
      { percent: 10, maxUses: 0 },
      { amountMinor: 100, currency: 'USD' },
    ];
    for (const coupon of bad)
      expect(await discount(await newCoupon(product, coupon))).toBe('invalid coupon code');
    expect(await discount(await newCoupon(product, { percent: 10, startsAt: past, expiresAt: future }))).toBe(
      '0.30',
    );
  });

  it('is used once by each order that gets it, and by a quote never', async () => {
    const couponcode = await newCoupon(product, { percent: 10, maxUses: 2 });
    for (let time = 0; time < 3; time += 1) await customer.post('/cart/quote', hosting(couponcode));
    const orders = await Promise.all(
      Array.from({ length: 8 }, () => customer.post('/cart/checkout/invoice', hosting(couponcode))),
    );
    expect(orders.filter((order) => order.status === 200)).toHaveLength(2);
    for (const order of orders.filter((each) => each.status !== 200))
      expect([order.status, order.body.message]).toEqual([400, 'invalid coupon code']);
    const [row] = await sql<{ uses: number }>(
      product,
      'select uses from coupons where code = $1',
      couponcode,
    );
    expect(row?.uses).toBe(2);
  });

  it('comes back when the order that used it is never paid', async () => {
    const couponcode = await newCoupon(product, { percent: 10, maxUses: 1 });
    await customer.post('/cart/checkout/invoice', hosting(couponcode));
    expect(await discount(couponcode)).toBe('invalid coupon code');
    product.clock.travel(97 * 3_600_000);
    await product.periodic('billing.expire');
    await settled(product);
    expect(await discount(couponcode)).toBe('0.30');
  });

  it('that pays for everything leaves an invoice of nothing, which is paid at once', async () => {
    const couponcode = await newCoupon(product, { percent: 100 });
    const { data } = (await customer.post('/cart/checkout/invoice', hosting(couponcode))).body;
    expect(data.total).toBe('0.00');
    const seen = await customer.get(`/dashboard/invoices/${data.invoice_id}`);
    expect(seen.body.data.invoice).toMatchObject({
      status: 'paid',
      payments: [{ method: 'none', amount: '0.00' }],
    });
  });
});

describe('a quote', () => {
  const vps = fc
    .record({
      option1: fc.integer({ min: 1, max: 4 }),
      option2: fc.integer({ min: 10, max: 100 }),
      option3: fc.integer({ min: 1, max: 4 }),
      option4: fc.integer({ min: 1, max: 2 }),
      option5: fc.integer({ min: 0, max: 1 }),
    })
    .map((options) => ({ kind: 'vps' as const, options }));
  const item = fc.oneof(
    vps,
    fc.constant({ kind: 'hosting' as const }),
    fc.constant({ kind: 'domain' as const }),
  );
  const cycle = fc.constantFrom('monthly', 'quarterly', 'annually');
  const cart = fc.array(fc.tuple(item, cycle), { minLength: 1, maxLength: 4 });
  const coupon = fc.option(
    fc.oneof(
      fc.record({ percent: fc.integer({ min: 1, max: 100 }) }),
      fc.record({ amountMinor: fc.integer({ min: 1, max: 20_000 }) }),
    ),
    { nil: undefined },
  );

  it('equals the invoice that follows, whose lines add up', async () => {
    await fc.assert(
      fc.asyncProperty(cart, coupon, async (lines, terms) => {
        const products = lines.map(([line, each]) => ({
          id: product.demo.products[line.kind],
          cycle: line.kind === 'domain' ? 'annually' : each,
          type: line.kind === 'domain' ? 'Domain' : 'Hosting',
          ...(line.kind === 'domain' ? { domain: 'shop.example' } : {}),
          ...(line.kind === 'vps' ? { options: vpsOptions(line.options) } : {}),
        }));
        const couponcode = terms === undefined ? undefined : await newCoupon(product, terms);
        const quote = (await customer.post('/cart/quote', { products, couponcode })).body.data;
        const order = (await customer.post('/cart/checkout/invoice', { products, couponcode })).body.data;
        const { invoice } = (await customer.get(`/dashboard/invoices/${order.invoice_id}`)).body.data;
        for (const sum of ['currency', 'subtotal', 'discount', 'tax', 'total'] as const)
          expect([order[sum], invoice[sum]]).toEqual([quote[sum], quote[sum]]);
        expect(order.items).toEqual(quote.items);
        const total = (field: string) =>
          invoice.items.reduce(
            (sum: number, each: Record<string, string>) => sum + minor(each[field] ?? ''),
            0,
          );
        expect(total('price') + total('setup_fee')).toBe(minor(invoice.subtotal));
        expect(total('discount')).toBe(minor(invoice.discount));
        expect(minor(invoice.total)).toBe(
          minor(invoice.subtotal) - minor(invoice.discount) + minor(invoice.tax),
        );
      }),
      { numRuns: 25 },
    );
  });

  it('writes nothing, and anybody may ask', async () => {
    await settled(product);
    const before = await contents(product);
    const couponcode = await newCoupon(product, { percent: 10 });
    const answer = await product.nobody.post('/cart/quote', { ...vpsCart(product.demo), couponcode });
    expect(answer.body.data).toMatchObject({ invoice_id: null, service_ids: [], reserved_until: null });
    expect({ ...(await contents(product)), coupons: [] }).toEqual({ ...before, coupons: [] });
  });

  it('says when there is not enough left', async () => {
    const path = `/staff/products/${product.demo.products.hosting}`;
    await product.staff.patch(path, { stock: 1 });
    const two = { products: [...hosting().products, ...hosting().products] };
    expect((await product.nobody.post('/cart/quote', hosting())).status).toBe(200);
    expect((await product.nobody.post('/cart/quote', two)).body.message).toBe('Not enough stock available');
    await product.staff.patch(path, { stock: null });
  });
});
