import {
  type OrganizationContext,
  requireOwn,
  requireRow,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { lockInvoice, type Payable } from '../invoices/payable.ts';
import { readInvoice } from '../invoices/read.ts';
import { numberPaid, type Payment, payRest, requireUnpaid } from './settle.ts';

/** Pays what is due of an invoice of the organization with its credit. `insufficient_credit`, `invoice_not_payable`. */
export async function payWithCredit(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'billing.pay', async (tx) => {
    await pay(tx, await requireOwn(tx, lockInvoice, { id }), 'credit');
    return readInvoice(tx, id);
  });
}

/** Pays an invoice that asks for nothing, in the transaction that issued it. */
export async function settleFree(tx: TxContext, id: number): Promise<void> {
  const invoice = await requireRow(tx, lockInvoice, { id });
  if (invoice.total_minor !== 0) throw new Error(`invoice ${id} is not free`);
  await pay(tx, invoice, 'none');
}

async function pay(tx: TxContext, invoice: Payable, method: 'credit' | 'none'): Promise<void> {
  requireUnpaid(invoice);
  const payment: Payment = { method, transferId: null, reference: null, receivedOn: null };
  await payRest(tx, invoice, payment);
  await numberPaid(tx, invoice, payment);
}
