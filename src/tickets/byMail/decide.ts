import {
  conversationOf,
  readAnswerAddress,
  record,
  takeDeliveryReport,
  wasGivenTo,
} from '../../events/index.ts';
import { permissionsOf } from '../../organizations/index.ts';
import { actingAs, statement, type TxContext } from '../../platform/index.ts';
import { type Attaching, stillThere } from '../attachments/attach.ts';
import { ticketNoted } from '../events.ts';
import { receiveReply } from '../reply.ts';
import { findTicket, type TicketRow } from '../rows.ts';
import { writeMessage } from '../write.ts';
import type { MailReport } from './readMail.ts';
import { endMail, lockMailById, type MailRow, type Reason } from './rows.ts';

/** What is known of a mail that was read, beside what stands in its row; null when it cannot be read. */
export interface Judged {
  read: {
    recipients: string[];
    references: string[];
    machine: string | null;
    report: MailReport | null;
    proved: boolean;
  } | null;
}

/** Files of a mail that are kept, and the names of those that are not. */
export interface MailFiles {
  attaching: Attaching[];
  left: string[];
}

export const activeAt = statement<{ id: number }, { address: string }>(
  'tickets.activeAt',
  `select id from users where lower(email) = :address and status = 'active'`,
);
const roleIn = statement<{ role: string }, { organizationId: number; userId: number }>(
  'tickets.roleOfSender',
  'select role from memberships where organization_id = :organizationId and user_id = :userId',
);
const lockSender = statement<{ id: number }, { id: number }>(
  'tickets.lockSender',
  'select id from users where id = :id for no key update',
);
const cameBefore = statement<{ id: number }, { id: number; messageId: string; userId: number }>(
  'tickets.cameBefore',
  `select id from ticket_mails where user_id = :userId and message_id = :messageId and id <> :id
     and state in ('reply', 'note') limit 1`,
);
const countOf = statement<
  { sent: number; reopened: number },
  { userId: number; ticketId: number; hourAgo: Date; dayAgo: Date }
>(
  'tickets.mailsOfSender',
  `select count(*) filter (where decided_at > :hourAgo)::int as sent,
     count(*) filter (where reopened and ticket_id = :ticketId)::int as reopened
   from ticket_mails where user_id = :userId and decided_at > :dayAgo and state in ('reply', 'note')`,
);
const sinceAnswer = statement<{ count: number }, { ticketId: number }>(
  'tickets.mailsSinceAnswer',
  `select count(*)::int as count from ticket_messages m join ticket_mails c on c.ticket_message_id = m.id and c.state = 'reply'
   where m.ticket_id = :ticketId and m.created_at > coalesce(
     (select max(s.created_at) from ticket_messages s where s.ticket_id = :ticketId and s.kind = 'staff'), '-infinity')`,
);

const hourMs = 3_600_000;
/** What one person writes by mail within an hour. */
const mailsAnHour = 60;
/** How often a closed ticket is opened again for one person within a day. */
const reopeningsADay = 3;
/** How many mails of the customer a department is told of by mail before anybody answers: the ticket stands in the queue. */
const toldBeforeAnswer = 2;

const textAtMost = 50_000;

/**
 * What becomes of a mail: a reply of somebody who takes part in the ticket and proved to be it, a note of a machine, or
 * something that staff looks at. Machines are never answered, and open nothing again.
 */
export async function decideMail(
  tx: TxContext,
  id: number,
  { read }: Judged,
  files: MailFiles = { attaching: [], left: [] },
): Promise<void> {
  const mail = await tx.db.one(lockMailById, { id });
  if (mail.state !== 'received') return;
  if (mail.is_cut) return sayUnclaimed(tx, id, 'too_large');
  if (read === null) return sayUnclaimed(tx, id, 'unreadable');
  if (read.report !== null && (await takeDeliveryReport(tx, read.report)) !== 'unknown')
    return end(tx, id, { state: 'report' });
  const { userId, ticket, why } = await findConversation(tx, mail, read);
  if (userId !== null && ticket !== null && read.proved) {
    if (await isRepeated(tx, mail, userId)) return end(tx, id, { state: 'repeated' });
    const reason = await reasonAgainst(tx, ticket, userId);
    if (reason === null && read.machine === null) return takeReply(tx, mail, ticket, userId, files);
    if (reason === null || (reason === 'reopened_too_often' && read.machine === null))
      return takeNote(tx, mail, ticket, { userId, machine: read.machine, reason });
    if (read.machine === null) return sayUnclaimed(tx, id, reason);
  }
  if (read.machine !== null) return end(tx, id, { state: 'machine' });
  if (ticket !== null) return sayUnclaimed(tx, id, 'sender_not_proved');
  return end(tx, id, {
    state: 'unclaimed',
    reason: why,
    ...(userId !== null && read.proved ? { userId } : {}),
  });
}

