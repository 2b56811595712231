import { record } from '../../events/index.ts';
import { fail, type StaffContext, statement, type TxContext, transaction } from '../../platform/index.ts';
import {
  ticketAssigned,
  ticketChanged,
  ticketClosed,
  ticketNoted,
  ticketReopened,
  ticketReplied,
} from '../events.ts';
import { askIfItHelped } from '../feedback.ts';
import { lockTicket, requireService, type TicketRow } from '../rows.ts';
import { departmentOf, requireDepartment } from '../settings.ts';
import type { Priority, TicketStatus } from '../states.ts';
import { writeSubject } from '../subject.ts';
import { tellCustomers } from '../told.ts';
import { type Files, setTicketState, writeMessage } from '../write.ts';
import { requireFilled } from './canned.ts';
import { readTicketAsStaff } from './read.ts';
import { stopWriting } from './writing.ts';

interface StaffReply {
  message: string;
  status?: TicketStatus | undefined;
  last_reply_id?: number | undefined;
}

const newestOf = statement<{ id: number }, { ticketId: number }>(
  'tickets.newestMessage',
  `select id from ticket_messages where ticket_id = :ticketId and kind <> 'note'
   order by created_at desc, number desc limit 1`,
);

/**
 * Staff answers. `not_found`; `ticket_moved_on` when somebody wrote since the reply that the answer was written to;
 * `canned_reply_unfilled`, `attachment_refused`.
 */
export function answerTicket(ctx: StaffContext, tid: string, answer: StaffReply, files: Files = {}) {
  return transaction(ctx, 'tickets.answer', async (tx) => {
    requireFilled(answer.message);
    const ticket = await lockTicket(tx, tid);
    const { id, organization_id: organizationId } = ticket;
    const newest = await tx.db.maybe(newestOf, { ticketId: id });
    if (answer.last_reply_id !== undefined && answer.last_reply_id !== newest?.id)
      throw fail('ticket_moved_on');
    const author = { userId: tx.actor.userId };
    const { id: messageId, attached } = await writeMessage(tx, ticket, {
      kind: 'staff',
      author,
      text: answer.message,
      ...files,
    });
    const now = tx.clock.now();
    const after = {
      ...ticket,
      status: answer.status ?? 'answered',
      first_answer_at: ticket.first_answer_at ?? now,
    };
    await setTicketState(tx, after, await departmentOf(tx, ticket.department), { writtenAt: now });
    await record(tx, ticketReplied, {
      ...{ subject: { type: 'ticket', id }, organizationId },
      data: { tid: ticket.tid, subject: ticket.subject, message_id: messageId, by_staff: true },
    });
    const isAsked = await recordEnds(tx, ticket, after.status);
    await tellCustomers(tx, ticket, { isClosed: after.status === 'closed', isAsked, attached });
    await stopWriting(tx, id);
    return readTicketAsStaff(tx, ticket.tid);
  });
}

/** What no customer ever sees: not in the ticket, nor in its times. */
export function noteInTicket(
  ctx: StaffContext,
  tid: string,
  { message }: { message: string },
  files: Files = {},
) {
  return transaction(ctx, 'tickets.note', async (tx) => {
    const ticket = await lockTicket(tx, tid);
    const author = { userId: tx.actor.userId };
    const { id: messageId } = await writeMessage(tx, ticket, {
      kind: 'note',
      author,
      text: message,
      ...files,
    });
    await record(tx, ticketNoted, {
      ...{ subject: { type: 'ticket', id: ticket.id }, organizationId: null },
      data: { tid: ticket.tid, message_id: messageId },
    });
    return readTicketAsStaff(tx, ticket.tid);
  });
}

const staffMember = statement<{ id: number }, { id: number }>(
  'tickets.staffMember',
  `select id from users where id = :id and staff_role is not null and status = 'active'`,
);
const setAssigned = statement<never, { id: number; userId: number | null }>(
  'tickets.setAssigned',
  'update tickets set assigned_to = :userId where id = :id',
);

