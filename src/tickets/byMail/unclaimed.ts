import type { Files } from '../../drivers/files/index.ts';
import { record } from '../../events/index.ts';
import { type Bytes, type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  enqueue,
  fail,
  job,
  type NamedJob,
  type PeriodicJob,
  requireRow,
  type StaffContext,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { openFile } from '../attachments/read.ts';
import { openTicket } from '../create.ts';
import { mailAssigned, mailDeleted } from '../events.ts';
import { receiveReply } from '../reply.ts';
import { lockTicket } from '../rows.ts';
import { readTicketAsStaff } from '../staff/read.ts';
import type { Priority } from '../states.ts';
import type { Author } from '../write.ts';
import { attachmentsOf, end, mayWrite, noteOf, wordsOf } from './decide.ts';
import { takeLostFiles } from './keep.ts';
import { lockMailById, type MailRow, mailColumns } from './rows.ts';

const select = `select ${mailColumns} from ticket_mails m`;

const mails = pagedList<MailRow>({
  name: 'tickets.unclaimedMails',
  from: 'ticket_mails m',
  select,
  within: `m.state = 'unclaimed'`,
  key: { by: 'm.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    received_at: { by: 'm.received_at', type: 'timestamptz', of: (row) => row.received_at.toISOString() },
  },
  order: '-received_at',
  countCap: 1_000,
});

const unclaimedById = statement<MailRow, { id: number }>(
  'tickets.unclaimedById',
  `${select} where m.id = :id and m.state = 'unclaimed'`,
);

/** Mails that are no ticket's yet, the newest first. */
export async function listUnclaimed(ctx: Context, query: ListRequest) {
  const { rows, at } = await mails(ctx, query, {});
  return listData('mails', rows.map(summaryOf), at);
}

/** One of them, with what is written in it. `not_found`. */
export async function readUnclaimed(ctx: Context, id: number) {
  const row = await requireRow(ctx, unclaimedById, { id });
  return {
    mail: { ...summaryOf(row), text: row.text, quoted: row.quoted, recipients: row.recipients },
  };
}

export async function lockUnclaimed(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lockMailById, { id });
}

function summaryOf(row: MailRow) {
  return {
    id: row.id,
    received_at: row.received_at,
    reason: row.reason ?? ('unreadable' as const),
    from_name: row.from_name,
    from_address: row.from_address,
    return_path: row.return_path,
    proved_user_id: row.user_id,
    subject: row.subject,
    attachments: row.attachments ?? [],
    size_bytes: row.size_bytes,
  };
}

const keptById = statement<Pick<MailRow, 'id' | 'file' | 'size_bytes'>, { id: number }>(
  'tickets.keptMailById',
  `select m.id, m.file, m.size_bytes from ticket_mails m where m.id = :id and m.state <> 'deleted'`,
);

/** A mail as it came, to be saved; also once it stands in a ticket. `not_found`, `attachments_unavailable`. */
export async function readRawMail(ctx: Context, files: Files, id: number): Promise<Bytes> {
  const { file, size_bytes: bytes } = await requireRow(ctx, keptById, { id });
  return openFile(ctx, files, { file, bytes, name: `mail-${id}.eml`, type: 'message/rfc822' });
}

async function requireUnclaimed(tx: TxContext, id: number): Promise<MailRow> {
  const mail = await requireRow(tx, lockMailById, { id });
  if (mail.state !== 'unclaimed') throw fail('not_found');
  return mail;
}

interface Assignment {
  tid: string;
  as: 'reply' | 'note';
}

/**
 * Puts a mail into a ticket, as a reply or as a note. A reply is of the account that it is proved to be from, if that may write
 * there, else of somebody without one. `not_found`, `busy`.
 */
export function assignMail(ctx: StaffContext, id: number, { tid, as }: Assignment) {
  return transaction(ctx, 'tickets.assignMail', async (tx) => {
    const mail = await requireUnclaimed(tx, id);
    const ticket = await lockTicket(tx, tid);
    const { text, quoted } = wordsOf(mail);
    const attachments = attachmentsOf(mail);
    const author = await authorOf(tx, mail, ticket.organization_id);
    const messageId =
      as === 'note'
        ? await noteOf(tx, mail, ticket, [mail.subject ?? '', text, attachments].filter(Boolean).join('\n\n'))
        : await receiveReply(tx, ticket, author, text, { quoted });
    if (as === 'reply' && attachments !== '') await noteOf(tx, mail, ticket, attachments);
    const { id: ticketId, organization_id: organizationId } = ticket;
    await end(tx, id, { state: 'assigned', organizationId, ticketId, messageId, ...provedOf(mail) });
    await record(tx, mailAssigned, {
      ...{ subject: { type: 'ticket', id: ticketId }, organizationId: null },
      data: { tid: ticket.tid, mail_id: id, as },
    });
    return readTicketAsStaff(tx, ticket.tid);
  });
}

