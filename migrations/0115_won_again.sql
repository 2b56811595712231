-- A bank may give back what it took of an invoice, when the payment provider corrects itself. What was had counts as paid again,
-- and what was undone becomes credit: so it has to stand in the books which is which.
alter table charge_returns
  alter column loss_minor drop default,
  alter column loss_minor drop not null,
  -- Whether it was written down what was undone with it.
  add column is_told boolean not null default false;

-- What was our loss of one that is older than its column stands in the ledger, by invoice. Where an invoice had several, nobody can
-- say which of them it was.
with booked as (
  select t.invoice_id, sum(e.amount_minor) as minor
  from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
  join ledger_accounts a on a.id = e.account_id and a.kind in ('losses', 'goodwill')
  where t.kind in ('charge_taken_back', 'dispute_won') group by t.invoice_id),
returned as (
  select c.invoice_id, count(*) as returns, sum(r.loss_minor) as minor
  from charge_returns r join charges c on c.id = r.charge_id group by c.invoice_id)
update charge_returns r set loss_minor = case when returned.returns = 1 then booked.minor end
from charges c, returned join booked using (invoice_id)
where c.id = r.charge_id and returned.invoice_id = c.invoice_id and booked.minor <> returned.minor;

-- What came back and nobody can say whose it is: staff decides.
alter table disputes add column unclear_minor bigint not null default 0 check (unclear_minor >= 0);
create index disputes_unclear on disputes (closed_at desc, id desc) where unclear_minor > 0;

-- A refund that a bank gave back is a row of its own, negative, and so is the document about it: it adds to an invoice what a
-- credit note had taken off.
-- Its name is free again: what is lost once more is another refund.
update refunds set reference = null where method = 'dispute' and state = 'failed';
alter table refunds
  drop constraint refunds_amount_minor_check,
  drop constraint refunds_check,
  add constraint refunds_amounts check (
    amount_minor >= 0 and tax_minor between 0 and amount_minor or amount_minor < 0 and tax_minor between amount_minor and 0);
alter table invoices
  drop constraint invoices_sign,
  add constraint invoices_sign check (case when kind = 'credit_note' then total_minor <> 0 else total_minor >= 0 end);
