import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';
import { formatMoney } from '../../platform/index.ts';

const lines = [
  { description: 'Moving a website', quantity: '2.5', unit_price: '80.00' },
  { description: 'A certificate', unit_price: '9.99' },
];

async function correctness(product: TestProduct) {
  await settled(product);
  expect(await audit(product.databaseUrl)).toEqual([]);
}

const issue = async (product: TestProduct, who: Person, of: object[] = lines): Promise<number> => {
  const body = { organization_id: who.organizationId, currency: 'EUR', lines: of };
  const answer = await product.staff.post('/staff/invoices', body);
  expect(answer.status).toBe(200);
  return answer.body.data.invoice.id;
};
const correctBy =
  (product: TestProduct) =>
  (id: number, body: object = {}) =>
    product.staff.post(`/staff/invoices/${id}/correct`, { method: 'credit', reason: 'A slip', ...body });
const invoiceOf = async (who: Person, id: number) =>
  (await who.get(`/dashboard/invoices/${id}`)).body.data.invoice;
const creditOf = async (who: Person) => (await who.get('/dashboard/invoices')).body.data.credit_balance;
const notesOf = async (who: Person, id: number) =>
  (await who.get('/dashboard/invoices')).body.data.invoices
    .filter((each: { corrects_invoice_id: number }) => each.corrects_invoice_id === id)
    .reverse();

