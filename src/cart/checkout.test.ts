import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCoupon } from '../../test/coupons.ts';
import { audit } from '../../test/crash/audit.ts';
import { orderVps, runningVps, vpsCart } from '../../test/orders.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

describe('the main job', () => {
  it('turns a paid order into a running machine', async () => {
    const { serviceId } = await runningVps(product, product.customer, { option5: 1 });
    const overview = await product.customer.get(`/dashboard/service/${serviceId}/vps/overview`);
    expect(overview.body.data.vps).toMatchObject({
      state: 'running',
      hostname: 'web1.example.com',
      locked: false,
    });
    expect(overview.body.data.vps.ips.map((ip: { family: number }) => ip.family)).toEqual([4, 6]);
  });

  it('quotes what the invoice then says', async () => {
    const cart = vpsCart(product.demo, { option1: 3, option2: 25 });
    const quote = await product.customer.post('/cart/quote', cart);
    const order = await product.customer.post('/cart/checkout/invoice', cart);
    expect(quote.body.data.total).toBe(order.body.data.total);
    expect(quote.body.data.items).toEqual(order.body.data.items);
  });

  it('delivers an order that costs nothing at once', async () => {
    const couponcode = await newCoupon(product, { percent: 100 });
    const cart = { ...vpsCart(product.demo), couponcode };
    const order = await product.customer.post('/cart/checkout/invoice', cart);
    expect(order.body.data).toMatchObject({ subtotal: '4.00', discount: '4.00', total: '0.00' });
    const { invoice } = (await product.customer.get(`/dashboard/invoices/${order.body.data.invoice_id}`)).body
      .data;
    expect(invoice).toMatchObject({ status: 'paid', total: '0.00', number: expect.anything() });
    await until(
      () => product.customer.get(`/dashboard/services/${order.body.data.service_ids[0]}`),
      (answer) => answer.body.data.service.status === 'active',
    );
    const wrong = await audit(product.databaseUrl, ['a job that is not finished']);
    expect(wrong.filter((line) => /^(a ledger|a balance|legal numbers|a paid invoice)/.test(line))).toEqual(
      [],
    );
  });

  it('gives back everything an unpaid order held once it expires', async () => {
    await product.staff.patch(`/staff/products/${product.demo.products.vps}`, { stock: 5 });
    const { invoiceId, serviceId } = await orderVps(product, product.customer);
    product.clock.travel(97 * 3_600_000);
    await product.periodic('billing.expire');
    const invoice = await product.customer.get(`/dashboard/invoices/${invoiceId}`);
    expect(invoice.body.data.invoice.status).toBe('cancelled');
    await expect
      .poll(
        async () => (await product.customer.get(`/dashboard/services/${serviceId}`)).body.data.service.status,
      )
      .toBe('cancelled');
    const listed = await product.nobody.get(`/products/${product.demo.products.vps}`);
    expect(listed.body.data.product.stock).toBe(5);
  });
});
