import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { accounts } from './accounts.ts';

let product: TestProduct;
let person: Person;
beforeAll(async () => {
  product = await startTestProduct();
  person = await newCustomer(product, { creditMinor: 1_000 });
  await payByCredit(person, await newInvoice(product, person));
});
afterAll(() => product.stop());
beforeEach(() => {
  product.clock.travel(86_400_000);
});

async function found(): Promise<string[]> {
  await product.periodic('billing.checkLedger');
  const { concerns } = (await product.staff.get('/staff/attention')).body.data;
  return (concerns as { kind: string; message: string }[])
    .filter(({ kind }) => kind === 'ledger.difference')
    .map(({ message }) => message);
}

/** Past the locks, as only the tables' owner could. */
async function tamper(text: string): Promise<void> {
  const locks = (what: string) => `alter table ledger_entries ${what} trigger user;`;
  await sql(product, `${locks('disable')} ${text}; ${locks('enable')}`);
}

describe('every night', () => {
  it('books that are right are found right', async () => {
    expect(await found()).toEqual([]);
    const metrics = await (await fetch(`${product.url}/metrics`)).text();
    expect(metrics).toMatch(/^innkeeper_ledger_differences 0$/m);
    const checked = /^innkeeper_ledger_checked_timestamp_seconds (\S+)$/m.exec(metrics)?.[1];
    expect(Number(checked) * 1_000).toBeCloseTo(product.clock.now().getTime(), -4);
  });

  it.each([
    [
      'a balance that is not the sum of its entries',
      'balance_minor = balance_minor + 1 where sequence = 2',
      'balance_minor = balance_minor - 1 where sequence = 2',
      /is shown 7\.01 EUR of credit; its entries add up to 7\.00 EUR/,
    ],
    [
      'an entry that was changed',
      'amount_minor = amount_minor - 5 where sequence = 1',
      'amount_minor = amount_minor + 5 where sequence = 1',
      /add up to -5 instead of 0|its entries add up to 7\.05 EUR/,
    ],
  ])('%s is found, told until it is mended, and then forgotten', async (_, change, mend, words) => {
    const here = `and account_id = (select id from ledger_accounts where kind = 'credit' and organization_id = ${person.organizationId})`;
    await tamper(`update ledger_entries set ${change} ${here}`);
    const told = await found();
    expect(told).not.toEqual([]);
    for (const message of told) expect(message).toMatch(words);
    product.clock.travel(86_400_000);
    expect(await found()).toEqual(told);
    await tamper(`update ledger_entries set ${mend} ${here}`);
    product.clock.travel(86_400_000);
    expect(await found()).toEqual([]);
  });

  it('is once a night, however often it is asked', async () => {
    const finished = () => sql(product, 'select finished_at from ledger_checks');
    await product.periodic('billing.checkLedger');
    const before = await finished();
    product.clock.travel(60_000);
    await product.periodic('billing.checkLedger');
    expect(await finished()).toEqual(before);
  });
});

it('the chart of accounts is the one that the database holds to', async () => {
  const [row] = await sql<{ check: string }>(
    product,
    `select pg_get_constraintdef(oid) as check from pg_constraint where conname = 'ledger_accounts_kind_check'`,
  );
  const kinds = [...(row?.check ?? '').matchAll(/'(\w+)'/g)].map(([, kind]) => kind);
  expect(kinds.toSorted()).toEqual(Object.keys(accounts).toSorted());
  const [whose] = await sql<{ check: string }>(
    product,
    `select pg_get_constraintdef(oid) as check from pg_constraint where conname = 'ledger_accounts_whose'`,
  );
  const owned = [...(whose?.check ?? '').matchAll(/'(\w+)'/g)].map(([, kind]) => kind);
  const expected = Object.entries(accounts).filter(([, { whose: of }]) => of === 'organization');
  expect(owned.toSorted()).toEqual(expected.map(([kind]) => kind).toSorted());
});
