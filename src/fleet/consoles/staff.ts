import { type ConsoleRoom, issueTicket, openerIsStaff, type Ticket } from '../../consoles/index.ts';
import { record } from '../../events/index.ts';
import type { Principal } from '../../platform/http/index.ts';
import { type Context, fail, statement, transaction } from '../../platform/index.ts';
import { serverConsoleOpened } from '../events.ts';
import { about, requireServer } from '../servers/staff.ts';
import { requireAction } from '../servers/states.ts';
import { type OpenServerLine, requireServersReached } from './line.ts';
import { isServerProving } from './proving.ts';
import { serverSight } from './sight.ts';

/** Who of staff looks at consoles of servers; keeping one open takes the same. */
export const whoLooks = { area: 'vps', staffRoles: ['administrator', 'operator'] } as const;

const withBmc = statement<{ id: number }, { id: number }>(
  'fleet.serverWithLine',
  `select s.id from servers s join server_bmcs b on b.server_id = s.id where s.id = :id and s.state <> 'retired'`,
);

/**
 * Opens the way to the serial line of a server for staff, whatever state it is in: whoever uses it takes the line over, also from its customer, who reads the reason.
 * `conflict` where it has no BMC, `locked` while the line is the proof's, `driver_absent`.
 */
export async function openServerConsole(
  ctx: Context,
  id: number,
  { reason }: { reason: string },
  principal: Pick<Principal, 'sessionId'>,
) {
  // Outside of the transaction: it asks another process.
  await requireServersReached(ctx);
  return transaction(ctx, 'fleet.openServerConsole', async (tx) => {
    const server = await requireServer(tx, id);
    requireAction('console', server);
    if (await isServerProving(tx, id)) {
      const message = `Our installer has the serial line of ${server.name} until it is proved; try again once that is done`;
      throw fail('locked', { message });
    }
    const opens = { kind: 'serial', organizationId: null, serviceId: null, serverId: id } as const;
    const opened = await issueTicket(tx, opens, principal);
    const data = { name: server.name, reason, service_id: server.service_id };
    await record(tx, serverConsoleOpened, { ...about(id), data });
    return opened;
  });
}

/** Consoles of servers for staff. */
export function serverConsoles(ctx: Context, openServer: OpenServerLine): ConsoleRoom {
  return {
    isOf: ({ serviceId, serverId }) => serviceId === null && serverId !== null,
    find: async (ticket) => {
      const { serverId } = ticket;
      if (serverId === null || !(await mayLook(ctx, serverId, ticket))) return null;
      return serverSight(ctx, serverId, ticket, openServer, () => mayLook(ctx, serverId, ticket));
    },
  };
}

async function mayLook(ctx: Context, serverId: number, ticket: Ticket): Promise<boolean> {
  if ((await ctx.db.maybe(withBmc, { id: serverId })) === null) return false;
  return !(await isServerProving(ctx, serverId)) && openerIsStaff(ctx, ticket, whoLooks);
}
