-- Credit that is paid out by bank transfer: taken from the credit at once, and sent by staff.
create table credit_returns (
  id bigint primary key,
  organization_id bigint not null references organizations,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  reason text not null,
  -- `open`: staff has yet to make the transfer. `cancelled`: the credit is there again.
  state text not null check (state in ('open', 'done', 'cancelled')),
  -- The day on which it left the bank.
  paid_on date,
  user_id bigint,
  created_at timestamptz not null,
  decided_by bigint,
  decided_at timestamptz,
  constraint credit_returns_decided check ((state = 'open') = (decided_at is null) and (state = 'done') = (paid_on is not null))
);
create index credit_returns_created on credit_returns (created_at, id);
create index credit_returns_organization on credit_returns (organization_id, created_at, id);
create index credit_returns_open on credit_returns (created_at desc, id desc) where state = 'open';
