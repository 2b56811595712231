import { record } from '../../events/index.ts';
import { statement, type TxContext } from '../../platform/index.ts';
import { cancelRevoked } from '../events.ts';
import { tellOfService } from '../priceMoves/tell.ts';
import type { Terms } from '../terms.ts';

const notCancelled = statement<never, { id: number }>(
  'services.takeCancellationBack',
  'update services set cancelled = false, cancel_reason = null, cancelled_at = null where id = :id',
);

/** A service that was to end goes on, and hears of the prices that it would have missed. Its row is locked. */
export async function takeCancellationBack(tx: TxContext, service: Terms): Promise<void> {
  await tx.db.run(notCancelled, { id: service.id });
  await record(tx, cancelRevoked, { ...about(service), data: named(service) });
  await tellOfService(tx, service.id);
}

/** Which service an entry of the journal is about. */
export function about({ id, organizationId }: Terms) {
  return { subject: { type: 'service', id }, organizationId };
}

/** By what its customer knows a service. */
export function named({ userId: user_id, productName: product, domain: hostname }: Terms) {
  return { user_id, product, hostname };
}
