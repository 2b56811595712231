import { type ConsoleRoom, openerMay, type Ticket } from '../../consoles/index.ts';
import { type OpenServerLine, serverSight } from '../../fleet/index.ts';
import type { Context } from '../../platform/index.ts';
import { factsOf, findDedicated } from '../queries.ts';
import { reasonAgainst, ruleOf } from '../states.ts';

/** Consoles of servers for those who rent them. */
export function rentedConsoles(ctx: Context, openServer: OpenServerLine): ConsoleRoom {
  return {
    isOf: ({ serviceId, serverId }) => serviceId !== null && serverId !== null,
    find: async (ticket) => {
      const { serverId } = ticket;
      if (serverId === null || !(await mayLook(ctx, ticket))) return null;
      return serverSight(ctx, serverId, ticket, openServer, () => mayLook(ctx, ticket));
    },
  };
}

/** Whether the server is still what it was given for, in a state in which it is shown, to somebody who may. */
async function mayLook(ctx: Context, ticket: Ticket): Promise<boolean> {
  const { organizationId, serviceId, serverId } = ticket;
  if (organizationId === null || serviceId === null) return false;
  const dedicated = await findDedicated(ctx, organizationId, serviceId);
  if (dedicated?.server?.id !== serverId) return false;
  const facts = factsOf(dedicated);
  // It is heard here, whatever came of asking it something else.
  const server = facts.server && { ...facts.server, isSilent: false };
  if (reasonAgainst('console', { ...facts, server }) !== null) return false;
  return openerMay(ctx, ticket, ruleOf('console').permission);
}