describe('a correction of a paid invoice', () => {
  let product: TestProduct;
  let who: Person;
  const correct = (id: number, body: object = {}) => correctBy(product)(id, body);
  beforeAll(async () => {
    product = await startTestProduct();
    await sql(product, `insert into tax_rates (country, rate_basis_points) values ('NL', 2100)`);
    who = await newCustomer(product, { country: 'NL', creditMinor: 10_000_000 });
  });
  afterAll(async () => {
    await correctness(product);
    await product.stop();
  });
  const paidInvoice = async (of: object[] = lines) => {
    const id = await issue(product, who, of);
    expect((await payByCredit(who, id)).status).toBe(200);
    return id;
  };

  it('takes lines of it back with their tax, by a credit note that names them, and says so', async () => {
    const id = await paidInvoice();
    const before = Number(await creditOf(who));
    const tried = await correct(id, { lines: [{ line: 2 }], dry_run: true });
    expect(tried.body.data).toMatchObject({
      dry_run: true,
      credit_note: { id: null, number: null, subtotal: '-9.99', tax: '-2.10', total: '-12.09' },
      invoice: { refunded: '12.09' },
    });
    expect(await notesOf(who, id)).toEqual([]);
    const { status, body } = await correct(id, { lines: [{ line: 2 }] });
    expect(status).toBe(200);
    expect(body.data.invoice).toMatchObject({ status: 'partially_refunded', refunded: '12.09' });
    expect(body.data.credit_note).toMatchObject({
      ...{ kind: 'credit_note', corrects_invoice_id: id, reason: 'A slip', total: '-12.09', tax: '-2.10' },
      items: [{ description: 'A certificate', price: '-9.99' }],
    });
    expect(body.data.credit_note.number).toMatch(/^CN-\d{4}-\d{6}$/);
    expect(Number(await creditOf(who)) - before).toBeCloseTo(12.09);
    await settled(product);
    const mails = await sql(product, 'select id from mails where subject = $1', `Refund for invoice ${id}`);
    expect(mails).toHaveLength(1);

    const part = await correct(id, { lines: [{ line: 1, amount: '50.00' }] });
    expect(part.body.data.credit_note).toMatchObject({ subtotal: '-50.00', tax: '-10.50', total: '-60.50' });
    const over = await correct(id, { lines: [{ line: 1, amount: '150.01' }] });
    expect([over.status, over.body.code]).toEqual([400, 'invalid_amount']);
    expect((await correct(id, { lines: [{ line: 2, amount: '0.01' }] })).body.code).toBe('invalid_amount');
    const rest = await correct(id);
    expect(rest.body.data.invoice).toMatchObject({ status: 'refunded', refunded: '254.09' });
    expect((await correct(id)).body.code).toBe('conflict');
  });

  it('of all of it lists all of its lines', async () => {
    const id = await paidInvoice();
    const { credit_note: note } = (await correct(id)).body.data;
    expect(note).toMatchObject({ total: '-254.09', tax: '-44.10', subtotal: '-209.99' });
    expect(note.items.map(({ price }: { price: string }) => price)).toEqual(['-200.00', '-9.99']);
  });

  it('adds up to the cent with refunds, whatever comes when, and never to more than was paid', async () => {
    const priced = fc.integer({ min: 1, max: 9_999 }).map((minor) => formatMoney(minor, 'EUR'));
    const act = fc.oneof(
      fc.record({ line: fc.integer({ min: 1, max: 3 }), amount: priced }),
      fc.record({ line: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ refund: priced }),
      fc.constant('rest'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(priced, { minLength: 3, maxLength: 3 }),
        fc.array(act, { minLength: 3, maxLength: 8 }),
        async (prices, acts) => {
          const id = await paidInvoice(prices.map((unit_price) => ({ description: 'Work', unit_price })));
          // At once: every two of them want the same money.
          await Promise.all(
            acts.map((each) => {
              if (typeof each === 'string') return correct(id);
              if ('refund' in each) {
                const refund = { amount: each.refund, reason: 'Test', method: 'credit' };
                return product.staff.post(`/staff/invoices/${id}/refund`, refund);
              }
              return correct(id, { lines: [each] });
            }),
          );
          await correct(id);
          const invoice = await invoiceOf(who, id);
          const notes = await notesOf(who, id);
          const sum = (field: string) =>
            notes.reduce(
              (total: number, note: Record<string, string>) => total + Math.round(Number(note[field]) * 100),
              0,
            );
          expect(invoice).toMatchObject({ status: 'refunded', refunded: invoice.total });
          expect(formatMoney(-sum('total'), 'EUR')).toBe(invoice.total);
          expect(formatMoney(-sum('tax'), 'EUR')).toBe(invoice.tax);
          for (const { tax, total } of notes) {
            expect(Number(tax)).toBeLessThanOrEqual(0);
            expect(Number(total) - Number(tax)).toBeLessThanOrEqual(0);
          }
        },
      ),
      { numRuns: 8 },
    );
    await correctness(product);
  }, 120_000);

  it.each<[string, object, number, string]>([
    ['a line that it lacks', { lines: [{ line: 3 }] }, 400, 'invalid_request'],
    ['a line named twice', { lines: [{ line: 1, amount: '1.00' }, { line: 1 }] }, 400, 'invalid_request'],
    ['no lines', { lines: [] }, 400, 'invalid_request'],
    ['nothing', { lines: [{ line: 1, amount: '0.00' }] }, 400, 'invalid_amount'],
    ['a negative amount', { lines: [{ line: 1, amount: '-1.00' }] }, 400, 'invalid_amount'],
    ['an amount as a number', { lines: [{ line: 1, amount: 1 }] }, 400, 'invalid_request'],
    ['no reason', { reason: '' }, 400, 'invalid_request'],
    ['the way it came, where it did not come', { method: 'original' }, 409, 'conflict'],
  ])('is refused for %s, and nothing changes', async (_, body, status, code) => {
    const id = await paidInvoice();
    const answer = await correct(id, body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await invoiceOf(who, id)).toMatchObject({ status: 'paid', refunded: '0.00' });
  });

  it('is none of an open invoice without a number, of a credit note, of nobody, or by who is not trusted with money', async () => {
    const open = await newInvoice(product, who);
    expect((await correct(open)).body.message).toMatch(/no number yet.*cancel it/);
    const id = await paidInvoice();
    const { credit_note: note } = (await correct(id)).body.data;
    expect((await correct(note.id)).status).toBe(409);
    expect((await correct(4503599627370449)).status).toBe(404);
    const other = await paidInvoice();
    for (const role of ['support', 'operator'] as const) {
      const someone = await newStaff(product, role);
      const answer = await someone.post(`/staff/invoices/${other}/correct`, {
        method: 'credit',
        reason: 'x',
      });
      expect(answer.status).toBe(403);
    }
    expect(await invoiceOf(who, other)).toMatchObject({ status: 'paid', refunded: '0.00' });
  });

  it('is one for one key', async () => {
    const id = await paidInvoice();
    const body = { method: 'credit', reason: 'A slip', lines: [{ line: 1, amount: '1.00' }] };
    const key = { 'idempotency-key': 'correct-1' };
    const path = `/staff/invoices/${id}/correct`;
    const answers = [
      await product.staff.request('POST', path, body, key),
      await product.staff.request('POST', path, body, key),
    ];
    expect(answers[1]?.body.data.credit_note.id).toBe(answers[0]?.body.data.credit_note.id);
    expect(await invoiceOf(who, id)).toMatchObject({ refunded: '1.21' });
  });

  it('of a service gives back first what of that service is not earned', async () => {
    const id = await newInvoice(product, who, 2);
    await payByCredit(who, id);
    await correct(id, { lines: [{ line: 2 }] });
    const left = await sql<{ place: number; left: number }>(
      product,
      `select l.ordinal as place, (d.amount_minor - d.returned_minor)::int as left from deferrals d
       join invoice_items l on l.invoice_id = d.invoice_id and l.service_id = d.service_id
       where d.invoice_id = $1 order by 1`,
      id,
    );
    expect(left).toEqual([
      { place: 1, left: 300 },
      { place: 2, left: 0 },
    ]);
  });

  it('has the tax inside where prices have it inside', async () => {
    await product.staff.patch('/staff/settings', { tax: { prices: 'gross' } });
    const id = await paidInvoice([{ description: 'Work', unit_price: '121.00' }, ...lines.slice(1)]);
    await product.staff.patch('/staff/settings', { tax: { prices: 'net' } });
    const part = (await correct(id, { lines: [{ line: 1, amount: '12.10' }] })).body.data.credit_note;
    expect(part).toMatchObject({ tax_included: true, subtotal: '-12.10', tax: '-2.10', total: '-12.10' });
    const { invoice } = (await correct(id)).body.data;
    expect(invoice).toMatchObject({ status: 'refunded', refunded: '130.99' });
  });
});

