/** Figures of the company: each month begins where the one before ended, and says what the ledger and the services say. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, newStaff, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { monthsOf } from '../../catalog/index.ts';

let product: TestProduct;
let person: Person;
beforeAll(async () => {
  product = await startTestProduct();
  product.clock.set(new Date('2027-01-03T12:00:00Z'));
  person = await newCustomer(product, { creditMinor: 1_000_000 });
});
afterAll(() => product.stop());

const minorOf = (text: string) => Math.round(Number(text) * 100);
const following = (month: string) => {
  const [year = 0, ordinal = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, ordinal, 1)).toISOString().slice(0, 7);
};
const at = (day: string) => product.clock.set(new Date(`${day}T12:00:00Z`));

async function figures(query: string) {
  const { status, body } = await product.staff.get(`/staff/figures?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}
const inEuro = async (query: string) =>
  (await figures(query)).currencies.find(({ currency }: { currency: string }) => currency === 'EUR');

async function delivered(): Promise<number> {
  const id = await newInvoice(product, person);
  await payByCredit(person, id);
  await settled(product);
  const [row] = await sql<{ id: number }>(product, 'select id from services where invoice_id = $1', id);
  expect((await product.staff.post(`/staff/services/${row?.id}/deliver`)).status).toBe(200);
  // Nobody pays for the next period here, and the calendar is to leave it alone.
  await sql(product, `update services set duedate = '2040-01-01' where id = $1`, row?.id);
  return row?.id ?? 0;
}

/** What services bring a month, worked out here from their rows. */
async function recurring(): Promise<number> {
  const rows = await sql<{ price_minor: number; cycle: keyof typeof monthsOf }>(
    product,
    `select price_minor, cycle from services where status in ('active', 'suspended') and currency = 'EUR'`,
  );
  return rows.reduce(
    (sum, { price_minor, cycle }) => sum + Math.floor(price_minor / monthsOf[cycle] + 0.5),
    0,
  );
}

async function ledger(month: string, account: string, kinds = ''): Promise<number> {
  const [row] = await sql<{ minor: number }>(
    product,
    `select coalesce(-sum(e.amount_minor), 0)::bigint as minor from ledger_transactions t
     join ledger_entries e on e.transaction_id = t.id join ledger_accounts a on a.id = e.account_id
     where a.kind = $1 and a.currency = 'EUR' ${kinds}
       and to_char(coalesce(t.counts_on, (t.created_at at time zone 'UTC')::date), 'YYYY-MM') = $2`,
    ...[account, month],
  );
  return row?.minor ?? 0;
}

