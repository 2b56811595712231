/** Money for an organization that was closed meanwhile: nobody is there to use it, so staff gives it back. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { newInvoice } from '../../../test/invoices.ts';
import { newCustomer, type Person, signedIn } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { failFor, type PaidProduct, startPaidProduct } from '../../../test/stripe/product.ts';

let paid: PaidProduct;
beforeAll(async () => {
  paid = await startPaidProduct();
});
afterAll(async () => {
  await settled(paid.product);
  expect(await audit(paid.product.databaseUrl)).toEqual([]);
  await paid.stop();
});

async function close(who: Person): Promise<void> {
  const here = await signedIn(paid.product, who);
  const { status, body } = await here.post('/dashboard/account/close', { give_up_credit: true });
  expect(status, JSON.stringify(body)).toBe(200);
  await settled(paid.product);
}

/** What staff is told of an organization, in words. */
async function told(organizationId: number): Promise<string[]> {
  const { body } = await paid.product.staff.get('/staff/attention');
  const all = body.data.concerns as { kind: string; subject: { id: number }; message: string }[];
  return all
    .filter(({ kind, subject }) => kind === 'credit.ofClosed' && subject.id === organizationId)
    .map(({ message }) => message);
}

const mailsOf = (organizationId: number) =>
  sql(paid.product, 'select recipient, subject from mails where organization_id = $1', organizationId);

it('a transfer for a closed organization is told to staff until it is sent back; credit that was given up is not', async () => {
  const who = await newCustomer(paid.product, { creditMinor: 200 });
  const id = await newInvoice(paid.product, who);
  expect((await who.post(`/dashboard/invoices/${id}/cancel`, {})).status).toBe(200);
  await close(who);
  const mails = await mailsOf(who.organizationId);
  expect(await told(who.organizationId)).toEqual([]);

  paid.product.clock.travel(86_400_000);
  const reference = `late ${id}`;
  const sent = { amount: '3.00', currency: 'EUR', reference, received_on: '2026-01-30' };
  const { status, body } = await paid.product.staff.post(
    `/staff/organizations/${who.organizationId}/transfers`,
    sent,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  const [message, ...more] = await told(who.organizationId);
  expect(more).toEqual([]);
  expect(message).toContain(reference);
  expect(message).toContain('EUR');
  expect(message).toContain('take-back');
  await settled(paid.product);
  expect(await mailsOf(who.organizationId)).toEqual(mails);

  const back = await paid.product.staff.post(`/staff/transfers/${body.data.transfer.id}/take-back`, {
    reason: 'Sent back: nobody is there any more',
  });
  expect(back.status, JSON.stringify(back.body)).toBe(200);
  expect(await told(who.organizationId)).toEqual([]);
});

it('a payment by card for an invoice that was cancelled is told until the provider gave it back', async () => {
  const who = await newCustomer(paid.product);
  const id = await newInvoice(paid.product, who);
  const { body } = await who.post(`/dashboard/invoices/${id}/pay`, { method: 'card', use_credit: false });
  const { location } = await paid.follow(body.data.redirect_url);
  // The page stays open, since the provider does not hear that it is to be closed.
  await failFor(paid, 'billing.closePages', /expire$/, async () =>
    expect((await who.post(`/dashboard/invoices/${id}/cancel`, {})).status).toBe(200),
  );
  await close(who);
  expect(await told(who.organizationId)).toEqual([]);

  paid.product.clock.travel(60_000);
  await paid.stripe.click(location);
  const [message] = await until(
    () => told(who.organizationId),
    (messages) => messages.length > 0,
  );
  expect(message).toContain(`invoice ${id}`);
  const [charge] = await sql<{ reference: string }>(
    paid.product,
    `select reference from charges where invoice_id = $1 and state = 'paid'`,
    id,
  );
  paid.stripe.account.refund(charge?.reference ?? '', 300, {});
  await until(
    () => told(who.organizationId),
    (messages) => messages.length === 0,
  );
});
