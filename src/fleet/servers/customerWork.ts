import { enqueue, fail, statement, type TxContext } from '../../platform/index.ts';
import { askingBmc } from './life.ts';
import { requireServer } from './staff.ts';
import type { CustomerWork } from './states.ts';

const write = statement<never, { id: number; work: CustomerWork | null }>(
  'fleet.writeCustomerWork',
  'update servers set customer_work = :work where id = :id',
);

/** A customer's server is at work, and nobody switches it until {@link endCustomerWork}. `locked` while it is switched or at other work. */
export async function beginCustomerWork(tx: TxContext, serverId: number, work: CustomerWork): Promise<void> {
  const { state, bmc, customer_work: other, out_of_order: outOfOrder } = await requireServer(tx, serverId);
  // In words for its customer, who knows it by another name than staff does.
  const underWay = other ?? bmc?.action ?? null;
  if (underWay !== null)
    throw fail('locked', { message: `The action ${underWay} is still running on this server` });
  if (state !== 'rented') throw fail('conflict', { message: `The server is ${state}` });
  if (outOfOrder !== null && work !== 'move')
    throw fail('conflict', { message: 'The server is out of order' });
  await tx.db.run(write, { id: serverId, work });
}

/** It is at rest again; its BMC is asked how it is by now. */
export async function endCustomerWork(tx: TxContext, serverId: number): Promise<void> {
  await tx.db.run(write, { id: serverId, work: null });
  await enqueue(tx, askingBmc, { serverId }, { organizationId: null });
}
