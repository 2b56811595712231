/** Legal numbers, and what stays as it is once an invoice has one. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';

interface Row {
  id: number;
  number: string;
  series: string;
  sequence: number;
  kind: string;
  corrects: number | null;
}

const numbered = (product: TestProduct) =>
  sql<Row>(
    product,
    'select id, number, series, sequence, kind, corrects from invoices where number is not null order by series, sequence',
  );
const year = (product: TestProduct) => product.clock.now().getUTCFullYear();

/** Every series begins with one and goes on without a gap, and a number says its place in it. */
async function expectGapless(product: TestProduct): Promise<void> {
  const rows = await numbered(product);
  for (const [series, ofSeries] of Map.groupBy(rows, (row) => row.series)) {
    expect(ofSeries.map((row) => row.sequence)).toEqual(ofSeries.map((_, at) => at + 1));
    for (const { number, sequence } of ofSeries)
      expect([number.slice(0, series.length), Number(number.slice(series.length))]).toEqual([
        series,
        sequence,
      ]);
  }
  const last = await sql<{ prefix: string; last: number }>(
    product,
    'select prefix, last from invoice_series',
  );
  for (const { prefix, last: given } of last)
    expect(
      rows.filter((row) => row.series === prefix),
      prefix,
    ).toHaveLength(given);
}

const invoiceOf = async (person: Person, id: number) =>
  (await person.get(`/dashboard/invoices/${id}`)).body.data.invoice;

