import type { NeedSource } from '../platform/http/index.ts';
import { dayOf } from '../platform/index.ts';
import { listTickets } from './list.ts';

/** Tickets that the provider has answered. */
export const ticketNeeds = {
  kinds: ['ticket.answered'],
  permission: 'ticket.read',
  find: async (ctx, limit) => {
    const { tickets } = await listTickets(ctx, { page: 1, limit, status: 'answered' });
    return tickets.map(({ tid, subject, lastReply }) => ({
      ...{ kind: 'ticket.answered', id: tid, title: subject, detail: `#${tid}`, on: dayOf(lastReply) },
    }));
  },
} as const satisfies NeedSource;
