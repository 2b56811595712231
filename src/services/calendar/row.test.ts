import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer } from '../../../test/people.ts';
import { pagesOf } from '../../../test/plans.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

it('whether a service is being paid is known without a look at the charges of others, however many these are', async () => {
  const customer = await newCustomer(product, { creditMinor: 1_000 });
  const invoiceId = await newInvoice(product, customer);
  await payByCredit(customer, invoiceId);
  await settled(product);
  const [row] = await sql<{ service_id: number }>(
    product,
    `insert into service_calendar (service_id, organization_id, due_on, look_on, round, invoice_id)
     select id, organization_id, '2026-01-01', '2026-01-01', 1, $1::bigint from services where invoice_id = $1
     returning service_id`,
    invoiceId,
  );
  // Of invoices that are not there: only the charges count here.
  await sql(product, 'alter table charges drop constraint charges_invoice_id_fkey');
  await sql(
    product,
    `insert into charges (id, organization_id, invoice_id, driver, means, amount_minor, currency, uses_credit, state, created_at)
     select 1000000 + n, $1, 1000000 + n / 2, 'stripe', 'page', 300, 'EUR', false, 'over', now()
     from generate_series(1, 40000) n`,
    product.demo.customer.organization_id,
  );
  await sql(product, 'vacuum analyze charges');
  const pages = await pagesOf(product, 'services.calendarRows', {
    ids: `{${row?.service_id}}`,
    driver: 'stripe',
    now: product.clock.now().toISOString(),
  });
  expect(pages).toHaveLength(2);
  expect(Math.max(...pages)).toBeLessThan(60);
});
