import { type Context, type TxContext, transaction } from '../../platform/index.ts';
import { readServiceForStaff } from '../read.ts';
import { suspendService, unsuspendService } from './suspend.ts';
import { terminateService } from './terminate.ts';

/** Staff suspends a service; only staff takes that back. */
export function suspendByStaff(ctx: Context, id: number, { reason }: { reason: string }) {
  return change(ctx, 'services.suspend', id, (tx) => suspendService(tx, id, reason));
}

/** Staff takes a suspension back, whoever it was by. */
export function unsuspendByStaff(ctx: Context, id: number) {
  return change(ctx, 'services.unsuspend', id, (tx) => unsuspendService(tx, id));
}

/** Staff ends a service for good. */
export function terminateByStaff(ctx: Context, id: number, { reason }: { reason: string }) {
  return change(ctx, 'services.terminate', id, (tx) => terminateService(tx, id, reason));
}

function change(ctx: Context, name: string, id: number, work: (tx: TxContext) => Promise<unknown>) {
  return transaction(ctx, name, async (tx) => {
    await work(tx);
    return readServiceForStaff(tx, id);
  });
}
