import { record } from '../../events/index.ts';
import { fail, type StaffContext, statement, type TxContext, transaction } from '../../platform/index.ts';
import { insertNewTicket } from '../create.ts';
import { ticketMerged, ticketSplit } from '../events.ts';
import { lockTicket, plainTid, type TicketRow } from '../rows.ts';
import { departmentOf } from '../settings.ts';
import { runsIn } from '../states.ts';
import { mergeWords, writeWordsAnew } from '../words.ts';
import { setTicketState } from '../write.ts';
import { readTicketAsStaff } from './read.ts';

const moveAll = statement<never, { from: number; to: number }>(
  'tickets.moveAll',
  `update ticket_messages set ticket_id = :to, from_ticket_id = coalesce(from_ticket_id, :from) where ticket_id = :from`,
);
const markMerged = statement<never, { from: number; to: number }>(
  'tickets.markMerged',
  'update tickets set merged_into = :to where id = :from or merged_into = :from',
);

/**
 * Makes a ticket a part of another one of the same customer: all that was written stands there in the order of time, and
 * both codes answer as that one. `not_found`, `ticket_same`, `ticket_of_another`.
 */
export function mergeTicket(ctx: StaffContext, tid: string, { into }: { into: string }) {
  return transaction(ctx, 'tickets.merge', async (tx) => {
    // In one order, whoever merges what into what.
    const locked = new Map<string, TicketRow>();
    for (const each of [plainTid(tid), plainTid(into)].toSorted())
      locked.set(each, await lockTicket(tx, each));
    const [from, to] = [locked.get(plainTid(tid)), locked.get(plainTid(into))];
    if (from === undefined || to === undefined || from.id === to.id) throw fail('ticket_same');
    if (from.organization_id !== to.organization_id) throw fail('ticket_of_another');
    await tx.db.run(moveAll, { from: from.id, to: to.id });
    await mergeWords(tx, from.id, to.id);
    const earliest = [from.first_answer_at, to.first_answer_at].filter((at) => at !== null);
    const merged: TicketRow = {
      ...to,
      status: runsIn(from.status) && !runsIn(to.status) ? 'customer_reply' : to.status,
      first_answer_at: earliest.toSorted((one, other) => one.getTime() - other.getTime())[0] ?? null,
    };
    await setTicketState(tx, merged, await departmentOf(tx, to.department), {
      writtenAt: await newest(tx, to.id),
    });
    await setTicketState(tx, { ...from, status: 'closed' }, await departmentOf(tx, from.department));
    await tx.db.run(markMerged, { from: from.id, to: to.id });
    await record(tx, ticketMerged, {
      ...{ subject: { type: 'ticket', id: from.id }, organizationId: from.organization_id },
      data: { tid: from.tid, into: to.tid },
    });
    return readTicketAsStaff(tx, to.tid);
  });
}

const newestReply = statement<{ at: Date }, { ticketId: number }>(
  'tickets.newestReplyAt',
  `select max(created_at) as at from ticket_messages where ticket_id = :ticketId and kind <> 'note'`,
);

async function newest(tx: TxContext, ticketId: number): Promise<Date> {
  return (await tx.db.one(newestReply, { ticketId })).at;
}

interface Split {
  message_ids: number[];
  subject: string;
}

const chosen = statement<
  { id: number; kind: string; user_id: number | null },
  { ticketId: number; ids: number[] }
>(
  'tickets.chosenMessages',
  `select id, kind, user_id from ticket_messages where ticket_id = :ticketId and id = any(:ids::bigint[])
   order by created_at, number`,
);
const moveSome = statement<never, { from: number; to: number; ids: number[] }>(
  'tickets.moveSome',
  `update ticket_messages set ticket_id = :to, from_ticket_id = coalesce(from_ticket_id, :from)
   where ticket_id = :from and id = any(:ids::bigint[])`,
);
const staysBehind = statement<{ count: number }, { ticketId: number }>(
  'tickets.staysBehind',
  `select count(*)::int as count from ticket_messages where ticket_id = :ticketId and kind <> 'note'`,
);

/**
 * Takes some of what was written along into a ticket of its own, for the same customer, department and priority. Something
 * to read has to be in both. `not_found`, `ticket_split_empty`.
 */
export function splitTicket(ctx: StaffContext, tid: string, { message_ids: ids, subject }: Split) {
  return transaction(ctx, 'tickets.split', async (tx) => {
    const ticket = await lockTicket(tx, tid);
    const messages = await tx.db.many(chosen, { ticketId: ticket.id, ids });
    if (messages.length !== new Set(ids).size) throw fail('not_found');
    const opener = messages.find(({ kind }) => kind === 'customer')?.user_id ?? ticket.user_id;
    const department = await departmentOf(tx, ticket.department);
    const { organization_id: organizationId, service_id: serviceId, priority } = ticket;
    const made = await insertNewTicket(tx, {
      ...{ organizationId, userId: opener, serviceId, subject, department, priority },
    });
    await tx.db.run(moveSome, { from: ticket.id, to: made.id, ids });
    const [left, taken] = [
      await tx.db.one(staysBehind, { ticketId: ticket.id }),
      await tx.db.one(staysBehind, { ticketId: made.id }),
    ];
    if (left.count === 0 || taken.count === 0) throw fail('ticket_split_empty');
    await writeWordsAnew(tx, ticket, `${ticket.tid} ${ticket.subject}`);
    await writeWordsAnew(tx, made, `${made.tid} ${subject}`);
    await record(tx, ticketSplit, {
      ...{ subject: { type: 'ticket', id: ticket.id }, organizationId },
      data: { tid: ticket.tid, into: made.tid },
    });
    return readTicketAsStaff(tx, made.tid);
  });
}
