import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
  const change = { bookkeeping: { consultant: 29_098, client: 55_003 } };
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

describe('a month of 100,000 postings', () => {
  it('is sent while it is read, in files that DATEV takes, and not loaded', async () => {
    const last = '2027-01';
    const count = 100_000;
    await sql(
      product,
      `with t as (insert into ledger_transactions (kind, description, created_at)
         select 'provider_fee', 'Fee ' || n || repeat('x', 100), $1::date + interval '1 day' from generate_series(1, ${count}) n returning id),
       a as (insert into ledger_accounts (kind, currency) values ('fees', 'EUR'), ('provider', 'EUR') returning id, kind)
       insert into ledger_entries (transaction_id, account_id, amount_minor)
       select t.id, a.id, case a.kind when 'fees' then 7 else -7 end from t, a`,
      `${last}-01`,
    );
    product.clock.set(new Date('2027-02-01T02:00:00Z'));
    await product.periodic('billing.closeBooks');
    const { api_key: token } = product.demo.staff;
    const before = process.memoryUsage().heapUsed;
    let [most, bytes] = [0, 0];
    const answer = await fetch(`${product.url}/api/staff/bookkeeping/export?month=${last}`, {
      headers: { token },
    });
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length;
      most = Math.max(most, process.memoryUsage().heapUsed - before);
    }
    expect(bytes).toBeGreaterThan(2 * count * 150);
    expect(most / 2 ** 20).toBeLessThan(150);
    const rows = async (part: number) =>
      (await exported(`month=${last}&format=datev&part=${part}`)).toString('latin1').split('\r\n').length - 3;
    const [first, second] = [await rows(1), await rows(2)];
    expect([first, second > 0 && second < 1_000]).toEqual([99_999, true]);
  }, 300_000);
});
