import { afterAll, beforeAll, expect, it } from 'vitest';
import { pagesOf } from '../../test/plans.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';

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

it('an address is found without a look at those that are taken, however many these are', async () => {
  const values = {
    location: 'LARGE',
    organizationId: '1',
    serviceIds: '{9000001}',
    counts: '{1}',
    total: '1',
  };
  const pages = await pagesOf(product, 'fleet.takeFreeAddresses', { ...values, after: '0', held: 'false' });
  expect(pages).toHaveLength(2);
  expect(Math.max(...pages)).toBeLessThan(60);
});

it('whether there is one is known as soon', async () => {
  const pages = await pagesOf(product, 'fleet.freeAddresses', { location: 'LARGE', most: '1' });
  expect(Math.max(...pages)).toBeLessThan(60);
});
