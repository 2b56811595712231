-- Of an invoice that a bank took money of: the services whose lines were undone, and what else paid for them and became credit.
alter table invoices
  add column undone_services bigint[] not null default '{}',
  add column undone_credited_minor bigint not null default 0;
-- It is kept beside the document, not on it: what is undone later is added to what was issued.
create or replace function refuse_change_of_issued() returns trigger language plpgsql as $$
declare
  passing constant text[] := array['status', 'paid_minor', 'paid_with_credit_minor', 'credited_minor', 'refunded_minor',
    'date_paid', 'date_refunded', 'expires_at', 'tax_proof', 'tax_awaits', 'tax_corrected_minor', 'undone_services',
    'undone_credited_minor'];
begin
  if tg_op = 'DELETE' or to_jsonb(new) - passing <> to_jsonb(old) - passing then
    raise exception 'invoice % has the number % and stays as it is; a credit note corrects it', old.id, old.number;
  end if;
  return new;
end $$;
