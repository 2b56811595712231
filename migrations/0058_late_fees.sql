-- Late fees are invoices of a kind of their own.
alter table invoices
  drop constraint invoices_kind_check,
  add constraint invoices_kind_check
    check (kind in ('order', 'renewal', 'upgrade', 'top_up', 'late_fee', 'manual', 'credit_note'));
