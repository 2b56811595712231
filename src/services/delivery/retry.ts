import { isRefunded } from '../../billing/index.ts';
import { record } from '../../events/index.ts';
import { type Context, fail, transaction } from '../../platform/index.ts';
import { serviceRetried } from '../events.ts';
import { isByHand } from '../kinds/kind.ts';
import { kindOf } from '../kinds/table.ts';
import { lockServicesOf } from './cancelUndelivered.ts';
import { markDelivering, requireOrder } from './delivery.ts';

/** Has the delivery of a failed service tried again from its start. `conflict` when there is nothing to retry. */
export async function retryService(ctx: Context, id: number) {
  return transaction(ctx, 'services.retry', async (tx) => {
    const order = await requireOrder(tx, id);
    const service = (await lockServicesOf(tx, order.invoiceId)).find((each) => each.id === id);
    if (service === undefined) throw fail('not_found');
    const { status, provisioningState: delivery, moduleId, onServer } = service;
    if (status !== 'pending' || delivery !== 'failed') {
      throw fail('conflict', {
        message: `The service is ${status} and its delivery ${delivery}: nothing failed`,
      });
    }
    if (isByHand(kindOf(moduleId, onServer)) || (await isRefunded(tx, order.invoiceId)))
      throw fail('conflict');
    await markDelivering(tx, id);
    await record(tx, serviceRetried, {
      subject: { type: 'service', id },
      organizationId: service.organizationId,
      data: { module_id: moduleId },
    });
    return { retried: true };
  });
}
