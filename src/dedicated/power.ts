import { on } from '../events/index.ts';
import { requireStaffServer, serverPowerChanged, serverPowerFailed, switchServer } from '../fleet/index.ts';
import { fail, type OrganizationContext, type Reaction, transaction } from '../platform/index.ts';
import { viewAction } from '../vps/index.ts';
import { endAction, openAction } from './actions.ts';
import { clearLeft } from './left/left.ts';
import { factsOf, requireDedicated } from './queries.ts';
import { type PowerCommand, reasonAgainst } from './states.ts';

/**
 * Starts a server, or stops or restarts it: by its power button, with two minutes for its system to follow, or at once with `force`. The power that is read back
 * decides. `locked`, `action_not_allowed`.
 */
export async function switchDedicated(
  ctx: OrganizationContext,
  id: number,
  command: PowerCommand,
  { force = false }: { force?: boolean } = {},
) {
  return transaction(ctx, 'dedicated.switch', async (tx) => {
    const dedicated = await requireDedicated(tx, id, { lock: true });
    const refusal = reasonAgainst(command, factsOf(dedicated));
    if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
    const { server } = dedicated;
    if (server === null) throw new Error(`service ${id} is active and has no server`);
    const action = await openAction(tx, { serviceId: id, serverId: server.id, command });
    await switchServer(tx, server.id, command, force);
    return { action: viewAction(tx, action) };
  });
}

/** What a customer reads of a failure: what its BMC said, and where that is, is staff's. */
const advice: Readonly<Record<string, string>> = {
  shutdown_timeout: 'The system did not shut down within two minutes; with force its power is taken away',
};
const ofOurs = {
  code: 'server_not_switched',
  message:
    'The server could not be switched; try again in a few minutes, and write us a ticket if it stays so',
};

/** What customers asked for ends with what the fleet says of it. */
export const powerReactions: Reaction[] = [
  on(serverPowerChanged, 'dedicated.endSwitched', async (tx, { subject, data: { action } }) => {
    const { service_id: serviceId } = await requireStaffServer(tx, subject.id);
    if (serviceId !== null) await clearLeft(tx, serviceId);
    await endAction(tx, subject.id, action, null);
  }),
  on(serverPowerFailed, 'dedicated.endNotSwitched', (tx, { subject, data: { action, code } }) => {
    const message = advice[code];
    return endAction(tx, subject.id, action, message === undefined ? ofOurs : { code, message });
  }),
];
