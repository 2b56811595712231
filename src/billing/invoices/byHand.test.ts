import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { orderVps, runningVps } from '../../../test/orders.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { formatMoney, parseMoney } from '../../platform/index.ts';
import { formatQuantity, parseQuantity } from './quantity.ts';

let product: TestProduct;
let dutch: Person;
beforeAll(async () => {
  product = await startTestProduct();
  await sql(product, `insert into tax_rates (country, rate_basis_points) values ('NL', 2100)`);
  dutch = await newCustomer(product, { country: 'NL', creditMinor: 100_000 });
});
afterAll(async () => {
  await settled(product);
  expect(await audit(product.databaseUrl)).toEqual([]);
  await product.stop();
});

const line = { description: 'Moving your website', quantity: '2.5', unit_price: '80.00' };
const asked = (who: Person, change: object = {}) => ({
  ...{ organization_id: who.organizationId, currency: 'EUR', lines: [line] },
  ...change,
});
const issue = (who: Person, change: object = {}, headers: Record<string, string> = {}) =>
  product.staff.request('POST', '/staff/invoices', asked(who, change), headers);
const cancel = (id: number, reason = 'Another company did it') =>
  product.staff.post(`/staff/invoices/${id}/cancel`, { reason });
const invoiceOf = async (who: Person, id: number) =>
  (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const countOf = async (who: Person) => (await who.get('/dashboard/invoices')).body.data.total;
const mailsTo = (who: Person, subject: string) =>
  sql(product, 'select subject from mails where recipient = $1 and subject = $2', who.email, subject);

describe('an invoice that staff issues by hand', () => {
  it('is taxed like every other, and its customer finds it, is told of it and pays it', async () => {
    const { status, body } = await issue(dutch, { note: 'As agreed on the phone', duedate: '2999-01-01' });
    expect([status, body.code]).toEqual([400, 'invalid_request']);

    const issued = await issue(dutch, { note: 'As agreed on the phone' });
    expect(issued.status).toBe(200);
    const { id, ...shown } = issued.body.data.invoice;
    expect(shown).toMatchObject({
      ...{
        kind: 'manual',
        status: 'unpaid',
        subtotal: '200.00',
        tax: '42.00',
        total: '242.00',
        tax_rate: '21.00',
      },
      ...{ note: 'As agreed on the phone', organization: { id: dutch.organizationId } },
    });
    expect(shown.items).toMatchObject([{ quantity: '2.5', unit_price: '80.00', price: '200.00' }]);
    const seen = await invoiceOf(dutch, id);
    expect(seen).toMatchObject({ amount_due: '242.00', note: 'As agreed on the phone' });
    // What staff demands, its customer cannot wave away.
    expect(seen.actions.cancel).toMatchObject({ allowed: false, code: 'conflict' });
    expect((await dutch.post(`/dashboard/invoices/${id}/cancel`)).status).toBe(409);
    await settled(product);
    expect(await mailsTo(dutch, `A new invoice: ${id}`)).toHaveLength(1);

    expect((await payByCredit(dutch, id)).body.data.invoice).toMatchObject({ status: 'paid' });
    expect((await invoiceOf(dutch, id)).number).toMatch(/^\d{4}-\d{6}$/);
    const said = await sql(
      product,
      `select data->>'kind' as kind from journal where action = 'invoice.created' and subject_id = $1 and organization_id = $2`,
      ...[id, dutch.organizationId],
    );
    expect(said).toEqual([{ kind: 'manual' }]);
  });

  it('shows before what it would be, and leaves nothing behind', async () => {
    const before = await countOf(dutch);
    const [{ jobs } = { jobs: -1 }] = await sql<{ jobs: number }>(
      product,
      'select count(*)::int as jobs from jobs',
    );
    const tried = await issue(dutch, { dry_run: true });
    expect(tried.body.data).toMatchObject({
      dry_run: true,
      invoice: { id: null, number: null, total: '242.00' },
    });
    expect(await countOf(dutch)).toBe(before);
    expect(await sql(product, 'select count(*)::int as jobs from jobs')).toEqual([{ jobs }]);
    const done = await issue(dutch);
    const { id: _, created_at: __, payment_reference: ___, actions: ____, ...real } = done.body.data.invoice;
    expect(tried.body.data.invoice).toMatchObject(real);
  });

  it('is one invoice for one key, however often it is asked for', async () => {
    const before = await countOf(dutch);
    const key = { 'idempotency-key': 'by-hand-1' };
    const first = await issue(dutch, {}, key);
    const again = await issue(dutch, {}, key);
    expect(again.body.data.invoice.id).toBe(first.body.data.invoice.id);
    expect(await countOf(dutch)).toBe(before + 1);
    expect((await issue(dutch, { note: 'Other' }, key)).status).toBe(422);
  });

  it('stays open when nobody pays it, and when its service ends', async () => {
    const rich = await newCustomer(product, { creditMinor: 10_000 });
    const { serviceId } = await runningVps(product, rich);
    const issued = await issue(rich, { lines: [{ ...line, service_id: serviceId }] });
    const { id } = issued.body.data.invoice;
    await product.staff.post(`/staff/services/${serviceId}/terminate`, { reason: 'test' });
    await settled(product);
    product.clock.travel(40 * 86_400_000);
    await product.periodic('billing.expire');
    expect(await invoiceOf(rich, id)).toMatchObject({ status: 'unpaid', overdue: true });
  });

  it('of nothing to pay is paid with that', async () => {
    const { body } = await issue(dutch, { lines: [{ description: 'A gift', unit_price: '0.00' }] });
    expect(body.data.invoice).toMatchObject({ status: 'paid', total: '0.00' });
  });

  const foreign = async () => {
    const stranger = await newCustomer(product, { creditMinor: 1_000 });
    return (await orderVps(product, stranger)).serviceId;
  };
  it.each<[string, object | (() => Promise<object>), number, string]>([
    ['an amount as a number', { lines: [{ ...line, unit_price: 80 }] }, 400, 'invalid_request'],
    ['a negative amount', { lines: [{ ...line, unit_price: '-1.00' }] }, 400, 'invalid_request'],
    ['too many digits', { lines: [{ ...line, unit_price: '1.001' }] }, 400, 'invalid_request'],
    ['no quantity', { lines: [{ ...line, quantity: '0' }] }, 400, 'invalid_request'],
    ['a quantity that is none', { lines: [{ ...line, quantity: '1e3' }] }, 400, 'invalid_request'],
    ['a quantity of four digits', { lines: [{ ...line, quantity: '0.0001' }] }, 400, 'invalid_request'],
    ['a currency that is not sold', { currency: 'CHF' }, 400, 'currency_not_sold'],
    ['no lines', { lines: [] }, 400, 'invalid_request'],
    ['a day that is over', { duedate: '2020-01-01' }, 400, 'invalid_request'],
    ['nobody', { organization_id: 4503599627370449 }, 404, 'not_found'],
    [
      "somebody else's service",
      async () => ({ lines: [{ ...line, service_id: await foreign() }] }),
      ...([400, 'invalid_request'] as const),
    ],
    [
      'more than can be counted',
      { lines: [{ ...line, quantity: '999999', unit_price: '999999999999.99' }] },
      ...([400, 'amount_too_large'] as const),
    ],
  ])('is refused for %s, and nothing changes', async (_, change, status, code) => {
    const before = await countOf(dutch);
    const answer = await issue(dutch, typeof change === 'function' ? await change() : change);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await countOf(dutch)).toBe(before);
  });

  it.each(['support', 'operator'] as const)('is nothing that %s does', async (role) => {
    const who = await newStaff(product, role);
    const before = await countOf(dutch);
    expect((await who.post('/staff/invoices', asked(dutch))).status).toBe(403);
    const { id } = (await issue(dutch)).body.data.invoice;
    expect((await who.post(`/staff/invoices/${id}/cancel`, { reason: 'test' })).status).toBe(403);
    expect(await invoiceOf(dutch, id)).toMatchObject({ status: 'unpaid' });
    expect(await countOf(dutch)).toBe(before + 1);
  });
});

