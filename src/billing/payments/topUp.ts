import { requireSold } from '../../catalog/index.ts';
import { requireOpen } from '../../organizations/index.ts';
import { newId, type OrganizationContext, statement, transaction } from '../../platform/index.ts';
import { requireAmount } from '../amount.ts';
import { dueAt, issueInvoice } from '../invoices/issue.ts';
import { requireFewUnpaid } from '../invoices/unpaid.ts';
import { taxOf, untaxed } from '../tax/taxOf.ts';

const currencyUsed = statement<{ currency: string }, { organizationId: number }>(
  'billing.currencyUsed',
  'select currency from invoices where organization_id = :organizationId order by position desc limit 1',
);

/** What nobody ever bought in is bought in this. */
const firstCurrency = 'EUR';

/**
 * Issues an invoice that buys account credit; once it is paid, in any way but with credit, the credit is there. No tax is
 * on it: that is on what the credit is spent for. `currency_not_sold`, `invalid_amount`, `too_many`.
 */
export async function topUp(ctx: OrganizationContext, asked: { amount: string; currency?: string }) {
  return transaction(ctx, 'billing.topUp', async (tx) => {
    const { organizationId } = tx;
    const { country } = await taxOf(tx, organizationId, { lock: true });
    await requireOpen(tx, organizationId);
    const used = await tx.db.maybe(currencyUsed, { organizationId });
    const currency = asked.currency ?? used?.currency ?? firstCurrency;
    await requireSold(tx, currency);
    const priceMinor = requireAmount(asked.amount, currency);
    await requireFewUnpaid(tx, organizationId);
    const id = newId();
    const line = { productId: null, serviceId: null, description: 'Account credit', priceMinor };
    const tax = { ...untaxed, country };
    await issueInvoice(tx, {
      ...{ id, organizationId, userId: tx.actor.userId, kind: 'top_up', currency, tax, couponId: null },
      lines: [{ ...line, setupFeeMinor: 0, discountMinor: 0 }],
      expiresAt: dueAt(tx),
    });
    return { invoice_id: id };
  });
}
