import { record } from '../events/index.ts';
import { type OrganizationContext, type TxContext, transaction } from '../platform/index.ts';
import { ticketReopened, ticketReplied } from './events.ts';
import { readTicket } from './read.ts';
import { lockOwnTicket, type TicketRow } from './rows.ts';
import { departmentOf } from './settings.ts';
import { afterCustomer, requireAction } from './states.ts';
import { tellDepartment } from './told.ts';
import { type Author, type Files, setTicketState, writeMessage } from './write.ts';

/**
 * A member of the organization writes in a ticket; one that is closed is open again. `not_found`, `forbidden`,
 * `attachment_refused`.
 */
export async function replyToTicket(
  ctx: OrganizationContext,
  tid: string,
  { message }: { message: string },
  files: Files = {},
) {
  return transaction(ctx, 'tickets.reply', async (tx) => {
    const ticket = await lockOwnTicket(tx, tid);
    await receiveReply(tx, ticket, { userId: tx.actor.userId }, message, files);
    return readTicket(tx, ticket.tid);
  });
}

/** Of a reply that came by mail. */
interface ByMail extends Files {
  quoted?: string | null;
  /** The department is not told by mail: it was often enough. */
  isQuiet?: boolean;
}

/** What the customer wrote comes into a locked ticket, in whichever way. Returns the message's id. */
export async function receiveReply(
  tx: TxContext,
  ticket: TicketRow,
  author: Author,
  text: string,
  { quoted = null, isQuiet = false, ...files }: ByMail = {},
): Promise<number> {
  requireAction('reply', ticket.status);
  const { id, organization_id: organizationId, tid } = ticket;
  const written = { kind: 'customer', author, text, quoted, ...files } as const;
  const { id: messageId, attached } = await writeMessage(tx, ticket, written);
  const after = { ...ticket, status: afterCustomer(ticket.status) };
  await setTicketState(tx, after, await departmentOf(tx, ticket.department), { writtenAt: tx.clock.now() });
  const subject = { type: 'ticket', id };
  await record(tx, ticketReplied, {
    ...{ subject, organizationId },
    data: { tid, subject: ticket.subject, message_id: messageId, by_staff: false },
  });
  if (ticket.status === 'closed')
    await record(tx, ticketReopened, { subject, organizationId, data: { tid } });
  if (!isQuiet) await tellDepartment(tx, ticket, { author, isNew: false, attached });
  return messageId;
}
