import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { watchChanges } from '../../../test/noted.ts';
import { orderVps, runningVps, vpsCart } from '../../../test/orders.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { HypervisorError } from '../../drivers/hypervisor/index.ts';

const changes = watchChanges();

let product: TestProduct;
let diskFails = false;
beforeAll(async () => {
  const refuse = () => new HypervisorError('disk_failed', 'the disk is broken', { permanent: true });
  product = await startTestProduct({
    simulator: { failure: (call) => (diskFails && call === 'createDisk' ? refuse() : null) },
  });
  await product.staff.patch(`/staff/products/${product.demo.products.vps}`, { stock: 50 });
  await sql(
    product,
    `insert into coupons (code, percent, max_uses, created_at) values ('ONCE', 10, 1, now())`,
  );
  await sql(product, `insert into tax_rates (country, rate_basis_points) values ('NL', 2100)`);
  await sql(product, `update organizations set country = 'NL'`);
});
afterAll(() => product.stop());

const refund = (invoiceId: number, body: object = {}) =>
  product.staff.post(`/staff/invoices/${invoiceId}/refund`, { method: 'credit', reason: 'test', ...body });
const credit = async () => (await product.customer.get('/dashboard/invoices')).body.data.credit_balance;
const stock = async () =>
  (await product.nobody.get(`/products/${product.demo.products.vps}`)).body.data.product.stock;
const service = async (id: number) =>
  (await product.customer.get(`/dashboard/services/${id}`)).body.data.service;

/** An order that was paid and whose machine could not be made. */
async function failedVps(cart: object = vpsCart(product.demo)) {
  diskFails = true;
  const order = await product.customer.post('/cart/checkout/invoice', cart);
  expect(order.status).toBe(200);
  const { invoice_id: invoiceId, service_ids: ids } = order.body.data;
  await product.customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  await until(
    () => service(ids[0]),
    (seen) => seen.provisioning_state === 'failed',
  );
  diskFails = false;
  return { invoiceId: invoiceId as number, serviceId: ids[0] as number };
}

