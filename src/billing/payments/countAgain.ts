import { record } from '../../events/index.ts';
import { formatMoney, newId, statement, type TxContext } from '../../platform/index.ts';
import { invoicePaidAgain } from '../events.ts';
import { issueCreditNote } from '../invoices/creditNote.ts';
import { oweAgain } from '../ledger/deferred.ts';
import { post } from '../ledger/ledger.ts';
import type { RefundableRow, Sum } from './refund.ts';

const insert = statement<
  never,
  {
    id: number;
    invoiceId: number;
    amountMinor: number;
    taxMinor: number;
    reason: string;
    userId: number | null;
    now: Date;
  }
>(
  'billing.insertUndoneRefund',
  `insert into refunds (id, invoice_id, organization_id, method, amount_minor, tax_minor, currency, reason, user_id, created_at)
   select :id, i.id, i.organization_id, 'dispute', -:amountMinor::bigint, -:taxMinor::bigint, i.currency, :reason, :userId, :now
   from invoices i where i.id = :invoiceId`,
);
const setPaid = statement<never, { id: number; amountMinor: number }>(
  'billing.countAgain',
  `update invoices set refunded_minor = refunded_minor - :amountMinor,
     date_refunded = case when refunded_minor > :amountMinor then date_refunded end,
     status = case when refunded_minor > :amountMinor then 'partially_refunded' else 'paid' end
   where id = :id`,
);

/**
 * Money that a bank had taken of an invoice, whose row is locked, is with us again and pays for what was had: the invoice is
 * paid by so much again, and a document says so. What of it is for days to come is owed as service, as before. Of an invoice
 * that bought credit, that credit is there again; what of it had been given up is so again.
 */
export async function countAgain(
  tx: TxContext,
  invoice: RefundableRow,
  { amountMinor, taxMinor, givenUpMinor }: Sum & { givenUpMinor: number },
  reason: string,
): Promise<void> {
  const { id, organization_id: organizationId, currency, user_id, refunded_minor: refundedMinor } = invoice;
  const isTopUp = invoice.kind === 'top_up';
  const netMinor = amountMinor - taxMinor;
  const owedMinor = isTopUp ? 0 : await oweAgain(tx, id, netMinor);
  await post(tx, {
    kind: 'refund_undone',
    ...{ organizationId, currency, invoiceId: id },
    description: `Refund of invoice ${id}, which its bank gave back`,
    creditMinor: isTopUp ? amountMinor - givenUpMinor : 0,
    provider: {
      provider: amountMinor,
      given_up: -givenUpMinor,
      deferred: -owedMinor,
      revenue: isTopUp ? 0 : owedMinor - netMinor,
      tax: isTopUp ? 0 : -taxMinor,
    },
  });
  const row = { id: newId(), invoiceId: id, amountMinor, taxMinor, reason, now: tx.clock.now() };
  await tx.db.run(insert, { ...row, userId: tx.actor.userId });
  await tx.db.run(setPaid, { id, amountMinor });
  await issueCreditNote(tx, { invoiceId: id, amountMinor: -amountMinor, taxMinor: -taxMinor, reason });
  await record(tx, invoicePaidAgain, {
    subject: { type: 'invoice', id },
    organizationId,
    data: {
      ...{ user_id, currency, reason, amount: formatMoney(amountMinor, currency) },
      full: refundedMinor === amountMinor,
    },
  });
}
