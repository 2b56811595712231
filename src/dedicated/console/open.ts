import { issueTicket } from '../../consoles/index.ts';
import { record } from '../../events/index.ts';
import { requireServersReached } from '../../fleet/index.ts';
import type { Principal } from '../../platform/http/index.ts';
import { fail, type OrganizationContext, transaction } from '../../platform/index.ts';
import { consoleOpened } from '../events.ts';
import { type Dedicated, factsOf, requireDedicated } from '../queries.ts';
import { reasonAgainst } from '../states.ts';

/**
 * Opens the way to the serial line of a server, as {@link issueTicket} says: whoever uses it takes the line over from who has it. `action_not_allowed`, `driver_absent`.
 */
export async function openDedicatedConsole(
  ctx: OrganizationContext,
  id: number,
  principal: Pick<Principal, 'sessionId'>,
) {
  requireShown(await requireDedicated(ctx, id));
  // Outside of the transaction: it may ask another process.
  await requireServersReached(ctx);
  return transaction(ctx, 'dedicated.openConsole', async (tx) => {
    const dedicated = await requireDedicated(tx, id, { lock: true });
    const serverId = requireShown(dedicated);
    const { organizationId } = dedicated;
    const opened = await issueTicket(
      tx,
      { kind: 'serial', organizationId, serviceId: id, serverId },
      principal,
    );
    await record(tx, consoleOpened, { subject: { type: 'service', id }, data: { kind: 'serial' } });
    return opened;
  });
}

/** The server whose line may be looked at. */
function requireShown(dedicated: Dedicated): number {
  const refusal = reasonAgainst('console', factsOf(dedicated));
  if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
  if (dedicated.server === null) throw new Error(`service ${dedicated.serviceId} has no server to be shown`);
  return dedicated.server.id;
}
