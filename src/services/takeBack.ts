import {
  giveBackRest,
  isRefunded,
  noteUndone,
  refundedFor,
  takenBackInPart,
  wasTakenBack,
} from '../billing/index.ts';
import type { TxContext } from '../platform/index.ts';
import { servicesOf } from './delivery/cancelUndelivered.ts';
import { takeBackOrder, takeBackRenewal } from './renew/takeBack.ts';
import { takeBackChange } from './upgrade/takeBack.ts';

/** Takes back what an invoice paid for, and gives the services that it changed. */
type TakeBack = (tx: TxContext, invoiceId: number, only?: number) => Promise<number[]>;

const all: readonly TakeBack[] = [takeBackChange, takeBackRenewal, takeBackOrder];

/**
 * Takes back what an invoice paid for whose money was all given back, and then what was given back before and could not be
 * taken back until now, because something stood upon it: what is left is the same, in whichever order money goes back.
 */
export async function takeBack(tx: TxContext, invoiceId: number, one: TakeBack): Promise<void> {
  if (!(await isUnpaid(tx, invoiceId))) return;
  const open = await one(tx, invoiceId);
  await noteUndone(tx, invoiceId, open);
  for (let serviceId = open.pop(); serviceId !== undefined; serviceId = open.pop())
    open.push(...(await takeBackNext(tx, serviceId)));
}

/** Whether something that an invoice sold is paid no more: a bank may have given its money again since it was taken. */
export async function isUnpaid(tx: TxContext, invoiceId: number): Promise<boolean> {
  return (await isRefunded(tx, invoiceId)) || (await wasTakenBack(tx, invoiceId));
}

/** The newest one that can be taken back; of which services something is different then, to be looked at again. */
async function takeBackNext(tx: TxContext, serviceId: number): Promise<number[]> {
  for (const invoiceId of await refundedFor(tx, serviceId)) {
    for (const one of all) {
      const changed = await one(tx, invoiceId, serviceId);
      if (changed.length === 0) continue;
      await noteUndone(tx, invoiceId, changed);
      return changed;
    }
  }
  // A bank took only a part of what paid for these: their rest goes back, now that they can be undone.
  for (const invoiceId of await takenBackInPart(tx, serviceId)) {
    await giveBackRest(tx, invoiceId);
    // Of an order for several services a part may stay paid; what is all given back is told of, and taken back then.
    if (!(await servicesOf(tx, invoiceId)).includes(serviceId)) continue;
    const changed = await takeBackOrder(tx, invoiceId, serviceId);
    if (changed.length > 0) return changed;
  }
  return [];
}
