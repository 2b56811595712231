import { record } from '../../../events/index.ts';
import {
  askNow,
  closeAssignment,
  serverOfService,
  setServerAside,
  swapServers,
} from '../../../fleet/index.ts';
import { enqueue, statement } from '../../../platform/index.ts';
import { requireOrder } from '../../../services/index.ts';
import { endActionById, isActionOpen } from '../../actions.ts';
import { forgetCredentials, keepPassword } from '../../credentials/keep.ts';
import { moved } from '../../events.ts';
import { findDedicated } from '../../queries.ts';
import { comeBack } from '../../return/comeBack.ts';
import { writeSystem } from '../../systems.ts';
import { wantedNoMore } from '../../work.ts';
import { endMove, passwordOf, readMove } from '../rows.ts';
import type { MoveStep } from '../run.ts';

const lockService = statement<never, { id: number }>(
  'dedicated.lockMovedService',
  'select id from services where id = :id for update',
);

/** The new server is its customer's, and the one before is on its way back, from this moment on. */
export const swapStep: MoveStep = {
  name: 'swap',
  transactional: true,
  do: async ({ ctx, payload, state, isHeld }) => {
    const { serviceId, serverId: fromId, toServerId: toId, actionId, moveId } = payload;
    await ctx.db.many(lockService, { id: serviceId });
    const move = await readMove(ctx, moveId);
    const { status, organizationId, userId } = await requireOrder(ctx, serviceId);
    const dedicated = await findDedicated(ctx, organizationId, serviceId);
    // That of one that a restore holds ended with it.
    const isGoing = isHeld || (await isActionOpen(ctx, actionId));
    if (dedicated === null || status !== 'active' || !isGoing)
      throw wantedNoMore('the service has ended, or the action has');
    const hadSince = (await serverOfService(ctx, serviceId))?.stateSince.toISOString();
    if (!(await swapServers(ctx, serviceId, { fromId, toId })))
      throw wantedNoMore('one of the two servers was taken away meanwhile');
    if (state.assignmentId !== undefined) await closeAssignment(ctx, state.assignmentId);
    const { hostname, os } = dedicated;
    await writeSystem(ctx, serviceId, { os, hostname });
    const password = passwordOf(ctx, move);
    if (password === null) await forgetCredentials(ctx, serviceId);
    else await keepPassword(ctx, serviceId, organizationId, password);
    await endMove(ctx, moveId, null);
    await record(ctx, moved, {
      ...{ subject: { type: 'service', id: serviceId }, organizationId },
      data: { user_id: userId, hostname, new_password: password !== null },
    });
    await endActionById(ctx, actionId, null);
    await askNow(ctx, toId);
    if (isHeld) await setServerAside(ctx, fromId, mayBeAnothers(serviceId));
    else
      await enqueue(
        ctx,
        comeBack,
        { leftBy: serviceId, serverId: fromId, ...(hadSince !== undefined && { hadSince }) },
        { organizationId },
      );
  },
};

function mayBeAnothers(serviceId: number): string {
  return `the service ${serviceId} had left it before the database was restored: it was not wiped since, and may be somebody’s. Look what is on it, and release it only when nobody needs that`;
}
