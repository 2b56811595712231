-- What guards issued documents and the ledger finds the product's tables, whatever its caller's path says: a table of the same name in
-- a schema that is searched before would let anything pass. The schema is written down, for a backup is tried out in one of its own;
-- a restore writes down the one that it ends in.
do $$
declare
  guard text;
begin
  foreach guard in array array['refuse_change_of_issued()', 'refuse_change_of_issued_items()', 'refuse_change()', 'refuse_unbalanced()',
    'books_kept_until(bigint)', 'forget_in_books(bigint, timestamptz, int)', 'forget_in_journal(bigint, text, int)'] loop
    execute format('alter function %I.%s set search_path = pg_catalog, %I, pg_temp', current_schema(), guard, current_schema());
  end loop;
end $$;
