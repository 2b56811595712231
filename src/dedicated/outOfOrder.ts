import { on, record } from '../events/index.ts';
import { serverOutOfOrder, serverReleased } from '../fleet/index.ts';
import type { Reaction, TxContext } from '../platform/index.ts';
import { requireOrder } from '../services/index.ts';
import { inOrder, outOfOrder } from './events.ts';
import { findDedicated } from './queries.ts';

/** Whoever rents a server reads that staff found it out of order, and when that is over; why is staff's. */
export const outOfOrderReactions: Reaction[] = [
  on(serverOutOfOrder, 'dedicated.tellOutOfOrder', (tx, { data }) => tell(tx, data.service_id, outOfOrder)),
  on(
    serverReleased,
    'dedicated.tellInOrder',
    (tx, { data: { service_id: serviceId } }) => tell(tx, serviceId ?? 0, inOrder),
    { when: ({ before, service_id: serviceId }) => before === 'rented' && serviceId !== null },
  ),
];

async function tell(tx: TxContext, serviceId: number, what: typeof outOfOrder): Promise<void> {
  const { organizationId } = await requireOrder(tx, serviceId);
  const dedicated = await findDedicated(tx, organizationId, serviceId);
  if (dedicated === null) return;
  const { hostname } = dedicated;
  await record(tx, what, { subject: { type: 'service', id: serviceId }, organizationId, data: { hostname } });
}
