-- Numbers are texts of series, and what was issued stays as it was on that day.

-- A series is what its numbers begin with, and the last one given out; locked for the moment in which an invoice gets its
-- number, so that no number is left out and none is given twice.
create table invoice_series (
  prefix text collate "C" primary key,
  last bigint not null check (last > 0)
);
-- Numbers that were given stay as they are.
insert into invoice_series (prefix, last) select '', last from invoice_numbers where last > 0;
drop table invoice_numbers;

drop index invoices_number_text;
alter table invoices
  drop constraint invoices_check1,
  drop constraint invoices_paid_in_full,
  drop constraint invoices_kind_check,
  drop constraint invoices_total_minor_check,
  drop constraint invoices_paid,
  drop constraint invoices_refunded,
  add column series text collate "C" references invoice_series,
  add column sequence bigint;
update invoices set series = '', sequence = number where number is not null;
alter table invoices
  alter column number type text collate "C" using number::text,
  -- When it got its number: the day of the document.
  add column issued_at timestamptz,
  -- Company and customer as they were when it was written; null in what is older than this.
  add column seller jsonb,
  add column buyer jsonb,
  -- Of a credit note: the invoice that it takes back, wholly or in part.
  add column corrects bigint references invoices,
  add column reason text;
update invoices set issued_at = date_paid where number is not null;
alter table invoices
  add constraint invoices_kind_check
    check (kind in ('order', 'renewal', 'upgrade', 'top_up', 'manual', 'credit_note')),
  -- What a credit note takes back is negative, so that a list of documents adds up.
  add constraint invoices_sign check (case when kind = 'credit_note' then total_minor < 0 else total_minor >= 0 end),
  add constraint invoices_correction check ((kind = 'credit_note') = (corrects is not null)),
  add constraint invoices_paid check (kind = 'credit_note' and paid_minor = 0 or paid_minor between 0 and total_minor),
  add constraint invoices_refunded
    check (kind = 'credit_note' and refunded_minor = 0 or refunded_minor between 0 and total_minor),
  add constraint invoices_series unique (series, sequence),
  add constraint invoices_numbered
    check (num_nulls(number, series, sequence, issued_at) in (0, 4)),
  -- Only what is paid in full is delivered, and has a number.
  add constraint invoices_paid_in_full check (
    status not in ('paid', 'refunded', 'partially_refunded')
    or number is not null and (kind = 'credit_note' or paid_minor = total_minor));
create index invoices_number_text on invoices ((number::text collate "C"), id);
create index invoices_issued on invoices (issued_at, id) where issued_at is not null;
create index invoices_issued_by_one on invoices (organization_id, issued_at, id) where issued_at is not null;
create index invoices_corrections on invoices (corrects) where corrects is not null;

-- What has a number stands in somebody's books: of its columns only these change, and a new one does not.
create function refuse_change_of_issued() returns trigger language plpgsql as $$
declare
  passing constant text[] := array['status', 'paid_minor', 'paid_with_credit_minor', 'credited_minor', 'refunded_minor',
    'date_paid', 'date_refunded', 'expires_at'];
begin
  if tg_op = 'DELETE' or to_jsonb(new) - passing <> to_jsonb(old) - passing then
    raise exception 'invoice % has the number % and stays as it is; a credit note corrects it', old.id, old.number;
  end if;
  return new;
end $$;
create trigger invoices_stay before update or delete on invoices
  for each row when (old.number is not null) execute function refuse_change_of_issued();

create function refuse_change_of_issued_items() returns trigger language plpgsql as $$
begin
  if exists (select 1 from invoices where number is not null
             and (tg_op <> 'INSERT' and id = old.invoice_id or tg_op <> 'DELETE' and id = new.invoice_id)) then
    raise exception 'the lines of an invoice that has a number stay as they are';
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end $$;
create trigger invoice_items_stay before insert or update or delete on invoice_items
  for each row execute function refuse_change_of_issued_items();
