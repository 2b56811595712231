import { type Concern, type ConcernSource, statement } from '../../platform/index.ts';

/** Money that came in and nobody knows for what. */
export const statementConcerns: ConcernSource[] = [
  {
    kind: 'payment.unclear',
    subject: 'bank_entry',
    title: 'Money at the bank that staff has to match',
    find: statement<Concern, { limit: number }>(
      'billing.unclearEntries',
      `select e.id, (e.proposals->0->>'organization_id')::bigint as organization_id, s.created_at as since,
         'Entry ' || e.id || ' of bank statement ' || s.id || ' waits: ' || coalesce(e.outcome, '') as message
       from bank_entries e join bank_statements s on s.id = e.statement_id
       where e.state in ('proposed', 'open') order by e.booked_on desc, e.id desc limit :limit`,
    ),
  },
];
