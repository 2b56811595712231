import { fail, parseMoney, refuse, type TxContext } from '../../platform/index.ts';
import { dueOf, inWords, lockInvoices, lockUnpaid, type Payable } from '../invoices/payable.ts';
import { overOldest, type Part } from './parts.ts';
import { requireUnpaid } from './settle.ts';

/** As staff names it; without an amount, all that is due and there. */
export interface NamedPart {
  invoice_id: number;
  amount?: string;
}

interface Money {
  organizationId: number;
  amountMinor: number;
  currency: string;
}

/** What an organization has to pay, the oldest first, as far as the money goes. */
export async function splitOverUnpaid(tx: TxContext, money: Money): Promise<Part[]> {
  const { organizationId, currency } = money;
  return overOldest(await tx.db.many(lockUnpaid, { organizationId, currency }), money.amountMinor);
}

/**
 * The invoices that staff names, in that order. What is named for one that was cancelled is as much as it says:
 * it becomes credit. `invalid_request`, `invalid_amount`, `payment_mismatch`, `invoice_not_payable`.
 */
export async function splitAsNamed(
  tx: TxContext,
  money: Money,
  named: readonly NamedPart[],
): Promise<Part[]> {
  const locked = await tx.db.many(lockInvoices, { ids: named.map((part) => part.invoice_id) });
  const byId = new Map(locked.map((invoice) => [invoice.id, invoice]));
  let leftMinor = money.amountMinor;
  return named.map((part, at) => {
    const field = `invoices[${at}].invoice_id`;
    const invoice = byId.get(part.invoice_id);
    byId.delete(part.invoice_id); // one that is named twice is not found again
    if (invoice?.organization_id !== money.organizationId) {
      throw refuse(field, 'must be an invoice of this organization, named once');
    }
    if (invoice.currency !== money.currency) {
      throw refuse(field, `must be an invoice in ${money.currency}; this one is in ${invoice.currency}`);
    }
    const amountMinor = amountOf(invoice, part, at, leftMinor);
    leftMinor -= amountMinor;
    return { invoice, amountMinor };
  });
}

function amountOf(invoice: Payable, { amount }: NamedPart, at: number, leftMinor: number): number {
  const { id, currency, status, total_minor: totalMinor } = invoice;
  if (status !== 'cancelled') requireUnpaid(invoice, '; without it, what is left becomes credit');
  const mostMinor = status === 'cancelled' ? totalMinor : dueOf(invoice);
  const amountMinor = amount === undefined ? Math.min(mostMinor, leftMinor) : parseMoney(amount, currency);
  const isNothing = amountMinor === null || amountMinor === 0;
  if (isNothing && amount !== undefined) {
    throw fail('invalid_amount', {
      message: `invoices[${at}].amount is no amount of ${currency} above zero`,
    });
  }
  if (isNothing) {
    throw fail('payment_mismatch', { message: `Nothing of the transfer is left for invoice ${id}` });
  }
  if (status !== 'cancelled' && amountMinor > mostMinor) {
    throw fail('payment_mismatch', {
      message: `${inWords(mostMinor, currency)} are due of invoice ${id}, less than ${inWords(amountMinor, currency)}`,
    });
  }
  if (amountMinor > leftMinor) {
    throw fail('payment_mismatch', {
      message: `${inWords(leftMinor, currency)} of the transfer are left for invoice ${id}, less than ${inWords(amountMinor, currency)}`,
    });
  }
  return amountMinor;
}
