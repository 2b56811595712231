import { type Concern, type ConcernSource, statement } from '../../platform/index.ts';

/** What a payment provider brings that a person has to answer. */
export const chargeConcerns: ConcernSource[] = [
  {
    kind: 'restore.held',
    subject: 'restore',
    title: 'Held since the database was restored, until you release it',
    find: statement<Concern, { limit: number }>(
      'billing.heldRestores',
      `select r.id, null::bigint as organization_id, r.restored_at as since,
         'the database is as it was on ' || to_char(r.made_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') ||
         ' UTC and does not know what was paid or changed since: until you release it, nothing is suspended, ended or charged by ' ||
         'itself, no late fee is asked for, no order expires, no service becomes a smaller product, and nobody is told of new prices or sent an invoice at them by itself; see to unknown payments, send the bank statements since then again, ' ||
         'and then release it. Keys that were revoked since are good again, and who was taken out of staff is in it again: look through ' ||
         'the accounts and keys of your staff first; ' || case when exists (select 1 from journal j
           where j.organization_id is null and j.action = 'account.put_back'
             and case when r.journal_from is null then j.created_at >= r.restored_at else j.id >= r.journal_from end)
           then 'customers with API keys were told' else 'nobody with API keys was told' end ||
         coalesce((select string_agg('; ' || driver || case when ended_restore >= r.id then ' was compared'
           else ' is still being compared' end, '' order by driver) from provider_comparisons), '') as message
       from restores r where r.released_at is null order by r.id desc limit least(1, :limit::int)`,
    ),
  },
  {
    kind: 'dispute.open',
    subject: 'dispute',
    title: 'Disputed payments that wait for an answer or a decision',
    find: statement<Concern, { limit: number }>(
      'billing.openDisputes',
      `select id, organization_id, opened_at as since,
         'the payment ' || reference || ' of invoice ' || invoice_id || ' is disputed (' || reason || ')' ||
         coalesce('; answer at the payment provider by ' || to_char(answer_by at time zone 'UTC', 'YYYY-MM-DD'), '') as message
       from disputes where state in ('asked', 'open') order by opened_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'dispute.unclear',
    subject: 'dispute',
    title: 'Disputes that were won after they were lost, whose money nobody can be said to own',
    find: statement<Concern, { limit: number }>(
      'billing.unclearDisputes',
      `select id, organization_id, closed_at as since,
         'the dispute ' || reference || ' of invoice ' || invoice_id ||
         ' was won after it was lost, and the books do not say what of it its customer has had; decide how much of the money is theirs' as message
       from disputes where unclear_minor > 0 order by closed_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'dispute.again',
    subject: 'organization',
    title: 'Customers who had their bank take money back again and again',
    // Until they are blocked, or a year has passed: a lost dispute by itself may be a mistake.
    find: statement<Concern, { limit: number; now: Date }>(
      'billing.disputedAgain',
      `select d.organization_id as id, d.organization_id, max(d.closed_at) as since,
         count(*) || ' payments of a year were taken back by their bank; what is paid so again may be taken back for weeks: '
           || 'ask for transfers, or block the organization' as message
       from disputes d join organizations o on o.id = d.organization_id and o.status = 'active'
       where d.state = 'lost' and d.closed_at > :now::timestamptz - interval '1 year'
         and exists (select from services s where s.organization_id = d.organization_id
           and s.status in ('pending', 'active', 'suspended'))
       group by d.organization_id having count(*) > 1 order by since desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'credit_return.open',
    subject: 'credit_return',
    title: 'Credit that is to be paid out by bank transfer',
    find: statement<Concern, { limit: number }>(
      'billing.openCreditReturns',
      `select id, organization_id, created_at as since,
         'credit of organization ' || organization_id || ' is to be paid out: make the transfer, and say that it has left the bank' as message
       from credit_returns where state = 'open' order by created_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'debit.returned',
    subject: 'invoice',
    title: 'Unpaid invoices whose debits came back again',
    find: statement<Concern, { limit: number }>(
      'billing.debitsReturned',
      // Also of invoices that this one came instead of, as for another cycle.
      `select i.id, i.organization_id, max(c.finished_at) as since,
         count(distinct c.id) || ' debits for invoice ' || i.id || ' or for one that it came instead of have come back, and it is not paid: nothing is spared for the next one' as message
       from charges c join invoices b on b.id = c.invoice_id and b.status in ('unpaid', 'cancelled')
       join invoices i on i.organization_id = b.organization_id and i.status = 'unpaid' and (i.id = b.id
         or i.kind = 'renewal' and b.kind = 'renewal' and b.status = 'cancelled' and b.created_at <= i.created_at
           and b.created_at > i.created_at - interval '90 days' and exists (select 1 from invoice_items m
             join invoice_items n on n.service_id = m.service_id where m.invoice_id = i.id and n.invoice_id = b.id))
       where c.state = 'failed' and c.pending_at is not null
       group by i.id having count(distinct c.id) > 1 order by since desc, i.id desc limit :limit`,
    ),
  },
  {
    kind: 'payment.unknown',
    subject: 'unknown_payment',
    title: 'Payments that the payment provider has and the database does not know',
    find: statement<Concern, { limit: number }>(
      'billing.openUnknownPayments',
      `select id, organization_id, seen_at as since,
         'payment ' || reference || ' at ' || driver || coalesce(' for invoice ' || told_invoice_id, '') ||
         ' stands in no row: book it for an invoice, or give it back at the provider and dismiss it' as message
       from unknown_payments where state = 'open' order by seen_at desc, id desc limit :limit`,
    ),
  },
  {
    kind: 'payout.failed',
    subject: 'payout',
    title: 'Payouts that our bank did not take',
    find: statement<Concern, { limit: number }>(
      'billing.failedPayouts',
      // The money is at the provider again; one that arrives later says that the bank is in order.
      `select p.id, null::bigint as organization_id, p.seen_at as since,
         'payout ' || p.reference || ' of ' || p.driver || ' did not arrive' || coalesce(': ' || p.failure, '') as message
       from payouts p
       where p.state = 'failed' and not exists (select 1 from payouts l where l.driver = p.driver
         and l.currency = p.currency and l.state = 'paid' and l.arrives_on > p.arrives_on)
       order by p.arrives_on desc, p.id desc limit :limit`,
    ),
  },
];