/** Whose account has the sender's address, what they answer, and why that is nothing. */
interface Found {
  userId: number | null;
  ticket: TicketRow | null;
  why: Reason;
}

/** By the address that it came to, given to whoever it is from; else by the mail of ours to them that it answers. */
export async function findConversation(
  tx: TxContext,
  { from_address: address }: Pick<MailRow, 'from_address'>,
  { recipients, references }: NonNullable<Judged['read']>,
): Promise<Found> {
  const sender = address === null ? null : await tx.db.maybe(activeAt, { address });
  if (sender === null) return { userId: null, ticket: null, why: 'sender_unknown' };
  const found = { userId: sender.id, why: 'no_ticket' } as const;
  // Mails of one person are decided one after another, so that what is counted of them holds.
  await tx.db.one(lockSender, { id: sender.id });
  const told = recipients.map((recipient) => readAnswerAddress(tx.config, recipient));
  const addresses = told.filter((each) => each !== null && each !== 'plain');
  for (const each of addresses)
    if (wasGivenTo(tx, each, sender.id)) return { ...found, ticket: await findTicket(tx, each.code) };
  for (const messageId of references.toReversed()) {
    const code = await conversationOf(tx, messageId, sender.id);
    if (code !== null) return { ...found, ticket: await findTicket(tx, code) };
  }
  return { ...found, ticket: null, why: addresses.length > 0 ? 'address_not_theirs' : 'no_ticket' };
}

/** The organization in whose ticket a mail will be a reply, as it looks now; null when it will be none. */
export async function whereReplied(
  tx: TxContext,
  mail: MailRow,
  read: NonNullable<Judged['read']>,
): Promise<number | null> {
  if (mail.is_cut || read.machine !== null || !read.proved) return null;
  const { userId, ticket } = await findConversation(tx, mail, read);
  if (userId === null || ticket === null || (await isRepeated(tx, mail, userId))) return null;
  return (await reasonAgainst(tx, ticket, userId)) === null ? ticket.organization_id : null;
}

async function isRepeated(tx: TxContext, { id, message_id: messageId }: MailRow, userId: number) {
  return messageId !== null && (await tx.db.maybe(cameBefore, { id, messageId, userId })) !== null;
}

/** Whether an account may write in the tickets of an organization. */
export async function mayWrite(tx: TxContext, organizationId: number, userId: number): Promise<boolean> {
  const member = await tx.db.maybe(roleIn, { organizationId, userId });
  return member !== null && permissionsOf(member.role).has('ticket.write');
}

async function reasonAgainst(tx: TxContext, ticket: TicketRow, userId: number): Promise<Reason | null> {
  if (!(await mayWrite(tx, ticket.organization_id, userId))) return 'sender_not_allowed';
  const now = tx.clock.now().getTime();
  const { sent, reopened } = await tx.db.one(countOf, {
    ...{ userId, ticketId: ticket.id, hourAgo: new Date(now - hourMs), dayAgo: new Date(now - 24 * hourMs) },
  });
  if (sent >= mailsAnHour) return 'too_many';
  return ticket.status === 'closed' && reopened >= reopeningsADay ? 'reopened_too_often' : null;
}

