/** What an invoice's page says of money that was asked for. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { newInvoice } from '../test/invoices.ts';
import { sql } from '../test/sql.ts';
import { stripeEnv } from '../test/stripe/product.ts';
import { startStripe } from '../test/stripe/standIn.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
let stripe: Awaited<ReturnType<typeof startStripe>>;
beforeAll(async () => {
  stripe = await startStripe();
  bed = await openBed({ env: stripeEnv(stripe) });
});
afterEach(() => bed.closeWindows());
afterAll(async () => {
  await bed?.close();
  await stripe?.close();
});

/** Money that was asked for of an invoice, and has not come yet. Returns the invoice's id. */
async function asked(): Promise<number> {
  const id = await newInvoice(bed.product, bed.product.customer);
  await sql(
    bed.product,
    `insert into charges (id, organization_id, invoice_id, driver, means, amount_minor, currency, uses_credit, state, reference,
       created_at, pending_at)
     select id, organization_id, id, 'stripe', 'page', 300, 'EUR', false, 'pending', 'pi_' || id, created_at, created_at
     from invoices where id = $1`,
    id,
  );
  return id;
}

it('says of an invoice that its money is on its way, and that it was declined', async () => {
  const id = await asked();
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

it('says that the bank wants its customer to confirm, and opens the page where that is done', async () => {
  const id = await asked();
  await sql(
    bed.product,
    `update charges set state = 'failed', decline_message = 'Confirm it.', needs_customer = true where invoice_id = $1`,
    id,
  );
  const { page, faults, ...visitor } = await bed.open({ viewport: { width: 320, height: 640 } });
  await signIn(bed, { page, faults, ...visitor }, `/invoices/${id}`);
  await page.getByText('Your bank wants you to confirm the payment').waitFor();
  expect(await page.getByText('declined').count()).toBe(0);
  expect(await faults()).toEqual([]);
  const opened = page.waitForRequest((request) => request.url().startsWith(stripe.url));
  await page.getByRole('button', { name: 'Pay and confirm' }).click();
  expect((await opened).isNavigationRequest()).toBe(true);
});
