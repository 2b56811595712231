import { hasHappened, record } from '../../events/index.ts';
import type { Context, TxContext } from '../../platform/index.ts';
import { deliveryWanted, staffDeliveryWanted } from '../events.ts';
import { isByHand } from '../kinds/kind.ts';
import { kindOf } from '../kinds/table.ts';
import type { Ordered } from './cancelUndelivered.ts';
import { markDelivering } from './delivery.ts';

/**
 * Has a paid order's services delivered that are not yet; their rows are locked. What staff delivers by hand is under
 * way from here on too: it stands in the list of what needs a person.
 */
export async function startDelivery(tx: TxContext, services: Ordered[]): Promise<void> {
  for (const service of services) {
    if (service.status !== 'pending') continue;
    if (service.provisioningState !== 'queued' && !(await neverStarted(tx, service))) continue;
    await markDelivering(tx, service.id);
    await want(tx, service);
  }
}

/** Tells whoever delivers such services; what staff delivers, its customer hears of too, since it takes longer. */
async function want(tx: TxContext, service: Ordered): Promise<void> {
  const { id, organizationId, moduleId: module_id, onServer } = service;
  const about = { subject: { type: 'service', id }, organizationId };
  if (!isByHand(kindOf(module_id, onServer)))
    return record(tx, deliveryWanted, { ...about, data: { module_id } });
  const { userId: user_id, productName: product, domain: hostname } = service;
  await record(tx, staffDeliveryWanted, { ...about, data: { module_id, user_id, product, hostname } });
}

/** Failed because this very job did, which is now tried again; otherwise the delivery itself is to be retried. */
async function neverStarted(ctx: Context, service: Ordered): Promise<boolean> {
  if (service.provisioningState !== 'failed') return false;
  const { deliver } = kindOf(service.moduleId, service.onServer);
  return !(await hasHappened(ctx, deliver, { type: 'service', id: service.id }));
}