describe('figures of months', () => {
  const act = fc.record({
    what: fc.constantFrom('deliver', 'deliver', 'price', 'cycle', 'end', 'suspend', 'transfer', 'refund'),
    which: fc.nat(20),
    minor: fc.integer({ min: 0, max: 20_000 }),
  });

  it('begin where the one before ended, and move by new, expanded, contracted and lost, whatever happens', async () => {
    const ends: { month: string; minor: number }[] = [];
    let month = '2027-01';
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 10 }), async (acts) => {
        for (const [nth, { what, which, minor }] of acts.entries()) {
          at(`${month}-${String(4 + nth * 2).padStart(2, '0')}`);
          const services = await sql<{ id: number; invoice_id: number }>(
            product,
            `select id, invoice_id from services where status in ('active', 'suspended') and organization_id = $1 order by id`,
            person.organizationId,
          );
          const one = services[which % Math.max(1, services.length)];
          if (what === 'deliver') await delivered();
          if (what === 'transfer') {
            const transfer = {
              amount: '7.31',
              currency: 'EUR',
              reference: `F ${month} ${nth}`,
              invoices: [],
            };
            await product.staff.post(`/staff/organizations/${person.organizationId}/transfers`, transfer);
          }
          if (one === undefined) continue;
          // In whatever way a price comes to be another.
          if (what === 'price')
            await sql(product, 'update services set price_minor = $2 where id = $1', one.id, minor);
          if (what === 'cycle')
            await sql(
              product,
              `update services set cycle = $2 where id = $1`,
              one.id,
              ['monthly', 'annually', 'triennially'][minor % 3],
            );
          if (what === 'end')
            await product.staff.post(`/staff/services/${one.id}/terminate`, { reason: 'x' });
          if (what === 'suspend')
            await product.staff.post(`/staff/services/${one.id}/suspend`, { reason: 'x' });
          if (what === 'refund')
            await product.staff.post(`/staff/invoices/${one.invoice_id}/refund`, {
              reason: 'x',
              method: 'credit',
            });
          if (nth % 2 === 0) await product.periodic('services.noteRecurring');
        }
        await product.periodic('services.noteRecurring');
        ends.push({ month, minor: await recurring() });
        month = following(month);
        await settled(product);
        product.clock.set(new Date(`${month}-01T02:00:00Z`));
        await product.periodic('billing.earn');
        if (ends.length % 2 === 0) await product.periodic('billing.closeBooks');
      }),
      { numRuns: 5, endOnFailure: true },
    );
    const { months } = await inEuro(`from=2027-01&to=${month}`);
    expect(months).toHaveLength(6);
    let [before, deferred] = [0, 0];
    for (const { month: of, recurring: moved, ...rest } of months) {
      const {
        start,
        new: added,
        expanded,
        contracted,
        lost,
        end,
      } = Object.fromEntries(
        Object.entries(moved as Record<string, string>).map(([name, text]) => [name, minorOf(text)]),
      ) as Record<string, number>;
      expect(start).toBe(before);
      expect((start ?? 0) + (added ?? 0) + (expanded ?? 0) - (contracted ?? 0) - (lost ?? 0)).toBe(end);
      const known = ends.find((each) => each.month === of);
      if (known) expect(end, of).toBe(known.minor);
      before = end ?? 0;
      expect(minorOf(rest.earned), of).toBe(await ledger(of, 'revenue'));
      deferred += await ledger(of, 'deferred');
      expect(minorOf(rest.deferred), of).toBe(deferred);
      expect(minorOf(rest.cash_in), of).toBe(
        0 - (await ledger(of, 'bank', `and t.kind = 'transfer_credited'`)),
      );
    }
    const [last] = (await inEuro(`from=${month}&to=${month}`)).months;
    expect(last).toEqual(months.at(-1));
  }, 240_000);

  it('have a delivery and an end on their own days, however late they are noted', async () => {
    at('2028-03-05');
    const id = await delivered();
    at('2028-04-10');
    await product.staff.post(`/staff/services/${id}/terminate`, { reason: 'x' });
    at('2028-03-20');
    await product.periodic('services.noteRecurring');
    // It came and went, and brought nothing while it was looked at.
    expect(await sql(product, 'select kind from recurring_changes where service_id = $1', id)).toEqual([]);
    at('2028-05-05');
    const other = await delivered();
    at('2028-06-08');
    await product.periodic('services.noteRecurring');
    await product.staff.post(`/staff/services/${other}/terminate`, { reason: 'x' });
    at('2028-07-20');
    await product.periodic('services.noteRecurring');
    await product.periodic('services.noteRecurring');
    const noted = await sql(
      product,
      'select kind, minor, counts_on::text from recurring_changes where service_id = $1 order by id',
      other,
    );
    expect(noted).toEqual([
      { kind: 'new', minor: 300, counts_on: '2028-05-05' },
      { kind: 'lost', minor: 300, counts_on: '2028-06-08' },
    ]);
  });

  it('begin, where they were not noted before, with what there is and what has ended', async () => {
    const file = path.join(import.meta.dirname, '../../../migrations/0064_books_and_figures.sql');
    const text = readFileSync(file, 'utf8');
    const tables = ['recurring_changes', 'recurring_revenue'];
    const triggers = (what: string) => `alter table recurring_changes ${what} trigger user;`;
    const empty = tables.map((name) => `delete from ${name};`).join(' ');
    await sql(product, `${triggers('disable')} ${empty} ${triggers('enable')}`);
    await sql(product, text.slice(text.indexOf('create temporary table')));
    const ended = await sql(product, `select id from recurring_changes where kind = 'lost'`);
    expect(ended.length).toBeGreaterThan(0);
    const { months } = await inEuro('');
    expect(minorOf(months.at(-1).recurring.end)).toBe(await recurring());
    const before = await sql(product, 'select id from recurring_changes');
    await product.periodic('services.noteRecurring');
    expect(await sql(product, 'select id from recurring_changes')).toEqual(before);
  });

  it('stand for each currency by themselves', async () => {
    await sql(
      product,
      `insert into recurring_changes (service_id, organization_id, currency, counts_on, kind, minor)
       select id, organization_id, 'JPY', '2028-02-01', 'new', 1500 from services limit 1`,
    );
    const { currencies } = await figures('from=2028-01&to=2028-03');
    const yen = currencies.find(({ currency }: { currency: string }) => currency === 'JPY');
    expect(yen.months.map((each: { recurring: { end: string } }) => each.recurring.end)).toEqual([
      '0',
      '1500',
      '1500',
    ]);
    expect(yen.open.total).toBe('0');
  });
});

describe('what is open', () => {
  it('is told by the days since it was due, and what buys credit is not in it', async () => {
    at('2029-01-01');
    const who = await newCustomer(product);
    const before = (await inEuro('')).open;
    const ages = [-5, 0, 30, 31, 60, 61, 90, 91, 400];
    for (const days of ages) {
      const id = await newInvoice(product, who);
      const due = new Date(product.clock.now().getTime() - days * 86_400_000);
      await sql(product, `update invoices set kind = 'renewal', expires_at = $2 where id = $1`, id, due);
    }
    await who.post('/dashboard/credit/top-up', { amount: '50.00' });
    const now = (await inEuro('')).open;
    const more = Object.fromEntries(
      Object.entries(now as Record<string, string>).map(([name, text]) => [
        name,
        Number(text) - Number(before[name]),
      ]),
    );
    expect(more).toEqual({
      ...{ invoices: 9, total: 27, not_due: 3, days_0_30: 6, days_31_60: 6, days_61_90: 6, days_over_90: 6 },
    });
  });

  it.each(['from=2027-05&to=2027-04', 'from=2020-01&to=2027-01', 'from=2027', 'to=2027-00', 'month=2027-01'])(
    'and figures of %s are refused',
    async (query) => {
      expect((await product.staff.get(`/staff/figures?${query}`)).status).toBe(400);
    },
  );

  it('is for those who see to money', async () => {
    const support = await newStaff(product, 'support');
    expect((await support.get('/staff/figures')).status).toBe(403);
  });
});
