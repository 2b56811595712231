import { record } from '../events/index.ts';
import {
  newId,
  type OrganizationContext,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { clocksOf } from './clocks.ts';
import { ticketCreated } from './events.ts';
import { readTicket } from './read.ts';
import { requireService } from './rows.ts';
import { type Department, requireDepartment } from './settings.ts';
import type { Priority, TicketStatus } from './states.ts';
import { newTid } from './tid.ts';
import { tellDepartment } from './told.ts';
import { findBy } from './words.ts';
import { type Author, type Files, writeMessage } from './write.ts';

const insertTicket = statement<
  { id: number },
  {
    id: number;
    organizationId: number;
    tid: string;
    userId: number | null;
    serviceId: number | null;
    subject: string;
    department: string;
    priority: Priority;
    status: TicketStatus;
    now: Date;
    clockSince: Date | null;
    firstAnswerDueAt: Date | null;
    solutionDueAt: Date | null;
    dueAt: Date;
  }
>(
  'tickets.insert',
  `insert into tickets (id, organization_id, tid, user_id, service_id, subject, department, priority, status, created_at,
     last_reply_at, used_ms, clock_since, first_answer_due_at, solution_due_at, due_at)
   values (:id, :organizationId, :tid, :userId, :serviceId, :subject, :department, :priority, :status, :now, :now, 0,
     :clockSince, :firstAnswerDueAt, :solutionDueAt, :dueAt)
   on conflict on constraint tickets_tid do nothing returning id`,
);

interface NewTicket {
  organizationId: number;
  userId: number | null;
  serviceId: number | null;
  subject: string;
  department: Department;
  priority: Priority;
}

/** Writes the row of a new ticket, open and with its clocks begun. */
export async function insertNewTicket(tx: TxContext, ticket: NewTicket) {
  const { organizationId, userId, serviceId, subject, department, priority } = ticket;
  const id = newId();
  const now = tx.clock.now();
  const status = 'open';
  const timed = {
    status,
    priority,
    created_at: now,
    first_answer_at: null,
    used_ms: 0,
    clock_since: null,
  } as const;
  const due = clocksOf(timed, now, department);
  const row = {
    ...({ id, organizationId, userId, serviceId, subject, priority, status, now } as const),
    department: department.slug,
    clockSince: due.clock_since,
    firstAnswerDueAt: due.first_answer_due_at,
    solutionDueAt: due.solution_due_at,
    dueAt: due.due_at,
  };
  let tid = newTid();
  while ((await tx.db.maybe(insertTicket, { ...row, tid })) === null) tid = newTid();
  const made = { id, organization_id: organizationId, tid, subject, department: department.slug };
  await findBy(tx, made, `${tid} ${subject}`);
  return made;
}

interface Opening {
  subject: string;
  department: string;
  priority: Priority;
  message: string;
  service_id?: number | null | undefined;
  /** What a mail repeats of what was written before. */
  quoted?: string | null;
}

/**
 * A member of an organization opens a ticket. `unknown_department`; `not_found`, `forbidden` for its service;
 * `attachment_refused`.
 */
export async function createTicket(ctx: OrganizationContext, opening: Opening, files: Files = {}) {
  return transaction(ctx, 'tickets.create', async (tx) => {
    const author = { userId: tx.actor.userId };
    const { tid } = await openTicket(tx, tx.organizationId, author, opening, files);
    return readTicket(tx, tid);
  });
}

/** Somebody opens a ticket for an organization, in whichever way they wrote. */
export async function openTicket(
  tx: TxContext,
  organizationId: number,
  author: Author,
  opening: Opening,
  files: Files = {},
) {
  const { subject, priority, message, service_id: serviceId = null, quoted = null } = opening;
  await requireService(tx, organizationId, serviceId);
  const department = await requireDepartment(tx, opening.department);
  const { userId } = author;
  const ticket = await insertNewTicket(tx, {
    organizationId,
    userId,
    serviceId,
    subject,
    department,
    priority,
  });
  const written = await writeMessage(tx, ticket, {
    ...{ kind: 'customer', author, text: message, quoted },
    ...files,
  });
  await record(tx, ticketCreated, {
    subject: { type: 'ticket', id: ticket.id },
    organizationId,
    data: {
      ...{ tid: ticket.tid, subject, department: department.slug, priority },
      ...{ service_id: serviceId, by_staff: false },
    },
  });
  await tellDepartment(tx, ticket, { author, isNew: true, attached: written.attached });
  return { ...ticket, messageId: written.id };
}
