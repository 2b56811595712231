/** What an invoice's page says of money that was asked for. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice } from '../test/invoices.ts';
import { sql } from '../test/sql.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed?.close());

it('says of an invoice that its money is on its way, and that it was declined', async () => {
  const id = await newInvoice(bed.product, bed.product.customer);
  await sql(
    bed.product,
    `insert into charges (id, organization_id, invoice_id, driver, means, amount_minor, currency, uses_credit, state, reference,
       created_at, pending_at)
     select id, organization_id, id, 'stripe', 'page', 300, 'EUR', false, 'pending', 'pi_' || id, created_at, created_at
     from invoices where id = $1`,
    id,
  );
  const { page, ...visitor } = await bed.open();
  await signIn(bed, { page, ...visitor }, `/invoices/${id}`);
  await page.getByText('€3.00 was asked for and is on its way').waitFor();
  await sql(
    bed.product,
    `update charges set state = 'failed', decline_message = 'The account has too little.' where invoice_id = $1`,
    id,
  );
  await page.reload();
  await page.getByText('The last payment was declined: The account has too little.').waitFor();
  expect(await page.getByText('is on its way').count()).toBe(0);
});
