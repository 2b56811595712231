-- A bank transfer is one amount of an organization: it pays invoices, several or a part of one, and what is left
-- is credit.

create table transfers (
  id bigint primary key,
  organization_id bigint not null references organizations,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  -- What the bank statement says; the same transfer is booked once.
  reference text not null,
  received_on date not null,
  user_id bigint,
  created_at timestamptz not null,
  constraint transfers_reference unique (reference)
);
create index transfers_organization on transfers (organization_id, created_at desc);

alter table payments
  add column transfer_id bigint references transfers,
  drop constraint payments_reference,
  add constraint payments_once unique (transfer_id, invoice_id);

insert into transfers (id, organization_id, amount_minor, currency, reference, received_on, created_at)
select id, organization_id, amount_minor, currency, reference, coalesce(received_on, created_at::date), created_at
from payments where method = 'bank_transfer';
update payments set transfer_id = id where method = 'bank_transfer';

-- What came in for an invoice counts towards it, or has become credit: because the invoice was cancelled, or because it
-- was given back before the rest came. Both together are its payments.
alter table invoices
  add column paid_minor bigint not null default 0,
  add column credited_minor bigint not null default 0 check (credited_minor >= 0);
update invoices set paid_minor = total_minor where number is not null and total_minor > 0;
update invoices i set credited_minor = p.minor
from (select invoice_id, sum(amount_minor) as minor from payments group by invoice_id) p
where p.invoice_id = i.id and i.status = 'cancelled';
alter table invoices
  add constraint invoices_paid check (paid_minor between 0 and total_minor),
  -- Only what is paid in full has a number, and so is delivered; what is cancelled keeps no money.
  add constraint invoices_paid_in_full check (number is null or paid_minor = total_minor),
  add constraint invoices_keep_nothing check (status <> 'cancelled' or paid_minor = 0);

-- Parts of invoices that are not paid in full yet are the customers' money still.
alter table ledger_accounts drop constraint ledger_accounts_kind_check;
alter table ledger_accounts add constraint ledger_accounts_kind_check
  check (kind in ('credit', 'bank', 'revenue', 'tax', 'goodwill', 'parts'));
