-- Money that was taken out of what an organization had given up goes back there when it comes again: so it has to stand with the
-- return, and with the refund of bought credit, how much of it that was.
alter table charge_returns add column given_up_minor bigint not null default 0 check (given_up_minor >= 0);
alter table refunds add column given_up_minor bigint not null default 0 check (given_up_minor >= 0);

-- Of those that are there already the ledger says it, of the same invoice at the same moment.
create temporary table taken on commit drop as
select t.id, t.invoice_id, t.kind, t.created_at, e.amount_minor as minor,
  (select -sum(n.amount_minor) from ledger_entries n where n.transaction_id = t.id and n.amount_minor < 0) as gone_minor
from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
join ledger_accounts a on a.id = e.account_id and a.kind = 'given_up'
where e.amount_minor > 0 and t.invoice_id is not null;

update refunds r set given_up_minor = t.minor from taken t
where t.kind = 'invoice_refunded' and r.id = (
  select n.id from refunds n where n.invoice_id = t.invoice_id and n.amount_minor = t.gone_minor
  order by abs(extract(epoch from n.created_at - t.created_at)), n.id limit 1);
update charge_returns r set given_up_minor = t.minor from taken t
where t.kind = 'charge_taken_back' and (r.driver, r.reference) = (
  select n.driver, n.reference from charge_returns n join charges c on c.id = n.charge_id
  where c.invoice_id = t.invoice_id and n.amount_minor >= t.gone_minor
  order by abs(extract(epoch from n.created_at - t.created_at)), n.reference limit 1);
