/** The books of a month as the bookkeeper gets them: the ledger's sums, the same bytes each time, nothing added later. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, newStaff, type Person, signedIn } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type AccountKind, accounts } from '../ledger/accounts.ts';
import { bookingsOf } from './datev.ts';
import { plainText } from './plainText.ts';
import { windows1252 } from './windows1252.ts';

let product: TestProduct;
let person: Person;
beforeAll(async () => {
  product = await startTestProduct();
  product.clock.set(new Date('2027-01-03T12:00:00Z'));
  await sql(product, `insert into tax_rates (country, rate_basis_points) values ('CZ', 2100)`);
  person = await newCustomer(product, { country: 'CZ', creditMinor: 1_000_000 });
  const name = '=1+1;"x"\r\n@y';
  await sql(product, 'update organizations set name = $2 where id = $1', person.organizationId, name);
  const change = { bookkeeping: { consultant: 29_098, client: 55_003, automatic_accounts: ['8200'] } };
  expect((await product.staff.patch('/staff/settings', change)).status).toBe(200);
});
afterAll(() => product.stop());

async function exported(query: string): Promise<Buffer> {
  const { api_key: token } = product.demo.staff;
  const answer = await fetch(`${product.url}/api/staff/bookkeeping/export?${query}`, { headers: { token } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(answer.status, bytes.toString()).toBe(200);
  return bytes;
}

/** The clock goes to so long after the beginning of a month, and what has to be earned and closed is. */
async function begin(month: string, after = '02:00:00'): Promise<void> {
  await settled(product);
  product.clock.set(new Date(`${month}-01T${after}Z`));
  await product.periodic('billing.earn');
  await product.periodic('billing.closeBooks');
}

type Sums = Record<string, { debit: number; credit: number }>;
const add = (sums: Sums, account: string, minor: number) => {
  sums[account] ??= { debit: 0, credit: 0 };
  if (minor > 0) sums[account].debit += minor;
  else sums[account].credit -= minor;
};
const minorOf = (text: string) => Math.round(Number(text.replace(',', '.')) * 100);

