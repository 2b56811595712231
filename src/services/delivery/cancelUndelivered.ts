import { returnCoupon, returnStock } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import { statement, type TxContext } from '../../platform/index.ts';
import { serviceCancelled } from '../events.ts';
import { isByHand } from '../kinds/kind.ts';
import { kindOf } from '../kinds/table.ts';
import { endPriceMoves } from '../priceMoves/queries.ts';

export interface Ordered {
  id: number;
  organizationId: number;
  userId: number;
  productName: string;
  domain: string | null;
  productId: number;
  moduleId: number;
  status: string;
  provisioningState: 'queued' | 'running' | 'done' | 'failed';
  holdsStock: boolean;
  onServer: boolean;
}

// The rows first: a service that becomes another product meanwhile is still there; see `terms.ts`.
const lockServices = statement<Ordered, { invoiceId: number }>(
  'services.lockOfInvoice',
  `with locked as materialized (select * from services where invoice_id = :invoiceId order by id for update)
   select s.id, s.organization_id as "organizationId", s.user_id as "userId", s.domain, p.name as "productName", s.product_id as "productId", s.status,
     s.provisioning_state as "provisioningState", s.holds_stock as "holdsStock", s.on_server as "onServer", p.module_id as "moduleId"
   from locked s join products p on p.id = s.product_id order by s.id`,
);
const markCancelled = statement<never, { ids: number[]; reason: string }>(
  'services.markCancelled',
  `update services set status = 'cancelled', end_reason = :reason where id = any(:ids::bigint[])`,
);
const dropSecrets = statement<never, { serviceIds: number[] }>(
  'services.dropSecrets',
  'delete from service_secrets where service_id = any(:serviceIds::bigint[])',
);

const ofInvoice = statement<{ id: number }, { invoiceId: number }>(
  'services.ofInvoice',
  'select id from services where invoice_id = :invoiceId order by id',
);

/** The ids of the services that an invoice ordered, for whoever has to lock something before them. */
export async function servicesOf(tx: TxContext, invoiceId: number): Promise<number[]> {
  return (await tx.db.many(ofInvoice, { invoiceId })).map(({ id }) => id);
}

/** Every service that an invoice ordered, locked in one order, whoever wants to change some of them. */
export function lockServicesOf(tx: TxContext, invoiceId: number): Promise<Ordered[]> {
  return tx.db.many(lockServices, { invoiceId });
}

/**
 * Cancels those of an order's services that were never delivered and are not under way, and gives back all they
 * held: stock, room, addresses, the password that waited. The coupon's use comes back once nothing of the order
 * is left. With `only` the others stay ordered. `services` are all of the order, as {@link lockServicesOf} returned them.
 */
export async function cancelUndelivered(
  tx: TxContext,
  services: Ordered[],
  couponId: number | null,
  reason: string,
  only: number | null = null,
): Promise<void> {
  const undelivered = services.filter((each) => isUndelivered(each) && (only ?? each.id) === each.id);
  const [first] = undelivered;
  if (first === undefined) return;
  const ids = undelivered.map((service) => service.id);
  await tx.db.run(markCancelled, { ids, reason });
  await tx.db.run(dropSecrets, { serviceIds: ids });
  await endPriceMoves(tx, ids);
  // The coupon before the stock, as at checkout, so that the two never wait for each other in a circle.
  const isLast = services.every((service) => service.status === 'cancelled' || undelivered.includes(service));
  if (isLast && couponId !== null) await returnCoupon(tx, couponId, first);
  await returnStock(tx, countsOf(undelivered));
  for (const service of undelivered) {
    await kindOf(service.moduleId, service.onServer).giveBack(tx, service.id);
    await record(tx, serviceCancelled, {
      subject: { type: 'service', id: service.id },
      organizationId: service.organizationId,
      data: { reason },
    });
  }
}

// What staff delivers by hand is theirs to stop, also once they were asked.
function isUndelivered({ status, provisioningState: delivery, moduleId, onServer }: Ordered): boolean {
  const isStoppable = delivery !== 'running' || isByHand(kindOf(moduleId, onServer));
  return status === 'pending' && delivery !== 'done' && isStoppable;
}

function countsOf(services: Ordered[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { productId: id, holdsStock: holds } of services) {
    if (holds) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}
