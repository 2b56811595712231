/** Every kind of balance is computed anew: each is made wrong once, by somebody's hand in the database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

let paid: PaidProduct;
let openId: number;
let organizationId: number;

beforeAll(async () => {
  paid = await startPaidProduct({ env: { INVOICE_NUMBERING: 'issue' } });
  const { product, stripe } = paid;
  await sql(product, `insert into tax_rates (country, rate_basis_points) values ('NL', 2100)`);
  const person = await newCustomer(product, { country: 'NL', creditMinor: 5_000 });
  organizationId = person.organizationId;
  const byCard = async () => {
    const id = await newInvoice(product, person, 2);
    const { body } = await person.post(`/dashboard/invoices/${id}/pay`, { method: 'card' });
    await paid.click(body.data.redirect_url);
    const isPaid = async () => (await person.get(`/dashboard/invoices/${id}`)).body.data.invoice;
    const { payments } = await until(isPaid, ({ status }) => status === 'paid');
    await settled(product);
    return { id, intent: payments[0].reference as string };
  };
  // One that stays, one given back by us, one at the provider's desk, one disputed, one lost.
  await byCard();
  const refund = { method: 'original', reason: 'A part', amount: '1.00' };
  await product.staff.post(`/staff/invoices/${(await byCard()).id}/refund`, refund);
  stripe.account.refund((await byCard()).intent, 250, {});
  stripe.account.dispute((await byCard()).intent);
  const lost = stripe.account.dispute((await byCard()).intent);
  const seen = () => sql<{ state: string }>(product, 'select state from disputes');
  await until(seen, (rows) => rows.filter(({ state }) => state === 'open').length === 2);
  stripe.account.closeDispute(lost.id, 'lost');
  await until(seen, (rows) => rows.some(({ state }) => state === 'lost'));
  await until(
    () => sql(product, 'select reference from charge_returns'),
    (rows) => rows.length === 2,
  );
  await payByCredit(person, await newInvoice(product, person));
  openId = await newInvoice(product, person, 3);
  const transfer = {
    amount: '1.00',
    currency: 'EUR',
    reference: 'A part',
    invoices: [{ invoice_id: openId }],
  };
  expect(
    (await product.staff.post(`/staff/organizations/${organizationId}/transfers`, transfer)).status,
  ).toBe(200);
  await settled(product);
}, 120_000);
afterAll(() => paid.stop());

async function found(): Promise<string[]> {
  paid.product.clock.travel(86_400_000);
  await paid.product.periodic('billing.checkLedger');
  return (
    await sql<{ message: string }>(paid.product, 'select message from ledger_differences order by id')
  ).map(({ message }) => message);
}

/** Past the locks, as only the tables' owner could. */
async function tamper(table: string, change: string): Promise<void> {
  const locks = (what: string) => `alter table ${table} ${what} trigger user;`;
  await sql(paid.product, `${locks('disable')} update ${table} set ${change}; ${locks('enable')}`);
}

const euro = /-?\d+\.\d\d EUR/;
const ends = (rows: string) =>
  new RegExp(`^The accounts? [a-z ]+ holds? ${euro.source}, and ${rows} add up to ${euro.source}$`);

describe('a balance that rows stand for', () => {
  it('is right after cards, refunds, disputes, parts and credit, with every kind of account moved', async () => {
    expect(await found()).toEqual([]);
    const kinds = await sql<{ kind: string }>(
      paid.product,
      'select distinct a.kind from ledger_entries e join ledger_accounts a on a.id = e.account_id order by 1',
    );
    expect(kinds.map(({ kind }) => kind)).toEqual(
      [
        'bank',
        'credit',
        'deferred',
        'disputes',
        'fees',
        'goodwill',
        'parts',
        'provider',
        'receivable',
        'revenue',
        'tax',
      ].filter(
        // What is ordered is for a period that has not begun, so nothing of it is earned.
        (kind) => kind !== 'revenue',
      ),
    );
  });

  it.each([
    [
      'the bank',
      'transfers',
      'amount_minor = amount_minor + 1',
      'amount_minor = amount_minor - 1',
      /^The account bank holds/,
    ],
    [
      'the payment provider',
      'charges',
      `amount_minor = amount_minor + 7 where id = (select min(id) from charges where state = 'paid')`,
      `amount_minor = amount_minor - 7 where id = (select min(id) from charges where state = 'paid')`,
      /^The account provider holds/,
    ],
    [
      'what went back by the provider',
      'charge_returns',
      'amount_minor = amount_minor - 1',
      'amount_minor = amount_minor + 1',
      /^The account provider holds/,
    ],
    [
      'fees',
      'charges',
      'fee_minor = fee_minor + 1 where fee_minor > 0',
      'fee_minor = fee_minor - 1 where fee_minor > 0',
      /^The account (fees|provider) holds/,
    ],
    [
      'disputes',
      'disputes',
      `amount_minor = amount_minor + 1 where state = 'open'`,
      `amount_minor = amount_minor - 1 where state = 'open'`,
      /^The account (disputes|provider) holds/,
    ],
    [
      'deferred revenue',
      'deferrals',
      'amount_minor = amount_minor + 1',
      'amount_minor = amount_minor - 1',
      /^The account deferred holds/,
    ],
    [
      'parts',
      'invoices',
      `paid_minor = paid_minor + 1 where status = 'unpaid'`,
      `paid_minor = paid_minor - 1 where status = 'unpaid'`,
      /^The account parts holds/,
    ],
    [
      'tax',
      'refunds',
      'tax_minor = tax_minor + 1',
      'tax_minor = tax_minor - 1',
      /^The account tax holds|^The accounts revenue and deferred hold/,
    ],
    [
      'what is sold',
      'refunds',
      `amount_minor = amount_minor + 1 where charge_id is null or reference is not null`,
      `amount_minor = amount_minor - 1 where charge_id is null or reference is not null`,
      /^The accounts revenue and deferred hold|^The account provider holds/,
    ],
  ])('that is wrong is found and named: %s', async (_, table, change, mend, words) => {
    await tamper(table, change);
    const told = await found();
    expect(told).not.toEqual([]);
    for (const message of told) {
      expect(message).toMatch(words);
      expect(message).toMatch(ends('[a-z, ]+'));
    }
    await tamper(table, mend);
    expect(await found()).toEqual([]);
  });

  it('that is wrong is found and named: what a customer owes, with its invoice', async () => {
    await tamper('invoices', `booked_at_issue = false where id = ${openId}`);
    const told = await found();
    expect(told[0]).toBe(
      `By the ledger organization ${organizationId} owes 10.89 EUR for invoice ${openId}; 0.00 EUR of it is open`,
    );
    expect(told.slice(1).join()).toMatch(
      /^The account receivable holds 10\.89 EUR, and .* add up to 0\.00 EUR/,
    );
    await tamper('invoices', `booked_at_issue = true where id = ${openId}`);
    expect(await found()).toEqual([]);
  });
});