/** The cells of each line; one that holds a separator stands in quotation marks. */
function parse(text: string, separator: ',' | ';'): string[][] {
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${separator}]*)${separator}`, 'g');
  return text
    .replace('\ufeff', '')
    .trimEnd()
    .split('\r\n')
    .map((line) => (line + separator).match(cell) ?? [])
    .map((cells) =>
      cells.map((each) =>
        each
          .slice(0, -1)
          .replace(/^"(.*)"$/, '$1')
          .replaceAll('""', '"'),
      ),
    );
}

async function csvSums(month: string): Promise<Sums> {
  const [heading = [], ...rows] = parse(
    (await exported(`month=${month}&currency=EUR`)).toString('utf8'),
    ',',
  );
  const at = (name: string) => heading.indexOf(name);
  const sums: Sums = {};
  for (const row of rows) {
    add(sums, row[at('account')] ?? '', minorOf(row[at('debit')] || '0'));
    add(sums, row[at('account')] ?? '', -minorOf(row[at('credit')] || '0'));
  }
  return sums;
}

async function datevRows(month: string): Promise<string[][]> {
  return parse((await exported(`month=${month}&format=datev`)).toString('latin1'), ';').slice(2);
}

/** What the ledger has of the days of a month, past the product. */
async function ledgerSums(month: string): Promise<Sums> {
  const rows = await sql<{ kind: string; minor: number }>(
    product,
    `select a.kind, e.amount_minor as minor from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
     join ledger_accounts a on a.id = e.account_id and a.currency = 'EUR'
     where to_char(coalesce(t.counts_on, (t.created_at at time zone 'UTC')::date), 'YYYY-MM') = $1`,
    month,
  );
  const sums: Sums = {};
  for (const { kind, minor } of rows) add(sums, kind, minor);
  return sums;
}

const net = (sums: Sums) =>
  Object.fromEntries(Object.entries(sums).map(([account, { debit, credit }]) => [account, debit - credit]));
const skr03: Partial<Record<AccountKind, string>> = {
  ...{
    bank: '1200',
    credit: '1700',
    parts: '1710',
    deferred: '0990',
    tax: '1776',
    revenue: '8200',
    goodwill: '4900',
    given_up: '2709',
  },
};

describe('the export of a month', () => {
  const act = fc.record({
    what: fc.constantFrom('order', 'pay', 'refund', 'grant', 'transfer', 'deliver', 'leave'),
    day: fc.integer({ min: 2, max: 27 }),
    minor: fc.integer({ min: 1, max: 5_000 }),
  });
  let month = '2027-01';

  it('adds up to what the ledger has of it, in both forms, and is the same bytes each time, whatever comes later', async () => {
    const closed: { month: string; bytes: Buffer[] }[] = [];
    const both = (of: string) => Promise.all([exported(`month=${of}`), exported(`month=${of}&format=datev`)]);
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 8 }), async (acts) => {
        for (const { what, day, minor } of acts.toSorted((one, other) => one.day - other.day)) {
          product.clock.set(new Date(`${month}-${String(day).padStart(2, '0')}T12:00:00Z`));
          const amount = (minor / 100).toFixed(2);
          const to = `/staff/organizations/${person.organizationId}`;
          if (what === 'grant')
            await product.staff.post(`${to}/credit`, {
              amount,
              currency: 'EUR',
              description: '=HYPERLINK("x");\r\nÄ',
            });
          if (what === 'transfer')
            await product.staff.post(`${to}/transfers`, {
              amount,
              currency: 'EUR',
              reference: `@SUM ${month} ${day} ${minor}`,
            });
          if (what === 'leave') {
            const gone = await signedIn(product, await newCustomer(product, { creditMinor: minor }));
            const answer = await gone.post('/dashboard/account/close', { give_up_credit: true });
            expect(answer.status, JSON.stringify(answer.body)).toBe(200);
          }
          if (!['order', 'pay', 'refund', 'deliver'].includes(what)) continue;
          const id = await newInvoice(product, person, 1 + (minor % 3));
          if (what !== 'order') await payByCredit(person, id);
          if (what === 'refund')
            await product.staff.post(`/staff/invoices/${id}/refund`, {
              reason: 'x',
              method: 'credit',
              amount: '1.07',
            });
          if (what !== 'deliver') continue;
          await settled(product);
          for (const { id: service } of await sql<{ id: number }>(
            product,
            'select id from services where invoice_id = $1',
            id,
          ))
            await product.staff.post(`/staff/services/${service}/deliver`);
        }
        const [year = 0, ordinal = 0] = month.split('-').map(Number);
        const next = new Date(Date.UTC(year, ordinal, 1)).toISOString().slice(0, 7);
        await begin(next);
        const expected = await ledgerSums(month);
        expect(await csvSums(month)).toEqual(expected);
        const sums: Sums = {};
        for (const row of await datevRows(month)) {
          expect(row).toHaveLength(125);
          add(sums, row[6] ?? '', minorOf(row[0] ?? ''));
          add(sums, row[7] ?? '', -minorOf(row[0] ?? ''));
        }
        const byNumber = Object.fromEntries(
          Object.entries(net(expected)).map(([kind, minor]) => [skr03[kind as AccountKind], minor]),
        );
        expect(net(sums)).toEqual(byNumber);
        closed.push({ month, bytes: await both(month) });
        month = next;
      }),
      { numRuns: 5, endOnFailure: true },
    );
    for (const { month: of, bytes } of closed) expect(await both(of)).toEqual(bytes);
    const rows = closed.flatMap(({ bytes }) => parse(bytes[0]?.toString('utf8') ?? '', ','));
    const customers = new Set(
      rows.filter((row) => row[13] !== '' && row[13] !== 'invoice_number').map((row) => row[11]),
    );
    expect([...customers]).toEqual([`'=1+1;"x" @y`]);
    const { periods } = (await product.staff.get('/staff/bookkeeping/periods')).body.data;
    // Those before are of what the demonstration company did.
    expect(periods.slice(0, closed.length).map((each: { month: string }) => each.month)).toEqual(
      closed
        .map((each) => each.month)
        .toSorted()
        .toReversed(),
    );
  }, 180_000);

  it('has nothing of a month that is not over, and waits for what is still to be earned', async () => {
    product.clock.set(new Date(`${month}-20T12:00:00Z`));
    await product.periodic('billing.closeBooks');
    const refused = await product.staff.get(`/staff/bookkeeping/export?month=${month}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'period_open']);
    await newPaidAndDelivered();
    const [year = 0, ordinal = 0] = month.split('-').map(Number);
    const next = new Date(Date.UTC(year, ordinal, 1)).toISOString().slice(0, 7);
    await settled(product);
    product.clock.set(new Date(`${next}-03T00:00:00Z`));
    await product.periodic('billing.closeBooks');
    expect((await product.staff.get(`/staff/bookkeeping/export?month=${month}`)).status).toBe(409);
    await product.periodic('billing.earn');
    await product.periodic('billing.closeBooks');
    expect((await csvSums(month)).revenue?.credit).toBeGreaterThan(0);
    month = next;
  });

  it('takes in a posting for an earlier day that was written late, on the first day of its own month', async () => {
    const late = '2027-01-15';
    await sql(
      product,
      `with t as (insert into ledger_transactions (kind, description, counts_on, created_at)
         values ('revenue_earned', 'Late', $1::date, $2) returning id)
       insert into ledger_entries (transaction_id, account_id, amount_minor)
       select t.id, a.id, case a.kind when 'deferred' then 5 else -5 end from t, ledger_accounts a
       where a.kind in ('deferred', 'revenue') and a.currency = 'EUR'`,
      ...[late, product.clock.now()],
    );
    const before = await exported('month=2027-01');
    const [year = 0, ordinal = 0] = month.split('-').map(Number);
    await begin(new Date(Date.UTC(year, ordinal, 1)).toISOString().slice(0, 7));
    expect(await exported('month=2027-01')).toEqual(before);
    const [heading = [], ...rows] = parse((await exported(`month=${month}`)).toString('utf8'), ',');
    const found = rows.filter((row) => row[heading.indexOf('description')] === 'Late');
    expect(found).toHaveLength(2);
    expect(found[0]?.slice(1, 3)).toEqual([`${month}-01`, late]);
    const row = (await datevRows(month)).find((each) => each[13] === 'Late');
    expect([row?.[0], row?.[9]]).toEqual(['0,05', `01${month.slice(5)}`]);
    month = new Date(Date.UTC(year, ordinal, 1)).toISOString().slice(0, 7);
  });

  it('has every posting once and in order, when they are more than are read at once', async () => {
    const count = 1_203;
    await sql(
      product,
      `with t as (insert into ledger_transactions (kind, description, created_at)
         select 'provider_fee', 'Fee ' || n, $1 from generate_series(1, ${count}) n returning id),
       a as (insert into ledger_accounts (kind, currency) values ('fees', 'EUR'), ('provider', 'EUR') returning id, kind)
       insert into ledger_entries (transaction_id, account_id, amount_minor)
       select t.id, a.id, case a.kind when 'fees' then 7 else -7 end from t, a`,
      product.clock.now(),
    );
    const [year = 0, ordinal = 0] = month.split('-').map(Number);
    const next = new Date(Date.UTC(year, ordinal, 1)).toISOString().slice(0, 7);
    await begin(next);
    const fees = Array.from({ length: count }, (_, at) => `Fee ${at + 1}`);
    expect((await datevRows(month)).map((row) => row[13]).filter((text) => text?.startsWith('Fee'))).toEqual(
      fees,
    );
    month = next;
  });

  it('is for those who see to money', async () => {
    const support = await newStaff(product, 'support');
    expect((await support.get('/staff/bookkeeping/export?month=2027-01')).status).toBe(403);
    expect((await support.get('/staff/bookkeeping/periods')).status).toBe(403);
  });

  it.each([
    'month=2027-13',
    'month=2027',
    '',
    'month=2027-01&format=xml',
    'month=2027-01&format=datev&currency=KWD',
    'month=2027-01&part=0',
    'month=2027-01&colour=red',
  ])('of %j is refused', async (query) => {
    expect((await product.staff.get(`/staff/bookkeeping/export?${query}`)).status).toBe(400);
  });
});

async function newPaidAndDelivered(): Promise<void> {
  const id = await newInvoice(product, person);
  await payByCredit(person, id);
  await settled(product);
  for (const { id: service } of await sql<{ id: number }>(
    product,
    'select id from services where invoice_id = $1',
    id,
  ))
    expect((await product.staff.post(`/staff/services/${service}/deliver`)).status).toBe(200);
}

describe('DATEV gets', () => {
  it('the header, the columns and the fields that its format describes', async () => {
    const lines = (await exported('month=2027-01&format=datev')).toString('latin1').split('\r\n');
    expect(lines[0]).toBe(
      '"EXTF";700;21;"Buchungsstapel";13;20270201000000000;;"";"";"";29098;55003;20270101;4;20270101;20270131;' +
        '"Innkeeper 2027-01";"";1;0;0;"EUR";;"";;;"03";;;"";""',
    );
    expect(lines[1]).toMatch(
      /^Umsatz \(ohne Soll\/Haben-Kz\);Soll\/Haben-Kennzeichen;WKZ Umsatz;.*;Abw\. Skontokonto$/,
    );
    expect(lines[1]?.split(';')).toHaveLength(125);
    expect(lines[1]).toContain('Gegenkonto (ohne BU-Schl\u00fcssel)');
    expect(lines.at(-1)).toBe('');
    for (const line of lines.slice(2, -1)) {
      const fields = (`${line};`.match(/("(?:[^"]|"")*"|[^;]*);/g) ?? []).map((field) => field.slice(0, -1));
      const expected = [
        /^\d{1,10},\d{2}$/,
        /^"S"$/,
        /^"EUR"$/,
        /^$/,
        /^$/,
        /^""$/,
        /^\d{4}$/,
        /^\d{4}$/,
        /^"(0040)?"$/,
      ];
      for (const [at, pattern] of expected.entries()) expect(fields[at]).toMatch(pattern);
      expect(fields[9]).toMatch(/^([0-2]\d|3[01])01$/);
      expect(fields[10]).toMatch(/^"\w[\w$&%*+\-/]{0,35}"$/);
      expect(fields[13]).toMatch(/^"[^\p{Cc}]{1,62}"$/u);
      // An account that works out tax by itself is told not to.
      expect(fields[8]).toBe(fields.slice(6, 8).includes('8200') ? '"0040"' : '""');
    }
  });

  it('nothing before the numbers of the consultant and the client are set, and accounts of the length that is', async () => {
    await product.staff.patch('/staff/settings', { bookkeeping: { consultant: null } });
    const refused = await product.staff.get('/staff/bookkeeping/export?month=2027-01&format=datev');
    expect([refused.status, refused.body.code]).toEqual([409, 'bookkeeping_incomplete']);
    const wrong = await product.staff.patch('/staff/settings', {
      bookkeeping: { account_bank: '12000', account_tax: '177600' },
    });
    expect(wrong.status).toBe(400);
    expect(wrong.body.details).toEqual([
      { field: 'bookkeeping.account_tax', message: 'must have 4 digits, or 5 for the account of a person' },
    ]);
    const change = {
      consultant: 29_098,
      chart: 'SKR04',
      account_length: 5,
      fiscal_year_start: 7,
      account_bank: '18010',
    };
    expect((await product.staff.patch('/staff/settings', { bookkeeping: change })).status).toBe(200);
    const lines = (await exported('month=2027-01&format=datev')).toString('latin1').split('\r\n');
    expect(lines[0]).toContain(';29098;55003;20260701;5;20270101;20270131;');
    expect(lines[0]).toContain(';"04";');
    for (const line of lines.slice(2, -1))
      for (const number of line.split(';').slice(6, 8)) expect(number).toHaveLength(5);
    await product.staff.patch('/staff/settings', {
      bookkeeping: { chart: 'SKR03', account_length: 4, account_bank: null, fiscal_year_start: 1 },
    });
  });

  it('what a posting moves on each account, in pairs, however large', () => {
    const kinds = Object.keys(accounts) as AccountKind[];
    const minor = fc.oneof(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 1, max: 9_000_000_000_000 }),
    );
    const entries = fc
      .uniqueArray(fc.record({ account: fc.constantFrom(...kinds.slice(1)), minor, isDebit: fc.boolean() }), {
        selector: ({ account }) => account,
        minLength: 1,
        maxLength: 6,
      })
      .map((all) =>
        all.map(({ account, minor: amount, isDebit }) => ({ account, minor: isDebit ? amount : -amount })),
      )
      .map((all) => [
        ...all,
        { account: 'bank' as const, minor: -all.reduce((sum, each) => sum + each.minor, 0) },
      ]);
    fc.assert(
      fc.property(entries, (all) => {
        const moved: Record<string, number> = {};
        for (const booking of bookingsOf(all)) {
          expect(booking.minor).toBeGreaterThan(0);
          expect(booking.minor).toBeLessThanOrEqual(999_999_999_999);
          moved[booking.debit] = (moved[booking.debit] ?? 0) + booking.minor;
          moved[booking.credit] = (moved[booking.credit] ?? 0) - booking.minor;
        }
        for (const { account, minor: amount } of all) expect(moved[account] ?? 0).toBe(amount);
        expect(bookingsOf(all.toReversed())).toEqual(bookingsOf(all));
      }),
    );
  });

  it('texts that its encoding has, on one line, and none that begins a formula', () => {
    expect(windows1252('Grüße – 5 €').toString('hex')).toBe('4772fcdf6520962035 2080'.replaceAll(' ', ''));
    expect(windows1252('Őź日\u0085').toString('latin1')).toBe('Oz??');
    // What looks like a quotation mark ends no field, and what looks like a sign of calculation begins no formula.
    expect(windows1252('＂；１ ⁼﹦﬩₊﹣﹫\u2003½').toString('latin1')).toBe('??1 ?????? ½');
    for (const text of ['=1+1', '\t=1', '@x', '\u202e-1', '＝1', '+x', ' \r\n=x'])
      expect(plainText(text, 60)).toMatch(/^'/);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const plain = plainText(text, 60);
        expect([...plain].length).toBeLessThanOrEqual(60);
        expect(plain).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]|^[=+\-@|%]/u);
        const bytes = windows1252(plain);
        expect(bytes).toHaveLength([...plain.normalize('NFC')].length);
        for (const sign of '"=+-@|%;')
          expect(bytes.toString('latin1').split(sign)).toHaveLength(plain.split(sign).length);
      }),
    );
  });
});
