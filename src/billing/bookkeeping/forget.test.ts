/** What was kept of closed organizations goes once the law wants it no longer. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, settled, settledContents, sql } from '../../../test/sql.ts';
import { type Files, FilesError, folderFiles } from '../../drivers/files/index.ts';
import { healing } from '../../platform/index.ts';
import { allJobs } from '../../worker.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-forgetting-'));
const folder = folderFiles({ dir });
/** While it is true, the storage answers nobody. */
let isAway = false;
/** Called before a file is put there. */
let beforePut: () => Promise<void> = async () => undefined;
const files: Files = {
  ...folder,
  put: async (...given) => {
    await beforePut();
    return folder.put(...given);
  },
  delete: async (...given) => {
    if (isAway) throw new FilesError('files_unreachable', 'connect ECONNREFUSED');
    return folder.delete(...given);
  },
};

const startsAt = new Date(Date.UTC(new Date().getUTCFullYear() - 26, 5, 1));

let product: TestProduct;
beforeAll(async () => {
  // The database says by its own clock when the time is over: what happens here does decades ago.
  product = await startTestProduct({ drivers: { files }, startsAt });
  const company = { name: 'Example GmbH', country: 'DE', vat_id: 'DE136695976' };
  await product.staff.patch('/staff/settings', { company });
});
afterAll(async () => {
  await product.stop();
  rmSync(dir, { recursive: true, force: true });
});

const year = () => product.clock.now().getUTCFullYear();
const travelTo = (time: string) => product.clock.travel(Date.parse(time) - product.clock.now().getTime());
const keptOf = (id: number) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.startsWith(`${id}-`))
    .map(({ name }) => name);

