-- Money that goes back by a payment provider, that a bank takes back, and what we missed while we were away.

alter table charges
  -- What of it became credit, because the invoice did not need it, and what has gone back since.
  add column credited_minor bigint not null default 0,
  add column returned_minor bigint not null default 0,
  add constraint charges_returned check (credited_minor >= 0 and returned_minor between 0 and amount_minor);

update charges c set credited_minor = c.amount_minor - coalesce((select sum(p.amount_minor) from payments p
  join invoices i on i.id = p.invoice_id where p.charge_id = c.id and i.credited_minor = 0), 0)
where c.state = 'paid';

alter table refunds
  add column charge_id bigint references charges,
  -- The provider's name for it; null until it has one.
  add column reference text,
  -- `pending`: the provider is asked. `failed`: the bank did not take it, and it became credit.
  add column state text not null default 'done' check (state in ('pending', 'done', 'failed')),
  add constraint refunds_reference unique (reference),
  -- The methods that there are stand in the code.
  drop constraint refunds_method_check,
  add constraint refunds_method_check check (method <> '');

-- Money of a charge that is gone and that nobody here decided: given back at the provider's desk, or kept by a bank. Once each.
create table charge_returns (
  driver text not null,
  reference text not null,
  charge_id bigint not null references charges,
  organization_id bigint not null references organizations,
  amount_minor bigint not null,
  created_at timestamptz not null,
  primary key (driver, reference)
);

-- A customer tells the bank that a payment was none of theirs.
create table disputes (
  id bigint primary key,
  organization_id bigint not null references organizations,
  invoice_id bigint not null references invoices,
  charge_id bigint not null references charges,
  driver text not null,
  reference text not null,
  -- `asked`: the bank only asks. `open`: it has taken the money until it is decided.
  state text not null check (state in ('asked', 'open', 'won', 'lost')),
  amount_minor bigint not null check (amount_minor >= 0),
  currency text not null,
  reason text not null,
  answer_by timestamptz,
  -- What the provider kept for it, as it is in the ledger.
  fee_minor bigint not null default 0,
  opened_at timestamptz not null,
  closed_at timestamptz,
  constraint disputes_reference unique (driver, reference)
);
create index disputes_open on disputes (opened_at desc, id desc) where state in ('asked', 'open');
create index disputes_charge on disputes (charge_id);

-- How far what a provider did is compared with what we know, once a night.
create table provider_comparisons (
  driver text primary key,
  begun_at timestamptz not null,
  -- By the provider's clock; null until the first comparison ended.
  compared_until timestamptz
);