/** Says who of staff sees to a ticket; null for nobody. `not_staff`. */
export function assignTicket(
  ctx: StaffContext,
  tid: string,
  { user_id: userId }: { user_id: number | null },
) {
  return transaction(ctx, 'tickets.assign', async (tx) => {
    if (userId !== null && (await tx.db.maybe(staffMember, { id: userId })) === null) throw fail('not_staff');
    const ticket = await lockTicket(tx, tid);
    if (userId !== ticket.assigned_to) {
      await tx.db.run(setAssigned, { id: ticket.id, userId });
      await record(tx, ticketAssigned, {
        ...{ subject: { type: 'ticket', id: ticket.id }, organizationId: null },
        data: { tid: ticket.tid, assigned_to: userId, before: ticket.assigned_to },
      });
    }
    return readTicketAsStaff(tx, ticket.tid);
  });
}

interface Change {
  subject?: string | undefined;
  department?: string | undefined;
  priority?: Priority | undefined;
  status?: TicketStatus | undefined;
  service_id?: number | null | undefined;
}

const setWhat = statement<
  never,
  { id: number; department: string; priority: Priority; serviceId: number | null }
>(
  'tickets.setWhat',
  'update tickets set department = :department, priority = :priority, service_id = :serviceId where id = :id',
);

/** Changes what is named of it; the times at which it is due follow. `unknown_department`, `not_found`, `forbidden`. */
export function changeTicket(ctx: StaffContext, tid: string, change: Change) {
  return transaction(ctx, 'tickets.change', async (tx) => {
    const ticket = await lockTicket(tx, tid);
    const before = await departmentOf(tx, ticket.department);
    const department =
      change.department === undefined || change.department === ticket.department
        ? before
        : await requireDepartment(tx, change.department);
    const serviceId = change.service_id === undefined ? ticket.service_id : change.service_id;
    // One that it has named before may have moved to another organization since.
    if (serviceId !== ticket.service_id) await requireService(tx, ticket.organization_id, serviceId);
    const { status = ticket.status, priority = ticket.priority } = change;
    const after: TicketRow = {
      ...ticket,
      department: department.slug,
      priority,
      status,
      service_id: serviceId,
    };
    await tx.db.run(setWhat, { id: ticket.id, department: after.department, priority, serviceId });
    await setTicketState(tx, after, department, { before });
    await recordChange(tx, ticket, after);
    const isAsked = await recordEnds(tx, ticket, status);
    if (change.subject !== undefined) await writeSubject(tx, ticket, change.subject);
    if (status === 'closed' && ticket.status !== 'closed')
      await tellCustomers(tx, ticket, { isClosed: true, isAsked });
    return readTicketAsStaff(tx, ticket.tid);
  });
}

async function recordChange(tx: TxContext, before: TicketRow, after: TicketRow): Promise<void> {
  const fields = ['department', 'priority', 'status', 'service_id'] as const;
  const different = fields.filter((field) => before[field] !== after[field]);
  if (different.length === 0) return;
  const part = (row: TicketRow) => Object.fromEntries(different.map((field) => [field, row[field]]));
  await record(tx, ticketChanged, {
    ...{ subject: { type: 'ticket', id: before.id }, organizationId: before.organization_id },
    data: { tid: before.tid, before: part(before), after: part(after) },
  });
}

/** Closed by what staff did, or open again. Returns whether the customer is to be asked now if it helped. */
async function recordEnds(tx: TxContext, ticket: TicketRow, status: TicketStatus): Promise<boolean> {
  const entry = { subject: { type: 'ticket', id: ticket.id }, organizationId: ticket.organization_id };
  const { tid, subject } = ticket;
  if (status === 'closed' && ticket.status !== 'closed') {
    await record(tx, ticketClosed, { ...entry, data: { tid, subject, by_staff: true } });
    return askIfItHelped(tx, ticket);
  }
  if (status !== 'closed' && ticket.status === 'closed')
    await record(tx, ticketReopened, { ...entry, data: { tid } });
  return false;
}
