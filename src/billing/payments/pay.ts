import type { PaymentProvider } from '../../config.ts';
import {
  fail,
  type OrganizationContext,
  requireRow,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { chargesOf, viewCharge } from '../charges/charge.ts';
import { spendableCredit } from '../charges/held.ts';
import { creditPartOf, leastByProvider, reasonAgainstLittle } from '../charges/least.ts';
import { isMethodsPaymentComing, isPaymentComing } from '../charges/onItsWay.ts';
import { wantPage } from '../charges/page.ts';
import { requireProvider } from '../charges/provider.ts';
import { wantCharge } from '../charges/saved.ts';
import { dueOf, lockInvoice, lockOwnInvoice, type Payable } from '../invoices/payable.ts';
import { readInvoice } from '../invoices/read.ts';
import { methodById } from '../methods/method.ts';
import { numberPaid, type Payment, payRest, requireUnpaid } from './settle.ts';
import { paymentComing, reasonAgainstCredit, reasonAgainstSpending } from './ways.ts';

/** How a customer wants to pay. */
interface Way {
  /** `card`: whichever payment provider there is. */
  method: 'credit' | 'card' | PaymentProvider;
  payment_method_id?: number;
  use_credit?: boolean;
}

/**
 * Pays an invoice of the organization: from credit at once, or by the payment provider, where it is paid once the money is
 * there. `insufficient_credit`, `invoice_not_payable`, `payment_provider_missing`, `payment_method_unknown`,
 * `payment_too_small`.
 */
export async function payInvoice(ctx: OrganizationContext, id: number, way: Way) {
  return transaction(ctx, 'billing.pay', async (tx) => {
    const invoice = await lockOwnInvoice(tx, id);
    if (way.method === 'credit') await payWithCredit(tx, invoice);
    const asked = way.method === 'credit' ? nothing : await askProvider(tx, invoice, way);
    return { ...(await readInvoice(tx, id)), ...asked };
  });
}

/** Pays an invoice that asks for nothing, in the transaction that issued it. */
export async function settleFree(tx: TxContext, id: number): Promise<void> {
  const invoice = await requireRow(tx, lockInvoice, { id });
  if (invoice.total_minor !== 0) throw new Error(`invoice ${id} is not free`);
  await pay(tx, invoice, 'none');
}

interface Asked {
  redirect_url: string | null;
  charge: ReturnType<typeof viewCharge> | null;
}

const nothing: Asked = { redirect_url: null, charge: null };

async function askProvider(
  tx: OrganizationContext & TxContext,
  invoice: Payable,
  { method: wanted, payment_method_id: methodId, use_credit: usesCredit = false }: Way,
): Promise<Asked> {
  requireUnpaid(invoice);
  requireProvider(tx, wanted);
  const method = methodId === undefined ? null : await requireMethod(tx, methodId);
  if (usesCredit) requireCreditTaken(invoice);
  const { organization_id: organizationId, currency } = invoice;
  const heldMinor = usesCredit ? await spendableCredit(tx, organizationId, currency) : 0;
  const leastMinor = leastByProvider(tx, currency);
  const amountMinor = dueOf(invoice) - creditPartOf(heldMinor, dueOf(invoice), { currency, leastMinor });
  if (amountMinor <= 0) {
    await payWithCredit(tx, invoice);
    return nothing;
  }
  const tooLittle = reasonAgainstLittle(amountMinor, leastMinor, currency);
  if (tooLittle !== null) throw fail(tooLittle.code, { message: tooLittle.message });
  const asked = { amountMinor, usesCredit };
  if (await isPaymentComing(tx, invoice.id)) throw fail('invoice_not_payable', { message: paymentComing });
  if (method !== null) await requireNoneAsked(tx, invoice, method.id);
  if (method !== null)
    return { ...nothing, charge: viewCharge(await wantCharge(tx, invoice, method, asked)) };
  const { charge, link } = await wantPage(tx, invoice, asked);
  return { redirect_url: link, charge: viewCharge({ ...charge, amount_minor: amountMinor }) };
}

/**
 * Two charges of saved methods at once would both be taken, and so would two of one account, whose answer takes days. What else is on
 * its way is looked at before, as on a page.
 */
async function requireNoneAsked(tx: TxContext, { id }: Payable, methodId: number): Promise<void> {
  if (await isMethodsPaymentComing(tx, id, methodId)) {
    const message = `A debit of this account for invoice ${id} is on its way already; wait for it, or pay in another way`;
    throw fail('invoice_not_payable', { message });
  }
  const driver = tx.config.payments;
  if ((await tx.db.one(chargesOf, { invoiceId: id, driver })).open_saved === 0) return;
  const message = `Invoice ${id} is being charged to a saved method already; it is paid once that has an answer`;
  throw fail('invoice_not_payable', { message });
}

async function requireMethod(tx: OrganizationContext & TxContext, id: number) {
  const method = await tx.db.maybe(methodById, { id });
  if (method !== null && method.organization_id !== tx.organizationId) throw fail('forbidden');
  if (method === null || method.driver !== tx.config.payments) throw fail('payment_method_unknown');
  return method;
}

/** Takes what is due from credit. `insufficient_credit`, `invoice_not_payable`. */
async function payWithCredit(tx: TxContext, invoice: Payable): Promise<void> {
  requireCreditTaken(invoice);
  requireUnpaid(invoice);
  const { organization_id: organizationId, currency } = invoice;
  const spendableMinor = await spendableCredit(tx, organizationId, currency);
  const refusal = reasonAgainstSpending(dueOf(invoice), spendableMinor, currency);
  if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
  await pay(tx, invoice, 'credit');
}

function requireCreditTaken(invoice: Payable): void {
  const refusal = reasonAgainstCredit(invoice);
  if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
}

async function pay(tx: TxContext, invoice: Payable, method: 'credit' | 'none'): Promise<void> {
  requireUnpaid(invoice);
  const payment: Payment = { method, transferId: null, chargeId: null, reference: null, receivedOn: null };
  await payRest(tx, invoice, payment);
  await numberPaid(tx, invoice, payment);
}
