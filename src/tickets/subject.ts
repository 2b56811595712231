import { record } from '../events/index.ts';
import { type OrganizationContext, statement, type TxContext, transaction } from '../platform/index.ts';
import { ticketSubjectChanged } from './events.ts';
import { readTicket } from './read.ts';
import { lockOwnTicket, type TicketRow } from './rows.ts';
import { requireAction } from './states.ts';
import { findBy } from './words.ts';

const setSubject = statement<never, { id: number; subject: string }>(
  'tickets.setSubject',
  'update tickets set subject = :subject where id = :id',
);

/** A member of the organization says anew what a ticket is about. `not_found`, `forbidden`, `ticket_closed`. */
export async function changeSubject(ctx: OrganizationContext, tid: string, { subject }: { subject: string }) {
  return transaction(ctx, 'tickets.changeSubject', async (tx) => {
    const ticket = await lockOwnTicket(tx, tid);
    requireAction('change_subject', ticket.status);
    await writeSubject(tx, ticket, subject);
    return readTicket(tx, ticket.tid);
  });
}

/** What says the same as before is no change. The ticket is still found by what it was called before. */
export async function writeSubject(tx: TxContext, ticket: TicketRow, subject: string): Promise<void> {
  if (subject === ticket.subject) return;
  await tx.db.run(setSubject, { id: ticket.id, subject });
  await findBy(tx, ticket, subject);
  await record(tx, ticketSubjectChanged, {
    subject: { type: 'ticket', id: ticket.id },
    organizationId: ticket.organization_id,
    data: { tid: ticket.tid, before: ticket.subject, after: subject },
  });
}
