-- Tax: rates with the day from which they count, what is known of an organization for its tax, and how the tax of an
-- invoice came about.

-- The rate of a day is that of the newest row from before or on it; null: from then on there is none.
alter table tax_rates drop constraint tax_rates_pkey;
alter table tax_rates
  add column id bigint generated always as identity primary key,
  add column valid_from date not null default '2000-01-01',
  alter column rate_basis_points drop not null,
  add constraint tax_rates_once unique (country, valid_from);

create table tax_standings (
  organization_id bigint primary key references organizations,
  -- Why it pays no tax, as its invoices say it; null: it pays.
  exempt_reason text,
  -- The tax id that the rest is about; that of the profile, or one from before.
  tax_id text,
  state text check (state in ('valid', 'invalid', 'unknown')),
  -- When the register or staff said so, and who.
  checked_at timestamptz,
  checked_by text check (checked_by in ('register', 'staff')),
  consultation_number text,
  registered_name text,
  registered_address text,
  -- Since when nobody could tell, how often it was tried, and why it failed last.
  unknown_since timestamptz,
  tries integer not null default 0,
  failure text,
  -- When the register is asked next; null: never.
  ask_at timestamptz,
  updated_at timestamptz not null,
  check ((tax_id is null) = (state is null))
);
create index tax_standings_asking on tax_standings (ask_at) where ask_at is not null;
create index tax_standings_unknown on tax_standings (unknown_since desc, organization_id desc) where state = 'unknown';

insert into tax_standings (organization_id, tax_id, state, unknown_since, ask_at, updated_at)
select organization_id, tax_id, 'unknown', updated_at, updated_at, updated_at from billing_profiles
where tax_id is not null;

alter table invoices
  add column tax_treatment text not null default 'taxed'
    check (tax_treatment in ('taxed', 'reverse_charge', 'exempt', 'outside')),
  -- Whether the amounts of its lines have the tax inside.
  add column tax_included boolean not null default false,
  add column tax_reason text,
  -- Who bought: taxed as a consumer or not, and what was known of the tax id at the time.
  add column tax_consumer boolean not null default false,
  add column tax_proof jsonb,
  -- Whether the tax hangs on an answer about the tax id that is still to come.
  add column tax_awaits boolean not null default false,
  -- Tax that was given back because the answer came; what else is refunded has none in it any more.
  add column tax_corrected_minor bigint not null default 0 check (tax_corrected_minor >= 0);
-- What was issued before says the same in a word of its own.
alter table invoices disable trigger invoices_stay;
update invoices set tax_treatment = 'outside' where tax_exempt;
alter table invoices enable trigger invoices_stay;

-- The proof is kept beside the document, not on it: an answer that comes later is added to what was issued.
create or replace function refuse_change_of_issued() returns trigger language plpgsql as $$
declare
  passing constant text[] := array['status', 'paid_minor', 'paid_with_credit_minor', 'credited_minor', 'refunded_minor',
    'date_paid', 'date_refunded', 'expires_at', 'tax_proof', 'tax_awaits', 'tax_corrected_minor'];
begin
  if tg_op = 'DELETE' or to_jsonb(new) - passing <> to_jsonb(old) - passing then
    raise exception 'invoice % has the number % and stays as it is; a credit note corrects it', old.id, old.number;
  end if;
  return new;
end $$;
create index invoices_tax_awaits on invoices (organization_id) where tax_awaits;
create index invoices_paid_on on invoices (date_paid) where date_paid is not null;

do $$
declare
  sums text := (select conname from pg_constraint where conrelid = 'invoices'::regclass and contype = 'c'
    and pg_get_constraintdef(oid) like '%subtotal_minor%discount_minor%tax_minor%');
begin
  execute format('alter table invoices drop constraint %I', sums);
end $$;
alter table invoices add constraint invoices_sums
  check (total_minor = subtotal_minor - discount_minor + case when tax_included then 0 else tax_minor end);

-- Where a consumer is, as far as it shows: two pieces that agree prove whose tax it is.
create table tax_evidence (
  invoice_id bigint not null references invoices,
  organization_id bigint not null,
  kind text not null check (kind in ('address', 'declaration', 'ip', 'bank', 'card')),
  country text not null check (country ~ '^[A-Z]{2}$'),
  noted_at timestamptz not null,
  primary key (invoice_id, kind)
);

-- Reports of a quarter: both are written in the order of time.
create index refunds_days on refunds using brin (created_at);
create index ledger_transactions_days on ledger_transactions using brin (created_at);
