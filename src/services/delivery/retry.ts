import { isRefunded } from '../../billing/index.ts';
import { record } from '../../events/index.ts';
import {
  type Context,
  fail,
  jobStateNamed,
  retryFailedJobNamed,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { startMachine } from '../jobs.ts';
import { kindOf } from '../kinds/table.ts';
import { lockServicesOf } from './cancelUndelivered.ts';
import { findOrder } from './delivery.ts';

/** Has the delivery of a failed service tried again from its start. `conflict` when there is nothing to retry. */
export async function retryService(ctx: Context, id: number) {
  return transaction(ctx, 'services.retry', async (tx) => {
    const order = await findOrder(tx, id);
    const service = (await lockServicesOf(tx, order.invoice_id)).find((each) => each.id === id);
    if (service === undefined) throw fail('not_found');
    if (service.status !== 'pending' || service.provisioning_state !== 'failed') {
      const message = `The service is ${service.status} and its delivery ${service.provisioning_state}: nothing failed`;
      throw fail('conflict', { message });
    }
    if (kindOf(service.module_id).deliveredBy === null || (await isRefunded(tx, order.invoice_id)))
      throw fail('conflict');
    await deliverAgain(tx, service);
    await record(tx, {
      action: 'service.retried',
      subject: { type: 'service', id },
      organizationId: service.organization_id,
    });
    return { retried: true };
  });
}

async function deliverAgain(tx: TxContext, service: { id: number; organization_id: number }): Promise<void> {
  const about = { serviceId: service.id };
  switch (await jobStateNamed(tx, 'vps.provision', about)) {
    case 'ready':
    case 'running':
      throw fail('conflict', { message: 'The delivery of this service is being tried again already' });
    case 'failed':
    case 'stuck':
      await retryFailedJobNamed(tx, 'vps.provision', about);
      return;
    default:
      await startMachine(tx, service);
  }
}
