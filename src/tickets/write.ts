import { newId, statement, type TxContext } from '../platform/index.ts';
import { type Attached, type Attaching, attachTo } from './attachments/attach.ts';
import { clocksOf, type Due } from './clocks.ts';
import type { TicketRow } from './rows.ts';
import type { Department } from './settings.ts';
import type { TicketStatus } from './states.ts';
import { findBy } from './words.ts';

const insertMessage = statement<
  never,
  {
    id: number;
    organizationId: number;
    ticketId: number;
    kind: MessageKind;
    userId: number | null;
    name: string | null;
    email: string | null;
    message: string;
    quoted: string | null;
    now: Date;
  }
>(
  'tickets.insertMessage',
  `insert into ticket_messages (id, organization_id, ticket_id, kind, user_id, author_name, author_email, message,
     quoted, created_at)
   values (:id, :organizationId, :ticketId, :kind, :userId, :name, :email, :message, :quoted, :now)`,
);

const setState = statement<
  never,
  {
    id: number;
    status: TicketStatus;
    closedAt: Date | null;
    lastReplyAt: Date | null;
    firstAnswerAt: Date | null;
    usedMs: number;
    clockSince: Date | null;
    firstAnswerDueAt: Date | null;
    solutionDueAt: Date | null;
    dueAt: Date;
  }
>(
  'tickets.setState',
  `update tickets set status = :status, last_reply_at = coalesce(:lastReplyAt::timestamptz, last_reply_at),
     closed_at = case when :closedAt::timestamptz is null then null else coalesce(closed_at, :closedAt) end,
     first_answer_at = :firstAnswerAt, used_ms = :usedMs, clock_since = :clockSince,
     first_answer_due_at = :firstAnswerDueAt, solution_due_at = :solutionDueAt, due_at = :dueAt
   where id = :id`,
);

export type MessageKind = 'customer' | 'staff' | 'note';

/** Somebody with an account, or without one, by the address that they wrote from. */
export type Author = { userId: number } | { userId: null; name: string; email: string };

/** Files beside a message, which were kept before; of a mail also those that are not what they say. */
export interface Files {
  attaching?: readonly Attaching[];
  lies?: 'refused' | 'kept';
}

export interface Written extends Files {
  kind: MessageKind;
  author: Author;
  text: string;
  /** What a mail repeats of what was written before, apart from the text. */
  quoted?: string | null;
}

/** Puts what somebody wrote into a ticket, files beside it, and lets the ticket be found by it. `attachment_refused`. */
export async function writeMessage(
  tx: TxContext,
  ticket: Pick<TicketRow, 'id' | 'organization_id'>,
  { kind, author, text, quoted = null, attaching = [], lies = 'refused' }: Written,
): Promise<{ id: number; attached: Attached[] }> {
  const id = newId();
  await tx.db.run(insertMessage, {
    id,
    organizationId: ticket.organization_id,
    ticketId: ticket.id,
    kind,
    userId: author.userId,
    name: author.userId === null ? author.name : null,
    email: author.userId === null ? author.email : null,
    message: text,
    quoted,
    now: tx.clock.now(),
  });
  await findBy(tx, ticket, text, kind === 'note' ? 'staff' : 'everybody');
  const message = { organizationId: ticket.organization_id, messageId: id };
  return { id, attached: await attachTo(tx, message, attaching, lies) };
}

/**
 * Moves a locked ticket to a state, with its clocks. `writtenAt` is when somebody wrote, if that is why. `before` is the
 * department by whose hours the time until now counts.
 */
export async function setTicketState(
  tx: TxContext,
  ticket: TicketRow,
  department: Department,
  change: { writtenAt?: Date; before?: Department } = {},
): Promise<Due> {
  const now = tx.clock.now();
  const due = clocksOf(ticket, now, department, change.before);
  await tx.db.run(setState, {
    id: ticket.id,
    status: ticket.status,
    closedAt: ticket.status === 'closed' ? now : null,
    lastReplyAt: change.writtenAt ?? null,
    firstAnswerAt: ticket.first_answer_at,
    usedMs: due.used_ms,
    clockSince: due.clock_since,
    firstAnswerDueAt: due.first_answer_due_at,
    solutionDueAt: due.solution_due_at,
    dueAt: due.due_at,
  });
  return due;
}