describe('a quantity', () => {
  it('is read as it is written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999 }), (thousandths) => {
        expect(parseQuantity(formatQuantity(thousandths))).toBe(thousandths);
      }),
    );
  });

  it('of a dry run costs what the invoice asks for, whatever the lines', async () => {
    const lines = fc.array(
      fc.record({
        description: fc.constantFrom('Work', 'Hours'),
        quantity: fc.integer({ min: 1, max: 20_000 }).map(formatQuantity),
        unit_price: fc.integer({ min: 0, max: 100_000 }).map((minor) => formatMoney(minor, 'EUR')),
      }),
      { minLength: 1, maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(lines, async (wanted) => {
        const tried = (await issue(dutch, { lines: wanted, dry_run: true })).body.data.invoice;
        const { id, ...real } = (await issue(dutch, { lines: wanted })).body.data.invoice;
        const sums = ['subtotal', 'tax', 'total', 'items', 'duedate', 'status'];
        for (const field of sums) expect(tried[field]).toEqual(real[field]);
        const each = wanted.map(({ quantity, unit_price }) =>
          Math.round((Number(quantity) * 1_000 * Math.round(Number(unit_price) * 100)) / 1_000),
        );
        expect(parseMoney(real.subtotal, 'EUR')).toBe(each.reduce((sum, minor) => sum + minor, 0));
        await cancelUnlessPaid(id, real.status);
      }),
      { numRuns: 10 },
    );
  }, 60_000);
});

