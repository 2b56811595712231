import { record } from '../events/index.ts';
import { type OrganizationContext, transaction } from '../platform/index.ts';
import { ticketClosed } from './events.ts';
import { readTicket } from './read.ts';
import { lockOwnTicket } from './rows.ts';
import { departmentOf } from './settings.ts';
import { requireAction } from './states.ts';
import { setTicketState } from './write.ts';

/** A member of the organization says that a ticket is done with. `not_found`, `forbidden`, `ticket_closed`. */
export async function closeTicket(ctx: OrganizationContext, tid: string) {
  return transaction(ctx, 'tickets.close', async (tx) => {
    const ticket = await lockOwnTicket(tx, tid);
    requireAction('close', ticket.status);
    const department = await departmentOf(tx, ticket.department);
    await setTicketState(tx, { ...ticket, status: 'closed' }, department);
    await record(tx, ticketClosed, {
      subject: { type: 'ticket', id: ticket.id },
      data: { tid: ticket.tid, subject: ticket.subject, by_staff: false },
    });
    return readTicket(tx, ticket.tid);
  });
}
