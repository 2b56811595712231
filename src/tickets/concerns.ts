import { type Concern, type ConcernSource, statement } from '../platform/index.ts';

/** Tickets that should have been answered or solved by now. */
export const ticketConcerns: ConcernSource[] = [
  {
    kind: 'ticket.overdue',
    subject: 'ticket',
    title: 'Tickets that are overdue',
    find: statement<Concern, { limit: number; now: Date }>(
      'tickets.overdue',
      `select id, organization_id, due_at as since,
         tid || ' (' || department || ', ' || priority || '): '
           || case when due_at = first_answer_due_at then 'the first answer' else 'the solution' end
           || ' was due at ' || to_char(due_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC' as message
       from tickets where status <> 'closed' and due_at < :now order by due_at desc, id desc limit :limit`,
    ),
  },
];
