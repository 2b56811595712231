import { on } from '../events/index.ts';
import { mayBeOn, serverOfService, serverQuarantined } from '../fleet/index.ts';
import { isJobOpenAbout, type Reaction, settleEndedJobAbout, type TxContext } from '../platform/index.ts';
import { failDelivery, lockServicesOf, requireOrder } from '../services/index.ts';
import { giveBackAddresses } from './giveBackAddresses.ts';
import { provision } from './install/provision.ts';
import { comeBack } from './return/comeBack.ts';

/** Staff took a server from a service for which nothing was at work any more: it has nothing of it left. */
export const leavingReactions: Reaction[] = [
  on(
    serverQuarantined,
    'dedicated.leaveServer',
    async (tx, { subject: { id: serverId }, data: { name, reason, service_id: serviceId } }) => {
      if (serviceId !== null)
        await leaveServer(tx, serverId, serviceId, `staff put ${name} into quarantine: ${reason}`);
    },
    { when: ({ by, service_id: serviceId }) => by === 'staff' && serviceId !== null },
  ),
];

/**
 * Its addresses rest, as soon as the server is off; an order that waited for the server has failed, and is tried again with another one or refunded. That is another job: those that stood
 * still with this server would go on with it. An order that nobody has paid finds another one once it is paid.
 */
async function leaveServer(
  tx: TxContext,
  serverId: number,
  serviceId: number,
  reason: string,
): Promise<void> {
  const order = await requireOrder(tx, serviceId);
  await lockServicesOf(tx, order.invoiceId);
  // One that has another server by now, since its job was retried after all, keeps what it has.
  if ((await serverOfService(tx, serviceId)) !== null) return;
  await giveBackAddresses(tx, serviceId, (await mayBeOn(tx, serverId)) ? serverId : null);
  for (const each of [provision, comeBack]) await settleEndedJobAbout(tx, each, { serviceId });
  // One that waits finds out by itself, and has failed then.
  if (await isJobOpenAbout(tx, provision, { serviceId })) return;
  if (order.status === 'pending' && order.provisioningState === 'running')
    await failDelivery(tx, serviceId, reason);
}
