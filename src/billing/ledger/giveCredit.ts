import { requireSold } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import { statusOfOrganization } from '../../organizations/index.ts';
import { type Context, fail, formatMoney, transaction } from '../../platform/index.ts';
import { requireAmount } from '../amount.ts';
import { creditGranted } from '../events.ts';
import { lockForTax } from '../tax/taxOf.ts';
import { findCredit, grantCredit } from './ledger.ts';

/**
 * Gives an organization credit as staff decides, and says what it has now. `not_found`, `currency_not_sold`, `invalid_amount`;
 * `conflict` for one that is closed, where nobody could spend it.
 */
export async function giveCredit(
  ctx: Context,
  id: number,
  grant: { amount: string; currency: string; description: string },
) {
  return transaction(ctx, 'billing.giveCredit', async (tx) => {
    // It is not closed meanwhile either.
    if (!(await lockForTax(tx, id))) throw fail('not_found');
    if ((await statusOfOrganization(tx, id)) === 'closed')
      throw fail('conflict', { message: `Organization ${id} is closed, so nobody could spend it` });
    await requireSold(tx, grant.currency);
    const amountMinor = requireAmount(grant.amount, grant.currency);
    await grantCredit(tx, id, amountMinor, grant.currency, grant.description);
    await record(tx, creditGranted, {
      subject: { type: 'organization', id },
      organizationId: id,
      data: { user_id: null, ...grant, invoice_id: null },
    });
    const credit = await findCredit(tx, id, grant.currency);
    return {
      credit_balance: formatMoney(credit?.balanceMinor ?? 0, grant.currency),
      currency: grant.currency,
    };
  });
}
