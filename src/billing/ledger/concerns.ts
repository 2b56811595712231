import { type Concern, type ConcernSource, statement } from '../../platform/index.ts';

/** Books that are wrong, and money in them that nobody can use. */
export const ledgerConcerns: ConcernSource[] = [
  {
    kind: 'ledger.difference',
    subject: 'ledger_difference',
    title: 'Balances that are not what their entries add up to',
    find: statement<Concern, { limit: number }>(
      'billing.ledgerDifferences',
      'select id, organization_id, since, message from ledger_differences order by since desc, id desc limit :limit',
    ),
  },
  {
    kind: 'credit.ofClosed',
    subject: 'organization',
    title: 'Money that came after an organization was closed, to give back',
    find: statement<Concern, { limit: number }>(
      'billing.creditOfClosed',
      // What was left on the day of closing was given up. The books go on by sequence, so the newest transaction says
      // whether there can be any.
      `select o.id, o.id as organization_id, max(late.since) as since,
         'money in ' || string_agg(late.currency, ' and ' order by late.currency) || ' came after organization ' || o.id ||
         ' was closed and lies there as credit, which nobody can use (' ||
         string_agg(late.said, '; ' order by late.currency) || '): send a transfer back from our bank and take it back here ' ||
         '(/staff/transfers/{id}/take-back), and a payment by card at the payment provider, which is booked by itself' as message
       from organizations o
       cross join lateral (
         select a.currency, min(t.created_at) as since, (array_agg(t.description order by t.id desc))[1] as said
         from ledger_accounts a
         join ledger_entries e on e.account_id = a.id
         join ledger_transactions t on t.id = e.transaction_id
         where a.organization_id = o.id and a.kind = 'credit' and t.created_at > o.status_since
         group by a.currency
         having sum(-e.amount_minor) > 0) late
       where o.status = 'closed' and o.status_since <
         (select t.created_at from ledger_transactions t where t.organization_id = o.id order by t.id desc limit 1)
       group by o.id order by max(late.since) desc, o.id desc limit :limit`,
    ),
  },
];
