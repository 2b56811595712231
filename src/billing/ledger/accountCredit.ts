import { organizationsPermitting } from '../../organizations/index.ts';
import { type AccountContext, formatMoney, statement } from '../../platform/index.ts';

const firstCredit = statement<{ balance_minor: number; currency: string }, { organizationIds: number[] }>(
  'billing.firstCredit',
  `select e.balance_minor, a.currency
   from unnest(:organizationIds::bigint[]) with ordinality as o(id, place)
   join ledger_accounts a on a.organization_id = o.id and a.kind = 'credit'
   cross join lateral (select n.balance_minor from ledger_entries n
                       where n.account_id = a.id order by n.sequence desc limit 1) e
   order by o.place, a.id limit 1`,
);

/**
 * The credit that an account shows. Credit belongs to organizations: it is that of the first of the caller's that
 * has any and whose billing the caller may read.
 */
export async function readAccountCredit(ctx: AccountContext): Promise<string> {
  const organizationIds = await organizationsPermitting(ctx, 'billing.read');
  const credit = await ctx.db.maybe(firstCredit, { organizationIds });
  return credit === null ? '0.00' : formatMoney(credit.balance_minor, credit.currency);
}