/** Whoever it is proved to be, when they may write there; else the name and address that stand in the mail. */
async function authorOf(tx: TxContext, mail: MailRow, organizationId: number): Promise<Author> {
  const { user_id: userId, from_name: name, from_address: address } = mail;
  if (userId !== null && (await mayWrite(tx, organizationId, userId))) return { userId };
  return { userId: null, name: name || (address ?? 'A mail'), email: address ?? '' };
}

function provedOf({ user_id: userId }: MailRow) {
  return userId === null ? {} : { userId };
}

interface Opening {
  organization_id: number;
  department: string;
  priority: Priority;
  subject: string;
}

/** Opens a ticket for an organization with what a mail says. `not_found`, `unknown_department`. */
export function openFromMail(ctx: StaffContext, id: number, opening: Opening) {
  return transaction(ctx, 'tickets.openFromMail', async (tx) => {
    const mail = await requireUnclaimed(tx, id);
    const { organization_id: organizationId } = opening;
    await requireRow(tx, organizationById, { id: organizationId });
    const { text, quoted } = wordsOf(mail);
    const author = await authorOf(tx, mail, organizationId);
    const ticket = await openTicket(tx, organizationId, author, { ...opening, message: text, quoted });
    const attachments = attachmentsOf(mail);
    if (attachments !== '') await noteOf(tx, mail, ticket, attachments);
    const { id: ticketId, messageId } = ticket;
    await end(tx, id, { state: 'assigned', organizationId, ticketId, messageId, ...provedOf(mail) });
    await record(tx, mailAssigned, {
      ...{ subject: { type: 'ticket', id: ticketId }, organizationId: null },
      data: { tid: ticket.tid, mail_id: id, as: 'reply' },
    });
    return readTicketAsStaff(tx, ticket.tid);
  });
}

const organizationById = statement<{ id: number }, { id: number }>(
  'tickets.organizationById',
  'select id from organizations where id = :id',
);

const forget = statement<never, { id: number }>(
  'tickets.forgetMail',
  `update ticket_mails set return_path = null, recipients = '{}', client_ip = null, client_name = null, message_id = null,
     from_name = null, from_address = null, subject = null, text = null, quoted = null, attachments = null
   where id = :id`,
);

export const forgettingFile: NamedJob<{ file: string }> = { name: 'tickets.forgetMailFile' };

/** Takes the file of a mail away that was deleted. */
export const mailForgetting = job<{ file: string }>(
  forgettingFile.name,
  ({ drivers, payload }) => drivers.files.delete(payload.file),
  { outages: ['files_unreachable', 'files_full'] },
);

/** Deletes a mail: nothing stays of it but that it came, so that it is not taken again. `not_found`. */
export function deleteMail(ctx: StaffContext, id: number) {
  return transaction(ctx, 'tickets.deleteMail', async (tx) => {
    const { file } = await requireUnclaimed(tx, id);
    await end(tx, id, { state: 'deleted' });
    await forgetMail(tx, id, file);
    await record(tx, mailDeleted, { subject: { type: 'ticket_mail', id }, organizationId: null, data: {} });
    return { deleted: true };
  });
}

export async function forgetMail(tx: TxContext, id: number, file: string): Promise<void> {
  await tx.db.run(forget, { id });
  await enqueue(tx, forgettingFile, { file });
}

const keptMs = 30 * 24 * 3_600_000;
const batch = 200;

const takeOld = statement<{ file: string }, { before: Date; limit: number }>(
  'tickets.takeOldMails',
  `delete from ticket_mails where id in
     (select id from ticket_mails where state in ('machine', 'report', 'repeated') and decided_at < :before
      order by decided_at, id limit :limit)
   returning file`,
);

const takeForgotten = statement<{ file: string }, { before: Date; limit: number }>(
  'tickets.takeForgottenMails',
  `delete from ticket_mails where id in
     (select id from ticket_mails where state = 'unclaimed' and received_at < :before
      order by received_at, id limit :limit)
   returning file`,
);

/**
 * What machines sent that is no ticket's, and what came twice, is kept for thirty days; what nobody claimed for ninety, since
 * whoever likes can send it. Files that were begun and became no mail go after a day.
 */
export const purgeMails: PeriodicJob = {
  name: 'tickets.purgeMails',
  intervalMs: 600_000,
  work: async (tx) => {
    const now = tx.clock.now().getTime();
    const old = [
      ...(await tx.db.many(takeOld, { before: new Date(now - keptMs), limit: batch })),
      ...(await tx.db.many(takeForgotten, { before: new Date(now - 3 * keptMs), limit: batch })),
    ];
    const lost = await takeLostFiles(tx, batch);
    for (const file of [...old.map((each) => each.file), ...lost])
      await enqueue(tx, forgettingFile, { file });
    return old.length >= batch || lost.length === batch ? 'more' : 'done';
  },
};