/** A document as staff gets it: its bytes, and for XML what they say. */
async function staffDocument(id: number, form: 'pdf' | 'xml') {
  const headers = { token: product.demo.staff.api_key };
  const url = `${product.url}/api/staff/invoices/${id}/${form}${form === 'xml' ? '?format=cii' : ''}`;
  const response = await fetch(url, { headers });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** Somebody with a service that was sold, ended and partly given back, whose invoice, note and bank say who they are. */
async function known(name: string) {
  const person = await newCustomer(product, { creditMinor: 5_000, country: 'DE' });
  await person.patch('/dashboard/billing/profile', {
    ...{
      name: `${name} Jane`,
      address_line1: `${name} Street 1`,
      postal_code: '10115',
      city: `${name}ville`,
    },
    email: `${name.toLowerCase()}@example.com`,
  });
  const { serviceId, invoiceId } = await runningVps(product, person);
  await person.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
  await until(
    () => person.get(`/dashboard/services/${serviceId}`),
    (answer) => answer.body.data.service.status === 'terminated',
  );
  await sql(
    product,
    `with made as (
       insert into bank_statements (id, account, name, digest, known_entries, created_at)
       values ($1, 'DE1', 'one', decode(md5($2), 'hex'), 0, now()) returning id)
     insert into bank_entries (id, statement_id, ordinal, organization_id, fingerprint, account, direction, amount_minor,
       currency, booked_on, reference, name, iban, text, is_reversal, state)
     select $1, id, 1, $1, decode(md5($2), 'hex'), 'DE1', 'out', 1, 'EUR', '2026-01-01', 'r' || $1, $2 || ' Jane', 'DE' || $2,
       'thanks from ' || $2, false, 'outgoing' from made`,
    ...[person.organizationId, name],
  );
  await sql(
    product,
    `insert into tax_standings (organization_id, tax_id, state, registered_name, registered_address, updated_at)
     values ($1, 'DE' || $2, 'valid', $2 || ' GmbH', $2 || ' Street', now())
     on conflict (organization_id) do update set registered_name = excluded.registered_name`,
    ...[person.organizationId, name],
  );
  await sql(
    product,
    `insert into payment_methods (id, organization_id, driver, reference, type, brand, last4, created_at, removed_at)
     values ($1, $1, 'none', 'pm' || $1::bigint, 'sepa', $2 || ' Bank', '1234', now(), now())`,
    ...[person.organizationId, name],
  );
  await sql(
    product,
    `insert into journal (organization_id, action, subject_type, subject_id, actor_type, data, created_at)
     values ($1, 'tax_id.checked', 'organization', $1, 'system', jsonb_build_object('tax_id', 'DE' || $2::text), now())`,
    ...[person.organizationId, name],
  );
  await speakOf(person, name);
  return { person, invoiceId };
}

/** What staff writes by hand, with somebody's name in all of it: credit, an invoice and its lines, a correction, refunds, a transfer. */
async function speakOf({ organizationId: id, ...person }: Person, name: string) {
  const { staff } = product;
  const ok = async (path: string, body: object) => {
    const answer = await staff.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.data;
  };
  const why = `Agreed with ${name}`;
  await ok(`/staff/organizations/${id}/credit`, { amount: '50.00', currency: 'EUR', description: why });
  const lines = [1, 2].map(() => ({ description: `Work for ${name}`, unit_price: '5.00' }));
  const note = `Ordered by ${name}`;
  const { invoice } = await ok('/staff/invoices', { organization_id: id, currency: 'EUR', lines, note });
  const paid = await person.post(`/dashboard/invoices/${invoice.id}/pay`, { method: 'credit' });
  expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  const correction = { lines: [{ line: 1, amount: '1.00' }], reason: why, method: 'credit' };
  await ok(`/staff/invoices/${invoice.id}/correct`, correction);
  await ok(`/staff/invoices/${invoice.id}/refund`, { amount: '1.00', reason: why, method: 'credit' });
  const received_on = product.clock.now().toISOString().slice(0, 10);
  const sent = { amount: '7.00', currency: 'EUR', reference: `Rent of ${name}`, received_on };
  const { transfer } = await ok(`/staff/organizations/${id}/transfers`, sent);
  await ok(`/staff/transfers/${transfer.id}/take-back`, { reason: why });
}

async function close(person: Person) {
  const here = await signedIn(product, person);
  const { status, body } = await here.post('/dashboard/account/close', { give_up_credit: true });
  expect(status, JSON.stringify(body)).toBe(200);
  await settled(product);
}

const billingTables = [
  ...['invoices', 'invoice_items', 'bank_entries', 'tax_standings', 'billing_profiles'],
  ...['refunds', 'transfers', 'payments', 'ledger_transactions'],
];
/** In which tables a name stands. */
async function naming(name: string): Promise<string[]> {
  const found = Object.entries(await contents(product));
  const lower = name.toLowerCase();
  return found
    .filter(([, rows]) => rows.some((row) => row.toLowerCase().includes(lower)))
    .map(([table]) => table);
}
const amounts = () =>
  sql(
    product,
    `select id, number, series, sequence, kind, status, subtotal_minor, discount_minor, tax_minor, total_minor, tax_country,
       tax_treatment, paid_minor, refunded_minor, issued_at from invoices order by id`,
  );
/** What moved, whatever it is called. */
const ledger = () =>
  sql(
    product,
    `select t.id, t.organization_id, t.kind, t.invoice_id, t.created_at, e.account_id, e.amount_minor, e.balance_minor
     from ledger_transactions t join ledger_entries e on e.transaction_id = t.id order by t.id, e.account_id`,
  );
const linesOf = async (organizationId: number) =>
  (
    await sql<{ description: string }>(
      product,
      'select description from invoice_items where organization_id = $1',
      organizationId,
    )
  ).map(({ description }) => description);
const forgottenEntries = (organizationId: number) =>
  sql(
    product,
    `select 1 from journal where action = 'organization.forgotten' and organization_id = $1`,
    organizationId,
  );

describe('the books of a closed organization', () => {
  it('name it until the last day that the law wants, and from then on by its number alone; who goes on stays', async () => {
    const [gone, stays] = [await known('Canarina'), await known('Robinson')];
    const { person, invoiceId } = gone;
    for (const id of [invoiceId, stays.invoiceId]) {
      await staffDocument(id, 'pdf');
      expect((await staffDocument(id, 'xml')).toString()).toMatch(/Canarina|Robinson/);
      expect(keptOf(id)).toHaveLength(2);
    }
    await close(person);
    const last = year() + 10;
    travelTo(`${last}-12-31T22:00:00Z`);
    await settled(product);
    const before = await contents(product);
    await product.periodic('billing.forgetBooks');
    for (const table of [...billingTables, 'forgotten_books'])
      expect((await contents(product))[table], table).toEqual(before[table]);
    expect(keptOf(invoiceId)).toHaveLength(2);
    const [wasSold, earlier] = [await amounts(), await naming('Canarina')];
    expect(earlier).toEqual(expect.arrayContaining(['invoices', 'bank_entries', 'tax_standings']));
    expect(earlier).toEqual(
      expect.arrayContaining(['invoice_items', 'refunds', 'transfers', 'ledger_transactions', 'journal']),
    );
    const entries = await ledger();

    travelTo(`${last + 1}-01-01T00:00:01Z`);
    await product.periodic('billing.forgetBooks');
    await settled(product);
    expect(await naming('Canarina')).toEqual([]);
    expect(await ledger()).toEqual(entries);
    expect(await linesOf(person.organizationId)).toEqual(expect.arrayContaining(['Line 1', 'Line 2']));
    expect((await linesOf(person.organizationId)).join()).not.toContain('web1.example.com');
    expect((await linesOf(stays.person.organizationId)).join()).toContain('Work for Robinson');
    expect(keptOf(invoiceId)).toEqual([]);
    const xml = (await staffDocument(invoiceId, 'xml')).toString();
    expect(xml).not.toContain('Canarina');
    expect(xml).toContain(`Closed organization ${person.organizationId}`);
    await staffDocument(invoiceId, 'pdf');
    expect(keptOf(invoiceId)).toEqual([]);
    for (const url of [`/staff/invoices/${invoiceId}`, `/staff/invoices`])
      expect(JSON.stringify((await product.staff.get(url)).body)).not.toContain('Canarina');
    expect(await amounts()).toEqual(wasSold);
    expect(await naming('Robinson')).toEqual(expect.arrayContaining(['invoices', 'bank_entries']));
    expect(keptOf(stays.invoiceId)).toHaveLength(2);
    expect(await forgottenEntries(person.organizationId)).toHaveLength(1);
    expect(await forgottenEntries(stays.person.organizationId)).toEqual([]);

    const after = await settledContents(product);
    await product.periodic('billing.forgetBooks');
    await settled(product);
    const again = await contents(product);
    for (const table of [...billingTables, 'forgotten_books'])
      expect(again[table], table).toEqual(after[table]);
    expect(await forgottenEntries(person.organizationId)).toHaveLength(1);
    expect(await audit(product.databaseUrl)).toEqual([]);
  }, 120_000);

  it('are named no more by answers while the files cannot be taken away, which go when the storage is back', async () => {
    await product.staff.patch('/staff/settings', { bookkeeping: { years_kept: 5 } });
    const { person, invoiceId } = await known('Ostrichia');
    await staffDocument(invoiceId, 'xml');
    await close(person);
    travelTo(`${year() + 6}-01-01T00:00:01Z`);
    isAway = true;
    await product.periodic('billing.forgetBooks');
    await until(
      () =>
        sql<{ state: string }>(
          product,
          `select state from jobs where name = 'billing.forgetDocuments' order by id desc limit 1`,
        ),
      ([job]) => job?.state !== 'running',
    );
    expect(await naming('Ostrichia')).toEqual([]);
    expect((await staffDocument(invoiceId, 'xml')).toString()).not.toContain('Ostrichia');
    expect(keptOf(invoiceId)).toHaveLength(1);
    isAway = false;
    for (let hour = 0; hour < 30 && keptOf(invoiceId).length > 0; hour += 1) {
      product.clock.travel(3_600_000);
      await product.periodic(healing(allJobs).name);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(keptOf(invoiceId)).toEqual([]);
  }, 120_000);

  it('leave no file of a document that was being drawn when they were forgotten', async () => {
    const { person, invoiceId } = await known('Pelicana');
    await close(person);
    travelTo(`${year() + 6}-01-01T00:00:01Z`);
    isAway = false;
    beforePut = async () => {
      beforePut = async () => undefined;
      await product.periodic('billing.forgetBooks');
      await settled(product);
    };
    await staffDocument(invoiceId, 'xml');
    expect(await forgottenEntries(person.organizationId)).toHaveLength(1);
    expect(keptOf(invoiceId)).toEqual([]);
  }, 120_000);
});

describe('the database', () => {
  const forget = (organizationId: number) => sql(product, 'select forget_in_books($1, 10)', organizationId);

  it('refuses to forget who is not closed, whose time is not over, and whatever nobody asked it that way', async () => {
    const open = await newCustomer(product, { creditMinor: 1_000 });
    const invoiceId = await newInvoice(product, open);
    await payByCredit(open, invoiceId);
    await expect(forget(open.organizationId)).rejects.toThrow('is not closed');
    const closed = await known('Herona');
    await close(closed.person);
    await expect(forget(closed.person.organizationId)).rejects.toThrow('are kept until');
    // Whatever the clock of the application says.
    travelTo(`${year() + 11}-01-01T00:00:01Z`);
    await product.periodic('billing.forgetBooks');
    expect(await naming('Herona')).toEqual(expect.arrayContaining(['invoices', 'bank_entries']));
    expect(await forgottenEntries(closed.person.organizationId)).toEqual([]);
    await expect(forget(closed.person.organizationId)).rejects.toThrow('are kept until');
    // The role of the application says that it forgets, and changes what it likes.
    const application = { databaseUrl: product.ctx.config.databaseUrl ?? product.databaseUrl };
    const change = (id: number, set: string) =>
      sql(
        application,
        `do $$ begin perform set_config('innkeeper.forgetting', 'on', true);
         update invoices set ${set} where id = ${id}; end $$`,
      );
    await expect(change(invoiceId, `buyer = '{}'`)).rejects.toThrow('stays as it is');
    await expect(change(closed.invoiceId, 'total_minor = 1')).rejects.toThrow('stays as it is');
    const said = (table: string, which: string) =>
      sql(
        application,
        `do $$ begin perform set_config('innkeeper.forgetting', 'on', true);
         update ${table} set description = 'another' where ${which}; end $$`,
      );
    await expect(said('invoice_items', `invoice_id = ${invoiceId}`)).rejects.toThrow('stay as they are');
    const theirs = `organization_id = ${closed.person.organizationId}`;
    if (application.databaseUrl !== product.databaseUrl)
      await expect(said('invoice_items', theirs)).rejects.toThrow('stay as they are');
    await expect(said('ledger_transactions', `organization_id = ${open.organizationId}`)).rejects.toThrow(
      /append-only|permission denied/,
    );
    if (application.databaseUrl !== product.databaseUrl)
      await expect(change(closed.invoiceId, `buyer = '{}'`)).rejects.toThrow('stays as it is');
  }, 60_000);

  it('keeps them from the end of the year of the last document on, for as many years as staff says', async () => {
    const { person } = await known('Puffina');
    const begins = year();
    // When the account was closed does not matter.
    product.clock.travel(2 * 366 * 86_400_000);
    await close(person);
    const short = await product.staff.patch('/staff/settings', { bookkeeping: { years_kept: 4 } });
    expect(short.status).toBe(400);
    await product.staff.patch('/staff/settings', { bookkeeping: { years_kept: 7 } });
    const until = async () => {
      const [row] = await sql<{ at: Date }>(
        product,
        'select books_kept_until($1) as at',
        person.organizationId,
      );
      return row?.at.toISOString();
    };
    expect(await until()).toBe(`${begins + 8}-01-01T00:00:00.000Z`);
    await product.staff.patch('/staff/settings', { bookkeeping: { years_kept: 10 } });
    expect(await until()).toBe(`${begins + 11}-01-01T00:00:00.000Z`);
  }, 60_000);
});