describe('numbers that are given when an invoice is paid', () => {
  let product: TestProduct;
  let customer: Person;
  beforeAll(async () => {
    product = await startTestProduct();
    customer = await newCustomer(product, { creditMinor: 1_000_000 });
  });
  afterAll(() => product.stop());

  it('never go back in time by a clock that is a moment behind, and follow one that was put right', async () => {
    const issuedAfter = async (ms: number): Promise<string> => {
      product.clock.travel(ms);
      const id = await newInvoice(product, customer);
      await payByCredit(customer, id);
      return (await invoiceOf(customer, id)).issued_at;
    };
    const before = await issuedAfter(0);
    expect(await issuedAfter(-20_000)).toBe(before);
    expect((await issuedAfter(21_000)) > before).toBe(true);
    expect((await issuedAfter(-3_600_000)) < before).toBe(true);
    product.clock.travel(3_600_000);
  });

  it('are not there before, and say the year and a place without a gap after', async () => {
    const id = await newInvoice(product, customer);
    expect(await invoiceOf(customer, id)).toMatchObject({ number: null, issued_at: null, kind: 'order' });
    await payByCredit(customer, id);
    const paid = await invoiceOf(customer, id);
    expect(paid.number).toMatch(new RegExp(`^${year(product)}-\\d{6}$`));
    expect(paid.issued_at).toBe(paid.date_paid);
    expect(paid.payment_reference).toMatch(/^RF\d{2}/);
  });

  it('have no gap and no double, however payments, refunds and failures meet', async () => {
    const poor = await newCustomer(product);
    const act = fc.array(fc.constantFrom('pay', 'fail', 'refund', 'refund a part', 'pay twice'), {
      minLength: 4,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(act, async (acts) => {
        await Promise.all(
          acts.map(async (what) => {
            const person = what === 'fail' ? poor : customer;
            const id = await newInvoice(product, person);
            await Promise.all([payByCredit(person, id), what === 'pay twice' && payByCredit(person, id)]);
            if (!what.startsWith('refund')) return;
            const amount = what === 'refund' ? {} : { amount: '1.00' };
            const body = { reason: 'Test', method: 'credit', ...amount };
            // The second may find nothing left.
            await Promise.all([1, 2].map(() => product.staff.post(`/staff/invoices/${id}/refund`, body)));
          }),
        );
        await expectGapless(product);
      }),
      { numRuns: 6 },
    );
  }, 120_000);

  it('go by the settings of the moment, begin anew with the year, and stay when those change', async () => {
    const pay = async () => {
      const id = await newInvoice(product, customer);
      await payByCredit(customer, id);
      return (await invoiceOf(customer, id)).number;
    };
    await pay();
    const before = await numbered(product);
    const { status } = await product.staff.patch('/staff/settings', {
      numbering: { prefix: 'INV-', digits: 3 },
    });
    expect(status).toBe(200);
    expect([await pay(), await pay()]).toEqual([`INV-${year(product)}-001`, `INV-${year(product)}-002`]);
    await product.staff.patch('/staff/settings', { numbering: { prefix: '', digits: 6 } });
    expect(await pay()).toBe(
      `${year(product)}-${String(before.filter((row) => row.series === `${year(product)}-`).length + 1).padStart(6, '0')}`,
    );
    for (const row of before) expect(await numbered(product)).toContainEqual(row);
    product.clock.travel(366 * 86_400_000);
    expect(await pay()).toBe(`${year(product)}-000001`);
  });

  it('that were given after a backup are never given again, once it is restored', async () => {
    const pay = async () => {
      const id = await newInvoice(product, customer);
      await payByCredit(customer, id);
      return (await invoiceOf(customer, id)).number;
    };
    const restore = async () => {
      const now = product.clock.now();
      await sql(product, 'insert into restores (made_at, restored_at, settled_at) values ($1, $1, $1)', now);
      return `${year(product)}-R${now.toISOString().slice(5, 19).replaceAll(/[-T:]/g, '')}-`;
    };
    await pay();
    const series = await restore();
    expect([await pay(), await pay()]).toEqual([`${series}000001`, `${series}000002`]);
    // Also when it had to be restored once more a moment later.
    product.clock.travel(1_000);
    expect(`${await restore()}000001`).toBe(await pay());
    await expectGapless(product);
    product.clock.travel(366 * 86_400_000);
    expect(await pay()).toBe(`${year(product)}-000001`);
  });

  it('are of a series of their own from the first one on after a failover, also before anybody has said what it was', async () => {
    const pay = async () => {
      const id = await newInvoice(product, customer);
      await payByCredit(customer, id);
      return [id, (await invoiceOf(customer, id)).number] as const;
    };
    const known = () =>
      sql<{ timeline: string }>(product, 'select timeline from installation where timeline is not null');
    const [before] = await until(known, (rows) => rows.length === 1);
    const [, plain] = await pay();
    await sql(product, `update installation set timeline = '000000FF'`);
    const [id, first] = await pay();
    const [seen] = await sql<{ at: Date }>(product, 'select recovery_seen_at as at from installation');
    const second = seen?.at.toISOString().slice(5, 19).replaceAll(/[-T:]/g, '');
    expect(first).toBe(`${year(product)}-R${second}-000001`);
    await product.staff.post(`/staff/invoices/${id}/refund`, { reason: 'Test', method: 'credit' });
    const [note] = await sql<Row>(product, 'select number from invoices where corrects = $1', id);
    expect(note?.number).toBe(`CN-${first}`);
    product.clock.travel(3_600_000);
    expect((await pay())[1]).toBe(first.replace(/1$/, '2'));
    await expectGapless(product);
    // Nothing was lost.
    await sql(product, 'update installation set timeline = $1, recovery_seen_at = null', before?.timeline);
    const next = Number(plain.slice(-6)) + 1;
    expect((await pay())[1]).toBe(`${plain.slice(0, -6)}${String(next).padStart(6, '0')}`);
    await expectGapless(product);
  });

  it.each([
    { prefix: 'A B' },
    { prefix: 'Ä' },
    { prefix: 'x'.repeat(11) },
    { credit_note_prefix: '' },
    { digits: 0 },
  ])('cannot be made to look like %j', async (change) => {
    expect((await product.staff.patch('/staff/settings', { numbering: change })).status).toBe(400);
  });
});

describe('a credit note', () => {
  let product: TestProduct;
  let customer: Person;
  beforeAll(async () => {
    product = await startTestProduct();
    customer = await newCustomer(product, { creditMinor: 100_000 });
  });
  afterAll(() => product.stop());

  it('follows each refund, in a series of its own, listed with the invoices, negative and never to be paid', async () => {
    const id = await newInvoice(product, customer);
    await payByCredit(customer, id);
    for (const amount of ['1.00', '2.00']) {
      const body = { amount, reason: `Gave ${amount} back`, method: 'credit' };
      expect((await product.staff.post(`/staff/invoices/${id}/refund`, body)).status).toBe(200);
    }
    const { number } = await invoiceOf(customer, id);
    const { invoices } = (await customer.get('/dashboard/invoices?limit=2')).body.data;
    expect(invoices).toMatchObject([
      {
        kind: 'credit_note',
        number: `CN-${year(product)}-000002`,
        status: 'paid',
        total: '-2.00',
        amount_due: '0.00',
        corrects_invoice_id: id,
        reason: 'Gave 2.00 back',
        items: [{ description: `Invoice ${number}`, price: '-2.00' }],
        payments: [],
      },
      { kind: 'credit_note', number: `CN-${year(product)}-000001`, total: '-1.00', corrects_invoice_id: id },
    ]);
    const [{ id: note }] = invoices;
    const answers = [
      await payByCredit(customer, note),
      await customer.post(`/dashboard/invoices/${note}/cancel`),
      await product.staff.post(`/staff/invoices/${note}/refund`, { reason: 'Again', method: 'credit' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409]);
  });

  it('takes back the tax that the refund gives back, to the cent', async () => {
    await sql(product, `insert into tax_rates values ('NL', 2100) on conflict do nothing`);
    const taxed = await newCustomer(product, { creditMinor: 100_000, country: 'NL' });
    const id = await newInvoice(product, taxed);
    await payByCredit(taxed, id);
    const invoice = await invoiceOf(taxed, id);
    for (const amount of ['0.01', '1.17', undefined]) {
      const body = { reason: 'Test', method: 'credit', ...(amount && { amount }) };
      await product.staff.post(`/staff/invoices/${id}/refund`, body);
    }
    const { invoices } = (await taxed.get('/dashboard/invoices')).body.data;
    const notes = invoices.filter((each: { kind: string }) => each.kind === 'credit_note');
    const sum = (field: string) =>
      notes.reduce(
        (all: number, note: Record<string, string>) => all + Math.round(Number(note[field]) * 100),
        0,
      );
    expect(Number(invoice.tax)).toBeGreaterThan(0);
    expect(sum('total') + Math.round(Number(invoice.total) * 100)).toBe(0);
    expect(sum('tax') + Math.round(Number(invoice.tax) * 100)).toBe(0);
  });
});

describe('an invoice that has a number', () => {
  let product: TestProduct;
  let customer: Person;
  let id: number;
  beforeAll(async () => {
    product = await startTestProduct();
    customer = await newCustomer(product, { creditMinor: 100_000 });
    await product.staff.patch('/staff/settings', { company: { name: 'Before B.V.', city: 'Amsterdam' } });
    id = await newInvoice(product, customer);
    await payByCredit(customer, id);
  });
  afterAll(() => product.stop());

  it('keeps company and customer as they were', async () => {
    const parties = () => sql(product, 'select seller, buyer from invoices where id = $1', id);
    const before = await parties();
    expect(before).toMatchObject([{ seller: { name: 'Before B.V.', city: 'Amsterdam' } }]);
    await product.staff.patch('/staff/settings', { company: { name: 'After B.V.', city: null } });
    await sql(product, `update organizations set name = 'Another' where id = $1`, customer.organizationId);
    expect(await parties()).toEqual(before);
  });

  it.each([
    'update invoices set total_minor = total_minor + 1, subtotal_minor = subtotal_minor + 1 where id = $1',
    `update invoices set number = 'X' where id = $1`,
    'update invoices set number = null, series = null, sequence = null, issued_at = null where id = $1',
    `update invoices set buyer = '{}' where id = $1`,
    `update invoices set seller = null where id = $1`,
    `update invoices set tax_country = 'XX' where id = $1`,
    `update invoices set created_at = created_at + interval '1 day' where id = $1`,
    'delete from invoices where id = $1',
    `update invoice_items set description = 'other' where invoice_id = $1`,
    'delete from invoice_items where invoice_id = $1',
    `insert into invoice_items select invoice_id, 9, organization_id, null, null, 'more', 1, 0, 0 from invoice_items
     where invoice_id = $1`,
  ])('stays as it is, whoever writes: %s', async (text) => {
    const before = await invoiceOf(customer, id);
    await expect(sql(product, text, id)).rejects.toThrow(/stay/);
    expect(await invoiceOf(customer, id)).toEqual(before);
  });
});

it('what was issued stays as it is also for whoever has a table of the same name', async () => {
  const product = await startTestProduct();
  const customer = await newCustomer(product, { creditMinor: 1_000 });
  const id = await newInvoice(product, customer);
  await payByCredit(customer, id);
  const client = new pg.Client({ connectionString: product.databaseUrl });
  await client.connect();
  try {
    // Found before the product's, by whoever says no schema.
    await client.query(`create temp table invoices (id bigint, number text);
      create temp table organizations (id bigint, status text);
      insert into organizations select id, 'closed' from public.organizations;
      create temp table ledger_entries (transaction_id bigint, amount_minor bigint)`);
    for (const text of [
      `update public.invoice_items set description = 'other' where invoice_id = ${id}`,
      `delete from public.invoice_items where invoice_id = ${id}`,
      `begin; set local innkeeper.forgetting = 'on'; update public.invoices set buyer = null where id = ${id}; commit`,
    ])
      await expect(client.query(text), text).rejects.toThrow(/stay/);
    await client.query('rollback');
    const unbalanced = `insert into public.ledger_entries (transaction_id, account_id, amount_minor)
      select t.id, a.id, 1 from public.ledger_transactions t, public.ledger_accounts a
      where a.organization_id is null and not exists (
        select 1 from public.ledger_entries e where e.transaction_id = t.id and e.account_id = a.id) limit 1`;
    await expect(client.query(unbalanced)).rejects.toThrow(/does not balance/);
  } finally {
    await client.end();
    await product.stop();
  }
});

describe('numbers that are given when an invoice is issued', () => {
  let product: TestProduct;
  let customer: Person;
  beforeAll(async () => {
    product = await startTestProduct({ env: { INVOICE_NUMBERING: 'issue' } });
    customer = await newCustomer(product, { creditMinor: 100_000 });
  });
  afterAll(() => product.stop());

  it('are there at once, without a gap, however many order and whoever fails, and stay with the payment', async () => {
    const refused = { products: [{ id: 999_999, cycle: 'monthly', type: 'Hosting' }] };
    const orders = await Promise.all(
      Array.from({ length: 20 }, async (_, nth) => {
        if (nth % 5 === 0) await customer.post('/cart/checkout/invoice', refused);
        return newInvoice(product, customer);
      }),
    );
    await expectGapless(product);
    expect(await numbered(product)).toHaveLength(20);
    const [first = 0] = orders;
    const before = await invoiceOf(customer, first);
    await payByCredit(customer, first);
    expect(await invoiceOf(customer, first)).toMatchObject({
      status: 'paid',
      number: before.number,
      issued_at: before.issued_at,
    });
    await expectGapless(product);
  });

  it('of an order that is given up or not paid in time are taken back by a credit note', async () => {
    const [given, forgotten] = [await newInvoice(product, customer), await newInvoice(product, customer)];
    expect((await customer.post(`/dashboard/invoices/${given}/cancel`)).status).toBe(200);
    product.clock.travel(97 * 3_600_000);
    await product.periodic('billing.expire');
    for (const id of [given, forgotten]) {
      const invoice = await invoiceOf(customer, id);
      const { number } = invoice;
      expect(invoice).toMatchObject({ status: 'cancelled', amount_due: '0.00' });
      const notes = (await numbered(product)).filter((row) => row.corrects === id);
      expect(notes, number).toHaveLength(1);
    }
    await expectGapless(product);
  });

  it.each<[string, (serviceId: number, invoiceId: number) => Promise<unknown>]>([
    [
      'of a renewal whose service ends',
      (serviceId) => product.staff.post(`/staff/services/${serviceId}/terminate`, { reason: 'test' }),
    ],
    [
      'of a renewal whose service is cancelled',
      (serviceId) => customer.post(`/dashboard/services/${serviceId}/cancel`, { type: 'end_of_period' }),
    ],
    [
      'of a renewal in whose place another is asked for',
      (serviceId) => customer.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'annually' }),
    ],
    [
      'of what staff cancels',
      (_, invoiceId) => product.staff.post(`/staff/invoices/${invoiceId}/cancel`, { reason: 'test' }),
    ],
  ])('%s are taken back by a credit note', async (_, end) => {
    const { serviceId } = await runningVps(product, customer);
    const renewal = await customer.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'monthly' });
    const id = renewal.body.data.invoice_id;
    await end(serviceId, id);
    const invoice = await invoiceOf(customer, id);
    expect(invoice).toMatchObject({ status: 'cancelled', amount_due: '0.00' });
    expect(invoice.number).not.toBeNull();
    const notes = await sql<{ total: number; back: number }>(
      product,
      'select i.total_minor as total, n.total_minor as back from invoices n join invoices i on i.id = n.corrects where i.id = $1',
      id,
    );
    expect(notes).toEqual([{ total: expect.any(Number), back: -Number(notes[0]?.total) }]);
    await expectGapless(product);
  });
});
