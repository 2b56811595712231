import {
  type Context,
  fail,
  type OrganizationContext,
  requireOwn,
  requireRow,
  statement,
  type TxContext,
} from '../platform/index.ts';
import type { Timed } from './clocks.ts';

/** A ticket for whoever changes it. */
export interface TicketRow extends Timed {
  id: number;
  organization_id: number;
  tid: string;
  user_id: number | null;
  service_id: number | null;
  subject: string;
  department: string;
  assigned_to: number | null;
  merged_into: number | null;
}

const columns = `t.id, t.organization_id, t.tid, t.user_id, t.service_id, t.subject, t.department, t.priority, t.status,
  t.assigned_to, t.created_at, t.first_answer_at, t.used_ms, t.clock_since, t.merged_into`;

// A ticket that became a part of another one answers as that.
const whole = `coalesce((select w.merged_into from tickets w where w.tid = :tid),
  (select w.id from tickets w where w.tid = :tid))`;

const lockByTid = statement<TicketRow, { tid: string }>(
  'tickets.lockByTid',
  `select ${columns} from tickets t where t.id = ${whole} for update`,
);

/** Where a ticket is found by the code that somebody sent. */
export const byTid = `t.id = ${whole}`;

/** Codes are read aloud and typed in. */
export function plainTid(tid: string): string {
  return tid.trim().toLowerCase();
}

/** The ticket of a code, or the one it became a part of; nobody changes it until the transaction ends. `not_found`. */
export async function lockTicket(tx: TxContext, tid: string): Promise<TicketRow> {
  return checkWhole(await requireRow(tx, lockByTid, { tid: plainTid(tid) }));
}

/** The same, or null when nothing has this code. */
export async function findTicket(tx: TxContext, tid: string): Promise<TicketRow | null> {
  const found = await tx.db.maybe(lockByTid, { tid: plainTid(tid) });
  return found === null ? null : checkWhole(found);
}

/** The same of the caller's organization: `not_found`, or `forbidden` when it is another's. */
export async function lockOwnTicket(tx: OrganizationContext & TxContext, tid: string): Promise<TicketRow> {
  return checkWhole(await requireOwn(tx, lockByTid, { tid: plainTid(tid) }));
}

/** It was merged between finding and locking it. */
function checkWhole(ticket: TicketRow): TicketRow {
  if (ticket.merged_into !== null) throw fail('busy');
  return ticket;
}

const serviceById = statement<{ id: number; organization_id: number }, { id: number }>(
  'tickets.serviceById',
  'select id, organization_id from services where id = :id',
);

/** A ticket names a service of its own organization. `not_found`, `forbidden`. */
export async function requireService(ctx: Context, organizationId: number, id: number | null): Promise<void> {
  if (id === null) return;
  const service = await requireRow(ctx, serviceById, { id });
  if (service.organization_id !== organizationId) throw fail('forbidden');
}
