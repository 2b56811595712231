-- What is older than the company keeps leaves by a role of its own: it was granted the right, which neither the owner of the
-- table nor the application's role may use. Nobody changes an entry, and nobody empties the table.
alter table journal_horizon add column kept_since timestamptz;

create function refuse_removal() returns trigger language plpgsql as $$
begin
  if current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid) then
    raise exception '% is append-only', tg_table_name;
  end if;
  return old;
end $$;
drop trigger journal_append_only on journal;
create trigger journal_append_only before update on journal for each row execute function refuse_change();
create trigger journal_removal before delete on journal for each row execute function refuse_removal();

-- A mail is kept for longer than the entry that it tells of.
alter table mails drop constraint mails_journal_id_fkey;
