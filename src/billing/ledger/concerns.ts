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
      // What was left on the day of closing was given up, in the books as well: whatever lies there came later.
      `select o.id, o.id as organization_id, max(late.since) as since,
         'money in ' || string_agg(late.currency, ' and ' order by late.currency) || ' came after organization ' || o.id ||
         ' was closed and lies there as credit, which nobody can use (' ||
         string_agg(late.said, '; ' order by late.currency) || '): send a transfer back from our bank and take it back here ' ||
         '(/staff/transfers/{id}/take-back), and a payment by card at the payment provider, which is booked by itself; what was ' ||
         'disputed once is paid out (/staff/organizations/{id}/credit-returns)' as message
       from organizations o
       join ledger_accounts a on a.organization_id = o.id and a.kind = 'credit'
       cross join lateral (
         select n.balance_minor from ledger_entries n where n.account_id = a.id order by n.sequence desc limit 1) held
       cross join lateral (
         -- Money that was on its way while the account was closed may say that it came before.
         select a.currency, coalesce(min(came.created_at), o.status_since) as since,
           coalesce((array_agg(came.description order by came.sequence desc))[1], 'credit') as said
         from (
           select t.created_at, t.description, e.sequence
           from ledger_entries e join ledger_transactions t on t.id = e.transaction_id
           where e.account_id = a.id and e.amount_minor < 0 and t.created_at > o.status_since) came) late
       where o.status = 'closed' and held.balance_minor > 0
       group by o.id order by max(late.since) desc, o.id desc limit :limit`,
    ),
  },
];
