import { cancelInvoicesOf, earnRest, lockForTax } from '../../billing/index.ts';
import { returnStock } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import { statement, type TxContext } from '../../platform/index.ts';
import { askByHand } from '../byHand/tasks.ts';
import { serviceTerminated } from '../events.ts';
import { endPriceMoves } from '../priceMoves/queries.ts';
import { requireStaffAction } from '../states.ts';
import { factsOf, lockService } from './lock.ts';

const ownerOf = statement<{ organizationId: number }, { id: number }>(
  'services.ownerOf',
  'select organization_id as "organizationId" from services where id = :id',
);
const markTerminated = statement<never, { id: number; reason: string; now: Date }>(
  'services.markTerminated',
  `update services set status = 'terminated', terminated_at = :now, end_reason = :reason,
     holds_stock = false where id = :id`,
);

/**
 * Ends a service that is active or suspended, for good: what it held is given back, by whoever looks after its kind in a
 * reaction, and its open invoices are cancelled. Its row and its history stay. `not_found`; `conflict` in any other state.
 */
export async function terminateService(tx: TxContext, id: number, reason: string): Promise<void> {
  // In the order of every invoice: the organization first, whose documents are numbered, then what they are for.
  const owner = await tx.db.maybe(ownerOf, { id });
  if (owner !== null) await lockForTax(tx, owner.organizationId);
  const service = await lockService(tx, id);
  requireStaffAction('terminate', service);
  await tx.db.run(markTerminated, { id, reason, now: tx.clock.now() });
  await cancelInvoicesOf(tx, id, `${service.domain ?? service.productName} has ended`);
  // What was paid and is not given back is owed to nobody any more.
  await earnRest(tx, id);
  await endPriceMoves(tx, [id]);
  if (service.holdsStock) await returnStock(tx, new Map([[service.productId, 1]]));
  await askByHand(tx, service, 'terminate');
  await record(tx, serviceTerminated, {
    subject: { type: 'service', id },
    organizationId: service.organizationId,
    data: { ...factsOf(service), reason },
  });
}
