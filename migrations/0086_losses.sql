-- What a bank took back and nobody else bears is a loss, and no gift to a customer.
alter table ledger_accounts drop constraint ledger_accounts_kind_check;
alter table ledger_accounts
  add constraint ledger_accounts_kind_check check (kind in ('bank', 'provider', 'receivable', 'disputes', 'credit',
    'parts', 'deferred', 'tax', 'revenue', 'goodwill', 'fees', 'losses'));
