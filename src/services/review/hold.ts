import { record } from '../../events/index.ts';
import { statement, type TxContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { orderHeld } from '../events.ts';
import { type OrderFacts, reasonsToHold, review } from './rules.ts';

type ReviewStatus = 'held' | 'released' | 'refused';

const statusOf = statement<{ status: ReviewStatus }, { invoiceId: number }>(
  'services.reviewStatus',
  'select status from order_reviews where invoice_id = :invoiceId',
);
// Credit that was bought says nothing of who bought it, nor does an order that nobody has looked at: two at once would
// each vouch for the other.
const orderFacts = statement<
  OrderFacts & { organizationId: number; userId: number | null },
  { invoiceId: number }
>(
  'services.orderFacts',
  `select i.organization_id as "organizationId", i.user_id as "userId", i.total_minor as "totalMinor", i.currency,
     coalesce(p.country, o.country) as country, o.status = 'blocked' as blocked, (select count(*)::int from services s where s.invoice_id = i.id) as services,
     exists (select 1 from invoices b where b.organization_id = i.organization_id and b.id <> i.id
       and b.status in ('paid', 'partially_refunded') and b.total_minor > 0 and b.kind <> 'top_up'
       and (b.kind <> 'order' or exists (select 1 from order_reviews r where r.invoice_id = b.id and r.status = 'released')
         or exists (select 1 from services d where d.invoice_id = b.id and d.status not in ('pending', 'cancelled')))) as known
   from invoices i join organizations o on o.id = i.organization_id
     left join billing_profiles p on p.organization_id = i.organization_id where i.id = :invoiceId`,
);
const insertReview = statement<
  never,
  { invoiceId: number; organizationId: number; reasons: string[]; now: Date }
>(
  'services.holdOrder',
  `insert into order_reviews (invoice_id, organization_id, reasons, status, held_at, ordered_at)
   select id, :organizationId, :reasons, 'held', :now, created_at from invoices where id = :invoiceId`,
);

/**
 * Whether a paid order waits for staff, or was refused. Asked when it is to be delivered, its services locked: the
 * rules decide once, and what staff has released is held no more.
 */
export async function isHeld(tx: TxContext, invoiceId: number): Promise<boolean> {
  const decided = await tx.db.maybe(statusOf, { invoiceId });
  if (decided !== null) return decided.status !== 'released';
  const rules = await readSettings(tx, review);
  const { organizationId, userId, ...order } = await tx.db.one(orderFacts, { invoiceId });
  const reasons = reasonsToHold(rules, order);
  if (reasons.length === 0) return false;
  await tx.db.run(insertReview, { invoiceId, organizationId, reasons, now: tx.clock.now() });
  await record(tx, orderHeld, {
    subject: { type: 'invoice', id: invoiceId },
    organizationId,
    data: { user_id: userId, reasons },
  });
  return true;
}
