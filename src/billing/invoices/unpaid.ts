import { type Context, fail, statement, type TxContext } from '../../platform/index.ts';
import { isOnItsWay, ofItself } from '../charges/onItsWay.ts';

// A customer is known by what it bought: a cent that came in, also as credit, a gift or a free order is no reason to trust
// anybody.
const asKnown = `exists (select 1 from invoices where organization_id = :organizationId
   and status in ('paid', 'partially_refunded') and total_minor > 0 and kind <> 'top_up') as known`;

const knownByMoney = statement<{ known: boolean }, { organizationId: number }>(
  'billing.knownByMoney',
  `select ${asKnown}`,
);
// What a debit is on its way for can be neither paid by card nor cancelled, so nobody is told to.
const standing = statement<
  { orders: number; known: boolean },
  { organizationId: number; driver: string; now: Date }
>(
  'billing.standing',
  `select (select count(*)::int from invoices where organization_id = :organizationId and status = 'unpaid'
       and kind in ('order', 'upgrade', 'top_up') and not ${isOnItsWay('invoices.id', ofItself)}) as orders,
     ${asKnown}`,
);

/** Whether an organization has ever paid an invoice in full. */
export async function isKnownByMoney(ctx: Context, organizationId: number): Promise<boolean> {
  return (await ctx.db.one(knownByMoney, { organizationId })).known;
}

/** How many addresses the unpaid orders of an organization may hold. */
export async function reservableAddresses(ctx: Context, organizationId: number): Promise<number> {
  return ((await isKnownByMoney(ctx, organizationId)) ? ctx.config.unpaid.known : ctx.config.unpaid.fresh)
    .addresses;
}

/**
 * Refuses one more order while too many of the organization's are not paid: what is reserved, nobody else can buy. A
 * renewal reserves nothing.
 * The caller holds the organization's lock. `too_many`.
 */
export async function requireFewUnpaid(tx: TxContext, organizationId: number): Promise<void> {
  const { orders, known } = await tx.db.one(standing, {
    organizationId,
    driver: tx.config.payments,
    now: tx.clock.now(),
  });
  const most = (known ? tx.config.unpaid.known : tx.config.unpaid.fresh).orders;
  if (orders < most) return;
  throw fail('too_many', {
    message: `You have ${orders} unpaid invoices; pay or cancel one before you order more`,
  });
}