async function takeReply(
  tx: TxContext,
  mail: MailRow,
  ticket: TicketRow,
  userId: number,
  files: MailFiles,
): Promise<void> {
  // Where the job stood still for an hour they were forgotten.
  const there = await stillThere(tx, ticket.organization_id, files.attaching);
  const attaching = files.attaching.filter(({ id }) => there.has(id));
  const gone = files.attaching.filter(({ id }) => !there.has(id)).map(({ name }) => name);
  const left = [...files.left, ...gone];
  const as = { ...actingAs(tx, userId), organizationId: ticket.organization_id };
  const { text, quoted } = wordsOf(mail);
  const { count } = await tx.db.one(sinceAnswer, { ticketId: ticket.id });
  const messageId = await receiveReply(as, ticket, { userId }, text, {
    ...{ quoted, isQuiet: count >= toldBeforeAnswer },
    // Of a mail nothing is lost, also what is not what it says.
    ...{ attaching, lies: 'kept' },
  });
  await end(tx, mail.id, {
    ...{ state: 'reply', organizationId: ticket.organization_id, ticketId: ticket.id, userId, messageId },
    reopened: ticket.status === 'closed',
  });
  if (left.length > 0)
    await noteOf(
      tx,
      mail,
      ticket,
      ['Too large, too many, or not kept in time, and in the mail alone:', ...left].join('\n- '),
    );
}

interface Noted {
  userId: number;
  machine: string | null;
  reason: Reason | null;
}

async function takeNote(
  tx: TxContext,
  mail: MailRow,
  ticket: TicketRow,
  { userId, machine, reason }: Noted,
): Promise<void> {
  const why =
    machine === null
      ? 'This ticket was opened again by mail too often today; this mail of its customer did not open it.'
      : `A machine wrote this (${machine}).`;
  const said = [why, mail.subject ?? '', wordsOf(mail).text, attachmentsOf(mail)]
    .filter(Boolean)
    .join('\n\n');
  const messageId = await noteOf(tx, mail, ticket, said);
  const { id: ticketId, organization_id: organizationId } = ticket;
  await end(tx, mail.id, { state: 'note', reason, organizationId, ticketId, userId, messageId });
}

/** A note that no customer sees, in the name of whoever the mail says that it is from. */
export async function noteOf(
  tx: TxContext,
  { from_name: name, from_address: email }: MailRow,
  ticket: Pick<TicketRow, 'id' | 'organization_id' | 'tid'>,
  text: string,
): Promise<number> {
  const author = { userId: null, name: name || (email ?? 'A mail'), email: email ?? '' };
  const { id: messageId } = await writeMessage(tx, ticket, {
    kind: 'note',
    author,
    text: text.slice(0, textAtMost),
  });
  await record(tx, ticketNoted, {
    ...{ subject: { type: 'ticket', id: ticket.id }, organizationId: null },
    data: { tid: ticket.tid, message_id: messageId },
  });
  return messageId;
}

/** What was written; of what is longer than a message may be, the rest stands with what was quoted. */
export function wordsOf({ text: whole, quoted }: MailRow): { text: string; quoted: string | null } {
  const text = whole?.trim() || '(This mail has no text.)';
  if (text.length <= textAtMost) return { text, quoted };
  const rest = text.slice(textAtMost);
  return {
    text: text.slice(0, textAtMost).toWellFormed(),
    quoted: [rest, quoted ?? ''].join('\n\n').trim().toWellFormed(),
  };
}

export function attachmentsOf({ attachments }: MailRow): string {
  const named = (attachments ?? []).map(
    ({ name, type, size_bytes }) => `- ${name} (${type}, ${size_bytes} bytes)`,
  );
  return named.length === 0 ? '' : ['The mail has attachments; they are kept with it:', ...named].join('\n');
}

export function sayUnclaimed(tx: TxContext, id: number, reason: Reason): Promise<void> {
  return end(tx, id, { state: 'unclaimed', reason });
}

interface End {
  state: MailRow['state'];
  reason?: Reason | null;
  organizationId?: number;
  ticketId?: number;
  userId?: number;
  messageId?: number;
  reopened?: boolean;
}

export async function end(tx: TxContext, id: number, to: End): Promise<void> {
  const { state, reason = null, organizationId = null, ticketId = null, userId = null } = to;
  const { messageId = null, reopened = false } = to;
  await tx.db.run(endMail, {
    ...{ id, state, reason, organizationId, ticketId, userId, messageId, reopened, now: tx.clock.now() },
  });
}
