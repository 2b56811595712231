-- When the last number of a series was given: whoever waited for that one was issued no earlier.
alter table invoice_series add column last_at timestamptz;
