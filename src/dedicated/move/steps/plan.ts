import { sshKeysOf } from '../../../account/index.ts';
import { installedOn, lockServerOf, openAssignment } from '../../../fleet/index.ts';
import type { Context } from '../../../platform/index.ts';
import { hashServerPassword, requireOrder } from '../../../services/index.ts';
import { placeOn } from '../../placeOn.ts';
import { findDedicated } from '../../queries.ts';
import { addressesOf } from '../../reinstall/reinstall.ts';
import { callOff } from '../../stages.ts';
import { wantedNoMore } from '../../work.ts';
import { passwordOf, readMove } from '../rows.ts';
import type { MoveStep } from '../run.ts';

/** The same system for the same people; it is left off when it is there, since its addresses are still in use. */
export const planStep: MoveStep = {
  name: 'plan',
  transactional: true,
  do: async ({ ctx, payload, isHeld }) => {
    if (isHeld) return {}; // a plan answers whoever starts from the network
    const { serviceId, serverId: fromId, toServerId, moveId } = payload;
    // Staff may have taken it away at this moment, and a plan would have whatever starts there wiped.
    if (!(await lockServerOf(ctx, toServerId, serviceId)))
      throw wantedNoMore('the server that it was to get was taken away');
    const move = await readMove(ctx, moveId);
    const { organizationId } = await requireOrder(ctx, serviceId);
    const dedicated = await findDedicated(ctx, organizationId, serviceId);
    if (dedicated === null) throw wantedNoMore('the service is on no server any more');
    const before = await installedOn(ctx, fromId);
    const { disks, system, layout: usual } = await placeOn(ctx, toServerId, dedicated.os);
    const layout =
      before.layout === 'single' ? { kind: 'single' as const, serials: usual.serials.slice(0, 1) } : usual;
    const password = passwordOf(ctx, move);
    const identity = {
      ...{ hostname: dedicated.hostname, keys: before.keys ?? (await keysOf(ctx, serviceId)) },
      passwordHash: password === null ? null : hashServerPassword(password),
      ...{ addresses: await addressesOf(ctx, serviceId), userData: null },
    };
    const wipe = disks.map(({ serial }) => serial);
    const work = { task: 'install' as const, wipe, layout, identity, after: 'off' as const };
    return { assignmentId: await openAssignment(ctx, toServerId, work, system) };
  },
  undo: callOff,
};

/** Of a system that was installed when nobody wrote down whom it lets in. */
async function keysOf(ctx: Context, serviceId: number): Promise<string[]> {
  const { userId } = await requireOrder(ctx, serviceId);
  return (await sshKeysOf(ctx, userId)).map((key) => key.publicKey);
}
