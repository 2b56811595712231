import { findImage, reasonAgainst, returnHeldAddresses, useHeldAddresses } from '../../fleet/index.ts';
import { enqueue, type TxContext } from '../../platform/index.ts';
import {
  findChange,
  type Growth,
  lockTerms,
  resourcesOf,
  type Terms,
  vpsOptions,
} from '../../services/index.ts';
import { queueAction } from '../actions/history.ts';
import { giveBackAddresses } from '../giveBack.ts';
import { findMachine } from '../machine.ts';
import { reserveGrowth } from './apply.ts';
import { findWaiting } from './queries.ts';
import { resize } from './resize.ts';
import { holdNeeded } from './resources.ts';

/** What a machine needs while its service becomes another product. */
export const growth: Growth = {
  problems: async (ctx, service, options) => {
    const [size, now] = [vpsOptions.read(options), vpsOptions.read(service.options)];
    if (size.diskGb < now.diskGb) {
      return [
        { field: vpsOptions.keyOf('diskGb'), message: `storage never shrinks; it is ${now.diskGb} GB` },
      ];
    }
    // What is installed now, which is not what was ordered after a reinstall; staff may have deleted it since.
    const installed = (await findMachine(ctx, service.id))?.image ?? size.os;
    const image = await findImage(ctx, installed);
    const reason = image && reasonAgainst(image, resourcesOf(size));
    return reason === null ? [] : [{ field: 'product_id', message: reason }];
  },
  hold: reserveGrowth,
};

/** A service became another product: its machine is to follow. What it was held is its own from now on. */
export async function followProduct(tx: TxContext, serviceId: number): Promise<void> {
  const service = await lockTerms(tx, serviceId);
  if (service.status !== 'active' && service.status !== 'suspended') return;
  const { organizationId } = service;
  const { ipv4Count: count4, ipv6Count: count6 } = vpsOptions.read(service.options);
  await useHeldAddresses(tx, serviceId);
  await giveBackAddresses(tx, serviceId, { count4, count6 });
  const action = await queueAction(tx, { organizationId, serviceId, command: 'resize' });
  await enqueue(tx, resize, { serviceId, organizationId, actionId: action.id }, { organizationId });
}

/** A change of product came to nothing: what was held for it is free again, unless another one holds it by now. */
export async function returnGrowth(tx: TxContext, serviceId: number): Promise<void> {
  const service = await lockTerms(tx, serviceId);
  if (!(await isPromised(tx, service))) await returnHeldAddresses(tx, serviceId);
  await holdNeeded(tx, service);
}

async function isPromised(tx: TxContext, { id: serviceId }: Terms): Promise<boolean> {
  const [size, product] = [await findWaiting(tx, { serviceId }), await findChange(tx, { serviceId })];
  return size !== null || product !== null;
}
