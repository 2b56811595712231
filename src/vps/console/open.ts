import { type ConsoleKind, issueTicket } from '../../consoles/index.ts';
import { HypervisorError, type HypervisorOf } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import type { Principal } from '../../platform/http/index.ts';
import { fail, type OrganizationContext, transaction } from '../../platform/index.ts';
import { requireCapability } from '../capabilities.ts';
import { consoleOpened } from '../events.ts';
import { requireVps, stateOf, type VpsRow } from '../queries.ts';
import { requireJoinable } from './lines/reach.ts';

/**
 * Opens the way to a machine's screen or serial line: a WebSocket of ours that works once and within 30 s. The
 * hypervisor's address never shows.
 */
export async function openConsole(
  ctx: OrganizationContext,
  id: number,
  kind: ConsoleKind,
  principal: Pick<Principal, 'sessionId'>,
  hypervisorOf: HypervisorOf,
) {
  await requireVps(ctx, id);
  // Outside of the transaction: it may ask another process.
  if (kind === 'serial') await requireJoinable(ctx, id);
  return transaction(ctx, 'vps.openConsole', async (tx) => {
    const vps = await requireVps(tx, id);
    requireCapability(vps, kind);
    requireShown(vps, 'a console needs');
    requireReach(vps, hypervisorOf);
    const opens = { kind, organizationId: vps.organization_id, serviceId: id, serverId: null };
    const opened = await issueTicket(tx, opens, principal);
    await record(tx, consoleOpened, { subject: { type: 'service', id }, data: { kind } });
    return opened;
  });
}

/** Refuses a console that this process could not carry, before a ticket is given: `driver_absent`. */
function requireReach({ node_id: nodeId }: VpsRow, hypervisorOf: HypervisorOf): void {
  try {
    hypervisorOf(nodeId ?? 0);
  } catch (error) {
    if (!(error instanceof HypervisorError)) throw error;
    const message =
      'The process that answers here does not reach the host of this machine; send this request to one that does';
    throw fail('driver_absent', { message, cause: error });
  }
}

/** Refuses a machine of which nothing can be seen, since it is not running: `action_not_allowed`. `what` is what needs it. */
export function requireShown(vps: VpsRow, what: string): void {
  const { service_status: status, state, silent_since: silentSince } = vps;
  if (silentSince !== null) {
    const message = `The host of this machine has not answered since ${silentSince.toISOString()}; the machine may run on. Try again shortly`;
    throw fail('action_not_allowed', { message });
  }
  if (status === 'active' && (state === 'running' || state === 'restarting')) return;
  const how = status === 'active' ? `machine is ${stateOf(vps)}` : `service is ${status}`;
  throw fail('action_not_allowed', { message: `The ${how}; ${what} a running machine` });
}
