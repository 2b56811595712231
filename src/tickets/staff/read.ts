import { type Context, requireRow, statement } from '../../platform/index.ts';
import { never } from '../clocks.ts';
import { readMessages, type ShownRow, shownColumns, viewOf, viewReply, withOpener } from '../read.ts';
import { byTid, plainTid } from '../rows.ts';
import { besideOf } from './beside.ts';
import { writersOf } from './writing.ts';

export interface StaffRow extends ShownRow {
  organization_name: string;
  assigned_to: number | null;
  assigned_name: string | null;
  first_answer_at: Date | null;
  first_answer_due_at: Date | null;
  solution_due_at: Date | null;
  due_at: Date;
}

export const selectForStaff = `
  select ${shownColumns}, o.name as organization_name, t.assigned_to, t.first_answer_at, t.first_answer_due_at,
    t.solution_due_at, t.due_at, a.first_name || ' ' || a.last_name as assigned_name
  from tickets t ${withOpener} join organizations o on o.id = t.organization_id left join users a on a.id = t.assigned_to`;

const forStaff = statement<StaffRow & { merged_tids: string[]; helped: boolean | null }, { tid: string }>(
  'tickets.forStaff',
  `select s.*, array(select p.tid from tickets p where p.merged_into = s.id order by p.created_at, p.id) as merged_tids,
     (select f.helped from ticket_feedback f where f.ticket_id = s.id) as helped
   from (${selectForStaff} where ${byTid}) s`,
);

interface Reading {
  /** Id of a message: those before it. */
  before?: number | undefined;
}

/** A ticket with all that was written, notes included, and with what is to be known of its customer. `not_found`. */
export async function readTicketAsStaff(ctx: Context, tid: string, { before }: Reading = {}) {
  const row = await requireRow(ctx, forStaff, { tid: plainTid(tid) });
  const { messages, earlier } = await readMessages(ctx, row.id, before ?? null, true);
  const ticket = {
    ...viewForStaff(row, ctx.clock.now()),
    first_answer_at: row.first_answer_at,
    messages: messages.map((message) => ({
      ...viewReply(message),
      kind: message.kind,
      from_tid: message.from_tid,
    })),
    earlier_messages: earlier,
    merged_tids: row.merged_tids,
    helped: row.helped,
    writing: await writersOf(ctx, row.id),
    customer: await besideOf(ctx, row),
  };
  return { ticket };
}

export function viewForStaff(row: StaffRow, now: Date) {
  const isDue = row.due_at.getTime() < never.getTime();
  return {
    ...viewOf(row),
    organization: { id: row.organization_id, name: row.organization_name },
    assigned:
      row.assigned_to === null ? null : { id: row.assigned_to, name: (row.assigned_name ?? '').trim() },
    first_answer_due_at: row.first_answer_due_at,
    solution_due_at: row.solution_due_at,
    due_at: isDue ? row.due_at : null,
    overdue: isDue && row.due_at.getTime() < now.getTime(),
  };
}
