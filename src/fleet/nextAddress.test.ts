import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';
import { allStatements } from '../platform/database/index.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
  await sql(
    product,
    `with pool as (insert into address_pools (name, location, family, network, gateway, created_at)
       values ('large', 'LARGE', 4, '10.128.0.0/14', '10.128.0.1', now()) returning id)
     insert into addresses (address, pool_id, state) select '10.128.0.1'::inet + i, id, 'free'
     from pool, generate_series(1, 40000) i`,
  );
  await sql(product, 'vacuum analyze addresses');
  // After the statistics, which then still say that nearly all are free.
  await sql(
    product,
    `update addresses set state = 'taken', organization_id = 1, service_id = 1, ordinal = 1
     where address between '10.128.0.2' and '10.128.31.0'`,
  );
  await sql(product, 'vacuum addresses');
});
afterAll(() => product.stop());

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

/** Pages that a statement reads: with a plan made for these values, and with one that is made once for all. */
async function pagesOf(name: string, values: Record<string, string>): Promise<number[]> {
  const asked = allStatements().find((each) => each.name === name);
  if (asked === undefined) throw new Error(`there is no statement ${name}`);
  const given = asked.names.map((parameter) => `'${values[parameter]}'`).join(', ');
  const client = new pg.Client({ connectionString: product.databaseUrl });
  await client.connect();
  const pages: number[] = [];
  await client.query(`prepare asked as ${asked.text}`);
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`);
    await client.query('begin');
    const { rows } = await client.query(`explain (analyze, buffers, format json) execute asked(${given})`);
    await client.query('rollback');
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: Plan }];
    pages.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
  }
  await client.end();
  return pages;
}

it('an address is found without a look at those that are taken, however many these are', async () => {
  const values = {
    location: 'LARGE',
    organizationId: '1',
    serviceIds: '{9000001}',
    counts: '{1}',
    total: '1',
  };
  const pages = await pagesOf('fleet.takeFreeAddresses', { ...values, after: '0', held: 'false' });
  expect(pages).toHaveLength(2);
  expect(Math.max(...pages)).toBeLessThan(60);
});

it('whether there is one is known as soon', async () => {
  const pages = await pagesOf('fleet.freeAddresses', { location: 'LARGE', most: '1' });
  expect(Math.max(...pages)).toBeLessThan(60);
});
