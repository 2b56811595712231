/** Documents over HTTP, looked at by programs that did not write them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { type Files, FilesError } from '../../drivers/files/index.ts';
import { pngOf } from '../../drivers/hypervisor/png.ts';
import { runProgram } from '../../platform/host/program.ts';
import { referenceOf } from './reference.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-documents-'));
const seller = {
  name: 'Example Hosting GmbH',
  address_line1: 'Hauptstraße 1',
  postal_code: '10115',
  city: 'Berlin',
  country: 'DE',
  vat_id: 'DE136695976',
  iban: 'DE75512108001245126199',
  bic: 'SOGEDEFFXXX',
};

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product, { creditMinor: 1_000_000 });
  const { status } = await product.staff.patch('/staff/settings', { company: seller });
  expect(status).toBe(200);
});
afterAll(async () => {
  await product.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** An answer of bytes. */
async function download(person: Pick<Person, 'key' | 'organizationId'>, url: string, at = product) {
  const headers = { token: person.key, 'x-organization-id': String(person.organizationId) };
  const response = await fetch(`${at.url}/api${url}`, { headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

async function pdfOf(person: Person, id: number, at = product) {
  const { response, bytes } = await download(person, `/dashboard/invoices/${id}/pdf`, at);
  expect(response.status).toBe(200);
  const file = path.join(dir, `${id}.pdf`);
  writeFileSync(file, bytes);
  return { response, bytes, file };
}

const textOf = async (file: string) => (await runProgram(['pdftotext', '-layout', file, '-'])).stdout;

async function paidInvoice(person = customer, pieces = 1): Promise<number> {
  const id = await newInvoice(product, person, pieces);
  expect((await payByCredit(person, id)).status).toBe(200);
  return id;
}

it('who wants many documents at once keeps nobody waiting for all of them', async () => {
  const [eager, other] = [await newCustomer(product), await newCustomer(product)];
  // What has no number yet is drawn each time.
  const [many, one] = [await newInvoice(product, eager), await newInvoice(product, other)];
  await pdfOf(other, one);
  let made = 0;
  const first = Promise.withResolvers<void>();
  const asked = Array.from({ length: 24 }, async () => {
    const { response } = await download(eager, `/dashboard/invoices/${many}/pdf`);
    made += 1;
    first.resolve();
    expect(response.status).toBe(200);
  });
  await first.promise;
  await pdfOf(other, one);
  expect(made).toBeLessThan(18);
  await Promise.all(asked);
});

describe('an invoice as PDF', () => {
  it('says who sells, who buys, what and for how much, under its number', async () => {
    const id = await paidInvoice();
    const { invoice } = (await customer.get(`/dashboard/invoices/${id}`)).body.data;
    const { response, file } = await pdfOf(customer, id);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(response.headers.get('content-disposition')).toContain(`${invoice.number}.pdf`);
    const text = await textOf(file);
    const said = [
      `Invoice ${invoice.number}`,
      'Example Hosting GmbH',
      'A company',
      '10115 Berlin',
      'DE136695976',
    ];
    for (const part of [...said, invoice.items[0].description, '3.00', 'Paid on', 'Page 1 of 1'])
      expect(text).toContain(part);
    expect(text).not.toContain('Please transfer');
  });

  it('is sound, tagged PDF/A-3 with all its fonts inside', async () => {
    const { bytes, file } = await pdfOf(customer, await paidInvoice());
    expect((await runProgram(['qpdf', '--check', file])).stdout).toContain(
      'No syntax or stream encoding errors',
    );
    const fonts = (await runProgram(['pdffonts', file])).stdout.trim().split('\n').slice(2);
    expect(fonts).toHaveLength(2);
    // emb, sub, uni
    for (const font of fonts) expect(font).toMatch(/ yes +yes +yes /);
    expect((await runProgram(['pdfinfo', file])).stdout).toMatch(/Tagged: +yes/);
    expect(bytes.toString('latin1')).toMatch(/pdfaid:part>3<[\s\S]*pdfaid:conformance>B</);
    const structure = (await runProgram(['pdfinfo', '-struct', file])).stdout;
    for (const element of ['Document', 'H1', 'Table', 'TR', 'TH', 'TD', 'P'])
      expect(structure).toMatch(new RegExp(`^ *${element}\\b`, 'm'));
  });

  it('is the same bytes each time, whatever changes meanwhile', async () => {
    const id = await paidInvoice();
    const { bytes } = await pdfOf(customer, id);
    await product.staff.patch('/staff/settings', { company: { name: 'Renamed GmbH' } });
    product.clock.travel(40 * 86_400_000);
    await product.staff.post(`/staff/invoices/${id}/refund`, { reason: 'Test', method: 'credit' });
    expect((await pdfOf(customer, id)).bytes.equals(bytes)).toBe(true);
    // Also when it has to be drawn again: the row alone says it all.
    rmSync(product.ctx.config.filesDir, { recursive: true });
    expect((await pdfOf(customer, id)).bytes.equals(bytes)).toBe(true);
    const staff = await fetch(`${product.url}/api/staff/invoices/${id}/pdf`, {
      headers: { token: product.demo.staff.api_key },
    });
    expect(Buffer.from(await staff.arrayBuffer()).equals(bytes)).toBe(true);
    await product.staff.patch('/staff/settings', { company: seller });
  });

  it('has the logo of the day it was written, with the name below it, and keeps it whatever the brand is later', async () => {
    const set = async (content: Buffer | null) => {
      const { body } =
        content === null
          ? { body: { data: { picture: null } } }
          : await product.staff.post('/staff/brand/pictures', { content_base64: content.toString('base64') });
      await product.staff.patch('/staff/settings', { brand: { logo_light: body.data.picture } });
    };
    const picturesIn = async (file: string) =>
      (await runProgram(['pdfimages', '-list', file])).stdout.trim().split('\n').slice(2);
    await set(pngOf({ width: 200, height: 50 }, Buffer.alloc(200 * 50 * 3, 90)));
    const [drawn, later] = [await paidInvoice(), await paidInvoice()];
    const first = await pdfOf(customer, drawn);
    expect(await picturesIn(first.file)).toEqual([expect.stringMatching(/ 200 +50 +rgb /)]);
    expect(await textOf(first.file)).toContain('Example Hosting GmbH');
    expect((await runProgram(['qpdf', '--check', first.file])).stdout).toContain('No syntax or stream');
    expect((await runProgram(['pdfinfo', '-struct', first.file])).stdout).toMatch(/^ *Figure\b/m);
    await set(pngOf({ width: 64, height: 64 }, Buffer.alloc(64 * 64 * 3, 10)));
    // What was drawn, what was only written, and what is new.
    expect((await pdfOf(customer, drawn)).bytes.equals(first.bytes)).toBe(true);
    expect(await picturesIn((await pdfOf(customer, later)).file)).toEqual([
      expect.stringMatching(/ 200 +50 /),
    ]);
    const third = await paidInvoice();
    expect(await picturesIn((await pdfOf(customer, third)).file)).toEqual([
      expect.stringMatching(/ 64 +64 /),
    ]);
    await set(null);
    expect(await picturesIn((await pdfOf(customer, await paidInvoice())).file)).toEqual([]);
  });

  it('is kept where files are kept, and read from there', async () => {
    const id = await paidInvoice();
    const { bytes } = await pdfOf(customer, id);
    const { issued_at: day, number } = (await customer.get(`/dashboard/invoices/${id}`)).body.data.invoice;
    const kept = path.join(product.ctx.config.filesDir, 'invoices', day.slice(0, 7), `${id}-${number}.pdf`);
    expect(readFileSync(kept).equals(bytes)).toBe(true);
    writeFileSync(kept, 'as it was then');
    expect((await pdfOf(customer, id)).bytes.toString()).toBe('as it was then');
  });

  it('is another one when a restored database gives its invoice another number', async () => {
    const id = await paidInvoice();
    await pdfOf(customer, id);
    await sql(product, `insert into invoice_series values ('AGAIN-', 1)`);
    // As it was in the backup, and paid again since.
    await sql(product, 'alter table invoices disable trigger invoices_stay');
    const again = `update invoices set series = 'AGAIN-', sequence = 1, number = 'AGAIN-1' where id = $1`;
    await sql(product, again, id);
    await sql(product, 'alter table invoices enable trigger invoices_stay');
    expect(await textOf((await pdfOf(customer, id)).file)).toContain('Invoice AGAIN-1');
  });

  it('that is not paid asks for money, with a code that banking apps read, and is not kept', async () => {
    const id = await newInvoice(product, customer);
    const { file } = await pdfOf(customer, id);
    const text = await textOf(file);
    for (const part of ['Pro forma invoice', 'Please transfer 3.00 EUR', 'DE75 5121 0800 1245 1261 99'])
      expect(text).toContain(part);
    await runProgram(['pdftoppm', '-r', '150', '-png', '-singlefile', file, path.join(dir, 'code')]);
    const { stdout } = await runProgram(['zbarimg', '--quiet', '--raw', path.join(dir, 'code.png')]);
    expect(stdout.trimEnd().split('\n')).toEqual([
      ...[
        'BCD',
        '002',
        '1',
        'SCT',
        'SOGEDEFFXXX',
        'Example Hosting GmbH',
        'DE75512108001245126199',
        'EUR3.00',
      ],
      ...['', referenceOf(id)],
    ]);
    await payByCredit(customer, id);
    expect(await textOf((await pdfOf(customer, id)).file)).not.toContain('Pro forma');
  });

  it('that is paid in part asks for the rest, and for nothing once it is cancelled', async () => {
    const person = await newCustomer(product);
    const id = await newInvoice(product, person);
    const part = { amount: '1.00', currency: 'EUR', reference: referenceOf(id) };
    const of = `/staff/organizations/${person.organizationId}/transfers`;
    expect((await product.staff.post(of, part)).status).toBe(200);
    expect(await textOf((await pdfOf(person, id)).file)).toContain('Please transfer 2.00 EUR');
    expect((await person.post(`/dashboard/invoices/${id}/cancel`)).status).toBe(200);
    const text = await textOf((await pdfOf(person, id)).file);
    expect(text).not.toContain('Please transfer');
    expect(text).toContain('There is nothing to pay');
  });

  it('speaks the language of its customer, and has no code without an account', async () => {
    await product.staff.patch('/staff/settings', { company: { iban: null } });
    const german = await newCustomer(product, { creditMinor: 10_000, country: 'DE' });
    const id = await newInvoice(product, german, 2);
    const text = await textOf((await pdfOf(german, id)).file);
    await product.staff.patch('/staff/settings', { company: seller });
    expect(text).toContain('Proforma-Rechnung');
    expect(text).toMatch(/Gesamtbetrag \(EUR\) +\d,\d\d/);
    expect(text).not.toContain('IBAN');
  });

  it('of a refund is a credit note that names what it corrects', async () => {
    const id = await paidInvoice();
    await product.staff.post(`/staff/invoices/${id}/refund`, {
      reason: 'Outage',
      method: 'credit',
      amount: '1.00',
    });
    const { invoices } = (await customer.get('/dashboard/invoices?limit=1')).body.data;
    const { number } = (await customer.get(`/dashboard/invoices/${id}`)).body.data.invoice;
    const text = await textOf((await pdfOf(customer, invoices[0].id)).file);
    for (const part of [
      `Credit note ${invoices[0].number}`,
      `corrects invoice ${number}`,
      'Reason: Outage',
      '-1.00',
    ])
      expect(text).toContain(part);
  });

  it("is nobody else's to read", async () => {
    const id = await paidInvoice();
    const other = await newCustomer(product);
    expect((await download(other, `/dashboard/invoices/${id}/pdf`)).response.status).toBe(403);
    expect((await download(customer, '/dashboard/invoices/4503599627370449/pdf')).response.status).toBe(404);
    const support = await newStaff(product, 'support');
    expect((await support.get('/staff/invoices/export')).status).toBe(403);
  });

  it('comes to its reader also where there is no room to keep it', async () => {
    const fails = async () => {
      throw new FilesError('files_full', 'there is no room');
    };
    const files: Files = {
      ...{ kind: 'full', capabilities: [], put: fails, delete: fails, exists: async () => false },
      get: async () => {
        throw new FilesError('file_absent', 'there is none', { permanent: true });
      },
      stream: fails,
    };
    const full = await startTestProduct({ drivers: { files } });
    try {
      const person = await newCustomer(full, { creditMinor: 1_000 });
      const id = await newInvoice(full, person);
      await payByCredit(person, id);
      expect((await pdfOf(person, id, full)).bytes.subarray(0, 5).toString()).toBe('%PDF-');
    } finally {
      await full.stop();
    }
  });
});

describe('invoices as CSV', () => {
  const linesOf = (bytes: Buffer) => bytes.toString('utf8').replace('\ufeff', '').trimEnd().split('\r\n');

  it('are those that were issued in the period, credit notes negative, and nobody else has them', async () => {
    const person = await newCustomer(product, { creditMinor: 100_000 });
    await sql(product, `update organizations set name = '=1+1;"x"' where id = $1`, person.organizationId);
    const day = () => product.clock.now().toISOString().slice(0, 10);
    const before = await paidInvoice(person);
    product.clock.travel(2 * 86_400_000);
    const from = day();
    const id = await paidInvoice(person);
    await product.staff.post(`/staff/invoices/${id}/refund`, {
      reason: 'Test',
      method: 'credit',
      amount: '1.00',
    });
    await newInvoice(product, person);
    const to = day();
    product.clock.travel(2 * 86_400_000);
    await paidInvoice(person);
    const { response, bytes } = await download(person, `/dashboard/invoices/export?from=${from}&to=${to}`);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toContain(`invoices-from-${from}-to-${to}.csv`);
    const [heading = '', ...lines] = linesOf(bytes);
    expect(heading).toMatch(/^"number","kind","date","due_date","status","customer"/);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain(`"'=1+1;""x"""`);
    expect(lines[0]).toContain('"partially_refunded"');
    expect(lines[1]).toMatch(/"CN-\d{4}-\d{6}","credit_note",.*"-1\.00"/);
    const all = linesOf((await download(person, '/dashboard/invoices/export')).bytes);
    expect(all).toHaveLength(5);
    expect(all[1]).toContain(`"${before}"`);
  });

  it('are all there once, in order, when they are many, and staff has those of everybody', async () => {
    const person = await newCustomer(product, { creditMinor: 100_000 });
    const id = await paidInvoice(person);
    const count = 1_203;
    await sql(product, `insert into invoice_series values ('MANY-', $1)`, count);
    await sql(
      product,
      `insert into invoices (id, organization_id, position, kind, status, currency, subtotal_minor, discount_minor, tax_minor,
         total_minor, paid_minor, tax_rate_basis_points, tax_exempt, expires_at, created_at, date_paid, issued_at, series,
         sequence, number)
       select n, i.organization_id, 1 + n, kind, status, currency, subtotal_minor, discount_minor, tax_minor, total_minor,
         paid_minor, tax_rate_basis_points, tax_exempt, i.expires_at, i.created_at, i.date_paid,
         '2020-01-01'::timestamptz + make_interval(secs => n / 3), 'MANY-', n, 'MANY-' || n
       from invoices i, generate_series(1, $2::int) n where i.id = $1`,
      id,
      count,
    );
    const query = 'from=2020-01-01&to=2020-01-01';
    for (const at of ['/dashboard/invoices/export', '/staff/invoices/export']) {
      const reader = at.startsWith('/staff')
        ? { key: product.demo.staff.api_key, organizationId: person.organizationId }
        : person;
      const lines = linesOf((await download(reader, `${at}?${query}`)).bytes).slice(1);
      expect(lines.map((line) => line.split(',', 1)[0])).toEqual(
        Array.from({ length: count }, (_, at) => `"MANY-${at + 1}"`),
      );
    }
  });

  it.each(['from=2026-02-01&to=2026-01-31', 'from=2026-02-30', 'to=yesterday', 'since=2026-01-01'])(
    'of no period are refused: %s',
    async (query) => {
      expect((await customer.get(`/dashboard/invoices/export?${query}`)).status).toBe(400);
    },
  );
});
