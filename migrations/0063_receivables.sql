-- What was invoiced before it is paid is owed by the books, and every balance that rows stand for is computed anew.

alter table invoices
  -- It counts since it was issued, and its customer owes it; otherwise it counts when it is paid.
  add column booked_at_issue boolean not null default false;
-- What is open by the books, for the check of each customer.
create index invoices_receivable on invoices (organization_id, currency) where booked_at_issue and status = 'unpaid';

alter table ledger_checks
  drop constraint ledger_checks_stage_check,
  add constraint ledger_checks_stage_check
    check (stage in ('transactions', 'credit', 'receivable', 'totals', 'done'));

-- A provider keeps its fee for a dispute in the currency that it pays out in, which may be another than that of the payment.
alter table disputes add column fee_currency text;
update disputes set fee_currency = currency where fee_minor <> 0;
