import type { Page, Payments } from '../../drivers/payments/index.ts';
import { statusOfOrganization } from '../../organizations/index.ts';
import type { Bytes } from '../../platform/http/index.ts';
import { type Context, fail, requireRow, type TxContext, transaction } from '../../platform/index.ts';
import { dueOf, invoiceById, lockInvoice, type Payable } from '../invoices/payable.ts';
import { closePages } from '../payments/settle.ts';
import { type Charge, chargeById, newCharge, openPageOf, setAmount, setPage } from './charge.ts';
import { withCustomerAt } from './customer.ts';
import { type Errand, errandOf, linkOf } from './link.ts';
import { isPaymentComing } from './onItsWay.ts';
import { asking, requireProvider } from './provider.ts';

/** A page that is about to end is not worth going to. */
const freshMs = 600_000;

/**
 * Asks for a part of an invoice, whose row is locked, on a page: the charge, and the address to send the customer to. One
 * that nobody has used yet is taken again, so two clicks are one charge.
 */
export async function wantPage(
  tx: TxContext,
  invoice: Payable,
  asked: { amountMinor: number; usesCredit: boolean },
): Promise<{ charge: Charge; link: string }> {
  const { id: invoiceId, organization_id, currency } = invoice;
  const { amountMinor, usesCredit } = asked;
  const driver = requireProvider(tx);
  const before = await tx.db.maybe(openPageOf, { invoiceId, driver, usesCredit });
  if (before !== null) await tx.db.run(setAmount, { id: before.id, amountMinor });
  const charge =
    before ??
    (await newCharge(tx, {
      ...{ organization_id, invoice_id: invoiceId, driver, means: 'page', method_id: null, attempt: null },
      ...{ amount_minor: amountMinor, currency, uses_credit: usesCredit, reference: null },
    }));
  return { charge, link: linkOf(tx, { kind: 'charge', chargeId: charge.id }) };
}

/**
 * Sends whoever comes with an address of ours to the provider's page, which is opened now if there is none. Talks to the
 * provider, so it runs in no transaction. `not_found`, `payment_provider_unavailable`, `payment_not_possible`.
 */
export async function goToPage(ctx: Context, payments: Payments, told: string): Promise<Bytes> {
  const errand = errandOf(ctx, told);
  if (errand === null) throw fail('not_found', { message: 'This link is not valid, or its time is over' });
  const goTo =
    errand.kind === 'method'
      ? await savingPage(ctx, payments, errand)
      : await chargePage(ctx, payments, errand.chargeId);
  return { body: Buffer.from(`Go to ${goTo}\n`), type: 'text/plain; charset=utf-8', goTo };
}

async function savingPage(
  ctx: Context,
  payments: Payments,
  { organizationId, nonce }: Extract<Errand, { kind: 'method' }>,
): Promise<string> {
  if ((await statusOfOrganization(ctx, organizationId)) === 'closed')
    throw fail('not_found', { message: 'The account that wanted to save it is closed' });
  const back = `${ctx.config.publicUrl}/billing/payment-methods`;
  const urls = { returnUrl: `${back}?saved=true`, cancelUrl: back };
  const page = await asking(() =>
    withCustomerAt(ctx, payments, organizationId, (customer) => {
      const key = `saving-${nonce}-${customer}`;
      // Which currency says which methods are offered; a card takes any.
      return payments.openSavingPage({ key, id: nonce, customer, currency: 'EUR', ...urls });
    }),
  );
  return page.url;
}

async function chargePage(ctx: Context, payments: Payments, id: number): Promise<string> {
  const charge = await requireRow(ctx, chargeById, { id });
  const invoice = await ctx.db.one(invoiceById, { id: charge.invoice_id });
  const back = `${ctx.config.publicUrl}/invoices/${invoice.id}`;
  // What was paid in the meantime is shown, and not asked for again.
  if (charge.state !== 'open' || invoice.status !== 'unpaid' || charge.driver !== payments.kind) return back;
  if (await isPaymentComing(ctx, invoice.id)) return back;
  const amountMinor = Math.min(charge.amount_minor, dueOf(invoice));
  const isFresh =
    charge.page_expires_at !== null && charge.page_expires_at.getTime() > ctx.clock.now().getTime() + freshMs;
  if (charge.page_url !== null && isFresh && amountMinor === charge.amount_minor) return charge.page_url;
  const page = await openPage(ctx, payments, charge, { amountMinor, back });
  return (await keepPage(ctx, charge, page, amountMinor)) ? page.url : back;
}

async function openPage(
  ctx: Context,
  payments: Payments,
  charge: Charge,
  { amountMinor, back }: { amountMinor: number; back: string },
): Promise<Page> {
  const { id, pages, currency, invoice_id: invoiceId, page_reference: before } = charge;
  return asking(async () => {
    if (before !== null) await payments.closePage(before);
    const { organization_id: organizationId } = charge;
    return withCustomerAt(ctx, payments, organizationId, (customer) =>
      payments.openPaymentPage({
        // Two who come at once, or again after an answer was lost, open one page.
        key: `page-${id}-${pages}-${amountMinor}-${customer}`,
        ...{ id, customer, currency, amountMinor, invoiceId, organizationId },
        description: `Invoice ${invoiceId}`,
        returnUrl: `${back}?paid=true`,
        cancelUrl: back,
      }),
    );
  });
}

/**
 * Writes down which page it is. The invoice may have been paid or given up while the provider opened it: then nobody else
 * knows of the page, which is closed. Says whether it can be paid on.
 */
function keepPage(
  ctx: Context,
  { id, pages, invoice_id: invoiceId }: Charge,
  { reference, url, expiresAt }: Page,
  amountMinor: number,
): Promise<boolean> {
  return transaction(ctx, 'billing.keepPage', async (tx) => {
    const invoice = await tx.db.one(lockInvoice, { id: invoiceId });
    await tx.db.run(setPage, { id, pages, reference, url, expiresAt, amountMinor });
    if (invoice.status === 'unpaid') return true;
    await closePages(tx, invoice);
    return false;
  });
}
