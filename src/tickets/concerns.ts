import { type Concern, type ConcernSource, statement } from '../platform/index.ts';

/** An outage of minutes needs nobody: what waits at the other side comes when it ends. */
const patienceMs = 5 * 60_000;

/** Tickets that should have been answered or solved by now, mails that are no ticket's, and that none come. */
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
  {
    kind: 'ticket_mail.unclaimed',
    subject: 'ticket_mail',
    title: 'Mails that are no ticket’s',
    find: statement<Concern, { limit: number; now: Date }>(
      'tickets.mailsToSeeTo',
      `select id, null::bigint as organization_id, received_at as since,
         coalesce(from_address, 'nobody') || ': ' || coalesce(nullif(subject, ''), 'no subject') || ' (' || reason || ')' as message
       from ticket_mails where state = 'unclaimed' and received_at <= :now order by received_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'ticket_mail.none_come',
    subject: 'ticket_mail_source',
    title: 'No mails come in',
    find: statement<Concern, { limit: number; now: Date }>(
      'tickets.noMailsCome',
      `select 1::bigint as id, null::bigint as organization_id, failing_since as since, problem as message
       from ticket_mail_source where failing_since < :now::timestamptz - interval '${patienceMs} milliseconds'
       order by failing_since desc limit :limit`,
    ),
  },
  {
    kind: 'ticket.attachments_lost',
    subject: 'attachment',
    title: 'Files of tickets cannot be kept',
    // As long as none was kept since the last that was not. One entry for all of them: the first.
    find: statement<Concern, { limit: number }>(
      'tickets.attachmentsFailed',
      `select f.id, f.organization_id, f.failed_at as since,
         'customers and staff can send no files with tickets: ' || f.failure as message
       from (select * from ticket_attachments where failed_at is not null order by failed_at, id limit 1) f
       where not exists (select 1 from ticket_attachments k
         where k.kept_at > (select max(failed_at) from ticket_attachments where failed_at is not null))
       limit :limit`,
    ),
  },
];