async function cancelUnlessPaid(id: number, status: string) {
  if (status !== 'paid') expect((await cancel(id)).status).toBe(200);
}

describe('an invoice that staff cancels', () => {
  it('gives back what an order held, as when its customer cancels it, and tells the reason', async () => {
    const who = await newCustomer(product);
    const { invoiceId, serviceId } = await orderVps(product, who);
    await product.staff.post(`/staff/organizations/${who.organizationId}/transfers`, {
      ...{ amount: '1.00', currency: 'EUR', reference: `part of ${invoiceId}` },
    });
    const { body } = await cancel(invoiceId, 'We are out of machines');
    expect(body.data.invoice).toMatchObject({ status: 'cancelled', credited: '1.00', number: null });
    await settled(product);
    const { service } = (await who.get(`/dashboard/services/${serviceId}`)).body.data;
    expect(service.status).toBe('cancelled');
    expect(await mailsTo(who, `Invoice ${invoiceId} is cancelled`)).toHaveLength(1);
    const [mail] = await sql<{ body: string }>(
      product,
      'select body from mails where recipient = $1 and subject like $2',
      ...[who.email, `Invoice ${invoiceId} is cancelled`],
    );
    expect(mail?.body).toContain('We are out of machines');
    expect((await who.get('/dashboard/invoices')).body.data.credit_balance).toBe('1.00');
  });

  it('may be a renewal, which is dropped, and another one is issued when it is asked for', async () => {
    const who = await newCustomer(product, { creditMinor: 10_000 });
    const { serviceId } = await runningVps(product, who);
    const renew = async () =>
      (await who.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'monthly' })).body.data.invoice_id;
    const first = await renew();
    expect((await cancel(first)).status).toBe(200);
    await settled(product);
    const second = await renew();
    expect(second).not.toBe(first);
    await payByCredit(who, second);
    const { service } = await until(
      async () => (await who.get(`/dashboard/services/${serviceId}`)).body.data,
      (seen) => seen.service.status === 'active',
    );
    expect(service.duedate).not.toBeNull();
  });

  it('is cancelled once, and not once it is paid, also when both are asked for at once', async () => {
    const who = await newCustomer(product, { creditMinor: 10_000 });
    for (let nth = 0; nth < 3; nth += 1) {
      const id = await newInvoice(product, who);
      const answers = await Promise.all([cancel(id), payByCredit(who, id), cancel(id)]);
      const done = answers.filter(({ status }) => status === 200);
      expect(done).toHaveLength(1);
      for (const { status, body } of answers)
        if (status !== 200) expect([409, body.code !== undefined]).toEqual([status, true]);
    }
    expect((await cancel(4503599627370449)).status).toBe(404);
  });
});
