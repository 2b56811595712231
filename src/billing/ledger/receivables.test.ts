import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice } from '../../../test/invoices.ts';
import { newCustomer } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { receivablesThatDiffer } from './receivables.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct({ env: { INVOICE_NUMBERING: 'issue' } });
});
afterAll(() => product.stop());

it('what customers owe is looked at a few accounts at a time, all of them, and what differs is said in words', async () => {
  const organizations: number[] = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const { organizationId, ...person } = await newCustomer(product);
    await newInvoice(product, person);
    organizations.push(organizationId);
  }
  const accounts = await sql<{ id: number; organization_id: number }>(
    product,
    `select id::int, organization_id from ledger_accounts
     where kind = 'receivable' and organization_id = any($1::bigint[]) order by id`,
    organizations,
  );
  expect(accounts.map((each) => Number(each.organization_id))).toEqual(organizations);
  const wrong = organizations[1] ?? 0;
  // Whatever has been there before is left out.
  const before = (accounts[0]?.id ?? 0) - 1;
  const slip = (invoiceId: string) =>
    sql(
      product,
      `with t as (insert into ledger_transactions (organization_id, kind, invoice_id, description, created_at)
         values ($1, 'invoice_issued', ${invoiceId}, 'A slip', now()) returning id)
       insert into ledger_entries (transaction_id, account_id, organization_id, amount_minor)
       select t.id, a.id, a.organization_id, case a.kind when 'receivable' then 150 else -150 end
       from t, ledger_accounts a where a.currency = 'EUR'
         and (a.kind = 'receivable' and a.organization_id = $1 or a.kind = 'deferred' and a.organization_id is null)`,
      wrong,
    );
  await slip('null');
  await slip('(select id from invoices where organization_id = $1)');
  const seen: string[] = [];
  const reached: (number | null)[] = [];
  for (let after: number | null = before; after !== null; ) {
    const { differences, last } = await receivablesThatDiffer(product.ctx, { after, limit: 1 });
    seen.push(...differences.map(({ what, subject, message }) => `${what} ${subject}: ${message}`));
    reached.push(last);
    after = last;
  }
  expect(reached).toEqual([...accounts.map(({ id }) => id), null]);
  const [{ id: invoiceId } = { id: 0 }] = await sql<{ id: number }>(
    product,
    'select id from invoices where organization_id = $1',
    wrong,
  );
  expect(seen.toSorted()).toEqual(
    [
      `receivable ${wrong} none: By the ledger organization ${wrong} owes 1.50 EUR for no invoice; 0.00 EUR of it is open`,
      `receivable ${wrong} ${invoiceId}: By the ledger organization ${wrong} owes 4.50 EUR for invoice ${invoiceId}; 3.00 EUR of it is open`,
    ].toSorted(),
  );
  // All at once is the end as well.
  expect((await receivablesThatDiffer(product.ctx, { after: before, limit: 4 })).last).toBe(null);
});
