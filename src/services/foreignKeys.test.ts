import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

// What belongs to a service is looked for by it, and grows with the years: without an index each look reads all of it.
it('every table that names a service finds its rows by an index that begins with it', async () => {
  const missing = await sql<{ place: string }>(
    product,
    `select c.conrelid::regclass || '.' || a.attname as place from pg_constraint c
     join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.contype = 'f' and c.confrelid = 'services'::regclass
       and not exists (select 1 from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1]
         and i.indpred is null)
     order by 1`,
  );
  expect(missing).toEqual([]);
});
