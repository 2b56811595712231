-- The journal and the ledger are append-only; without these a truncate would have emptied them.

create trigger journal_no_truncate before truncate on journal
  for each statement execute function refuse_change();
create trigger ledger_transactions_no_truncate before truncate on ledger_transactions
  for each statement execute function refuse_change();
create trigger ledger_entries_no_truncate before truncate on ledger_entries
  for each statement execute function refuse_change();