describe('a correction of an invoice that is numbered and not paid', () => {
  let product: TestProduct;
  let who: Person;
  beforeAll(async () => {
    product = await startTestProduct({ env: { INVOICE_NUMBERING: 'issue' } });
    who = await newCustomer(product, { country: 'NL', creditMinor: 10_000 });
  });
  afterAll(async () => {
    await correctness(product);
    await product.stop();
  });

  it('takes it back whole, and what was paid towards it becomes credit', async () => {
    const id = await issue(product, who);
    const transfer = { amount: '9.99', currency: 'EUR', reference: 'part', invoices: [{ invoice_id: id }] };
    await product.staff.post(`/staff/organizations/${who.organizationId}/transfers`, transfer);
    const correct = correctBy(product);
    const refused = await correct(id, { lines: [{ line: 1 }] });
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringMatching(/taken back whole/)]);
    expect((await correct(id, { method: 'original' })).status).toBe(409);
    const { body } = await correct(id);
    expect(body.data.invoice).toMatchObject({ status: 'cancelled', credited: '9.99', amount_due: '0.00' });
    expect(body.data.credit_note).toMatchObject({ total: '-209.99', reason: 'A slip' });
    expect(await creditOf(who)).toBe('109.99');
    expect((await correct(id)).status).toBe(409);
  });
});

describe('a correction that goes back by the way it came', () => {
  let paid: PaidProduct;
  beforeAll(async () => {
    paid = await startPaidProduct();
  });
  afterAll(async () => {
    await correctness(paid.product);
    await paid.stop();
  });

  it('is one credit note, with what came from credit as credit', async () => {
    const { product } = paid;
    const who = await newCustomer(product, { creditMinor: 5_000 });
    const id = await issue(product, who);
    const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card', use_credit: true });
    await paid.click(body.data.redirect_url);
    await until(
      () => invoiceOf(who, id),
      ({ status }) => status === 'paid',
    );
    await settled(product);
    const answer = await correctBy(product)(id, { method: 'original' });
    expect(answer.body.data.credit_note).toMatchObject({ total: '-209.99' });
    await settled(product);
    expect(await notesOf(who, id)).toHaveLength(1);
    expect(await creditOf(who)).toBe('50.00');
    const back = await sql(
      product,
      'select method, amount_minor, state from refunds where invoice_id = $1 order by method',
      id,
    );
    expect(back).toMatchObject([
      { method: 'credit', state: 'done' },
      { method: 'original', state: 'done' },
    ]);
  });
});