describe('a refund', () => {
  it('is previewed without a trace: what would go where, and how the credit note would be numbered', async () => {
    const { invoiceId } = await runningVps(product, product.customer);
    const { total } = (await product.customer.get(`/dashboard/invoices/${invoiceId}`)).body.data.invoice;
    await settled(product);
    const before = await contents(product);
    const { body } = await refund(invoiceId, { dry_run: true });
    const year = product.clock.now().getUTCFullYear();
    expect(body.data).toMatchObject({
      ...{ dry_run: true, invoice: { status: 'refunded' } },
      returned: [{ method: 'credit', amount: total, currency: 'EUR', fee: null, fee_currency: null }],
      credit_note: { number: null, series: `CN-${year}-`, total: `-${total}`, currency: 'EUR' },
      stays: [{ message: expect.any(String) }],
    });
    expect(await contents(product)).toEqual(before);
    const done = (await refund(invoiceId, { amount: '1.00' })).body.data;
    expect(done).toMatchObject({ dry_run: false, returned: [{ method: 'credit', amount: '1.00' }] });
    expect(done.credit_note.number).toMatch(new RegExp(`^CN-${year}-\\d{6}$`));
    expect(done.credit_note.total).toBe('-1.00');
  });

  it('takes revenue and tax back in parts that add up to the cent, and never more than was paid', async () => {
    const before = await credit();
    const { invoiceId } = await runningVps(product, product.customer);
    const total = (await product.customer.get(`/dashboard/invoices/${invoiceId}`)).body.data.invoice.total;

    expect((await refund(invoiceId, { amount: '0.01' })).body.data.invoice.status).toBe('partially_refunded');
    expect((await refund(invoiceId, { amount: '1.00' })).status).toBe(200);
    expect((await refund(invoiceId, { amount: total })).body.code).toBe('invalid_amount');
    expect((await refund(invoiceId, { amount: '0.00' })).body.code).toBe('invalid_amount');
    const whole = await refund(invoiceId);
    expect(whole.body.data.invoice).toMatchObject({ status: 'refunded', refunded: total });
    expect(whole.body.data.invoice.date_refunded).not.toBeNull();
    expect((await refund(invoiceId)).body.code).toBe('conflict');

    expect(await credit()).toBe(before);
    const left = await sql(
      product,
      `select a.kind, sum(e.amount_minor) from ledger_entries e join ledger_accounts a on a.id = e.account_id
       join ledger_transactions t on t.id = e.transaction_id where t.invoice_id = $1
       group by a.kind having sum(e.amount_minor) <> 0`,
      invoiceId,
    );
    expect(left).toEqual([]);
  });

  it('leaves what runs running', async () => {
    const { invoiceId, serviceId } = await runningVps(product, product.customer);
    await refund(invoiceId);
    await until(
      () => audit(product.databaseUrl),
      (wrong) => wrong.length === 0,
    );
    expect((await service(serviceId)).status).toBe('active');
  });

  it('cancels what could not be delivered, with its stock, coupon and password', async () => {
    const stockBefore = await stock();
    const { invoiceId, serviceId } = await failedVps({ ...vpsCart(product.demo), couponcode: 'ONCE' });
    expect(await stock()).toBe(stockBefore - 1);
    const jobs = async () => (await product.staff.get('/staff/jobs')).body.data.jobs;
    expect(await jobs()).toMatchObject([{ name: 'vps.provision', payload: { serviceId } }]);
    await refund(invoiceId);
    await until(
      () => service(serviceId),
      (seen) => seen.status === 'cancelled',
    );
    await settled(product);
    expect(await jobs(), 'nothing is left to do for staff').toEqual([]);
    expect(await stock()).toBe(stockBefore);
    expect(await sql(product, 'select 1 from service_secrets where service_id = $1', serviceId)).toEqual([]);
    expect(await sql(product, `select uses from coupons where code = 'ONCE'`)).toEqual([{ uses: 0 }]);
    expect(await audit(product.databaseUrl)).toEqual([]);
  });

  it('refunded many times at once happens once', async () => {
    const { invoiceId } = await runningVps(product, product.customer);
    const answers = await Promise.all(Array.from({ length: 20 }, () => refund(invoiceId)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.body.code === 'conflict')).toHaveLength(19);
  });

  it('of an invoice that is not paid, or by a customer, is refused', async () => {
    const { invoiceId } = await orderVps(product, product.customer);
    expect((await refund(invoiceId)).body.code).toBe('conflict');
    const body = { method: 'credit', reason: 'mine' };
    const own = await product.customer.post(`/staff/invoices/${invoiceId}/refund`, body);
    expect(own.body.code).toBe('staff_only');
  });
});

describe('a service whose delivery failed', () => {
  it('is delivered after staff retries it, once however often they ask', async () => {
    const { serviceId } = await failedVps();
    const retry = () => product.staff.post(`/staff/services/${serviceId}/retry`);
    const answers = await Promise.all(Array.from({ length: 10 }, retry));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(9);
    await until(
      () => service(serviceId),
      (seen) => seen.status === 'active',
    );
    await until(
      () => audit(product.databaseUrl),
      (wrong) => wrong.length === 0,
    );
    expect((await retry()).body.code).toBe('conflict');
  });

  it('is not made after all when the job is retried and the money was given back', async () => {
    const { invoiceId, serviceId } = await failedVps();
    const [job] = (await product.staff.get('/staff/jobs')).body.data.jobs;
    const [refunded, retried] = await Promise.all([
      refund(invoiceId),
      product.staff.post(`/staff/jobs/${job.id}/retry`),
    ]);
    expect([refunded.status, retried.status]).toEqual([200, 200]);
    await until(
      () => audit(product.databaseUrl),
      (wrong) => wrong.length === 0,
    );
    const { status, provisioning_state: delivery } = await service(serviceId);
    // Whichever came first: delivered before the refund was seen, or cancelled. Never both, never neither.
    expect(['active done', 'cancelled failed']).toContain(`${status} ${delivery}`);
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['retryServiceDelivery', 'retryJob']));
