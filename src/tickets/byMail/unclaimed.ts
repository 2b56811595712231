import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
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
import { mailAssigned, mailDeleted } from '../events.ts';
import { receiveReply } from '../reply.ts';
import { lockTicket } from '../rows.ts';
import { readTicketAsStaff } from '../staff/read.ts';
import { attachmentsOf, end, noteOf, wordsOf } from './decide.ts';
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
    subject: row.subject,
    attachments: row.attachments ?? [],
    size_bytes: row.size_bytes,
  };
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
 * Puts a mail into a ticket: as what somebody without an account wrote, by the name and address that stand in the mail, or as
 * a note. `not_found`, `busy`.
 */
export function assignMail(ctx: StaffContext, id: number, { tid, as }: Assignment) {
  return transaction(ctx, 'tickets.assignMail', async (tx) => {
    const mail = await requireUnclaimed(tx, id);
    const ticket = await lockTicket(tx, tid);
    const { text, quoted } = wordsOf(mail);
    const attachments = attachmentsOf(mail);
    const address = mail.from_address ?? '';
    const author = { userId: null, name: mail.from_name || address || 'A mail', email: address };
    const messageId =
      as === 'note'
        ? await noteOf(tx, mail, ticket, [mail.subject ?? '', text, attachments].filter(Boolean).join('\n\n'))
        : await receiveReply(tx, ticket, author, text, { quoted });
    if (as === 'reply' && attachments !== '') await noteOf(tx, mail, ticket, attachments);
    const { id: ticketId, organization_id: organizationId } = ticket;
    await end(tx, id, { state: 'assigned', organizationId, ticketId, messageId });
    await record(tx, mailAssigned, {
      ...{ subject: { type: 'ticket', id: ticketId }, organizationId: null },
      data: { tid: ticket.tid, mail_id: id, as },
    });
    return readTicketAsStaff(tx, ticket.tid);
  });
}

const forget = statement<never, { id: number }>(
  'tickets.forgetMail',
  `update ticket_mails set return_path = null, recipients = '{}', client_ip = null, client_name = null, message_id = null,
     from_name = null, from_address = null, subject = null, text = null, quoted = null, attachments = null
   where id = :id`,
);

export const forgettingFile: NamedJob<{ file: string }> = { name: 'tickets.forgetMailFile' };

/** Takes the file of a mail away that was deleted. */
export const mailForgetting = job<{ file: string }>(forgettingFile.name, ({ drivers, payload }) =>
  drivers.files.delete(payload.file),
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

/** What machines sent that is no ticket's, and what came twice, is kept for thirty days. */
export const purgeMails: PeriodicJob = {
  name: 'tickets.purgeMails',
  intervalMs: 600_000,
  work: async (tx) => {
    const before = new Date(tx.clock.now().getTime() - keptMs);
    const old = await tx.db.many(takeOld, { before, limit: batch });
    for (const { file } of old) await enqueue(tx, forgettingFile, { file });
    return old.length === batch ? 'more' : 'done';
  },
};
