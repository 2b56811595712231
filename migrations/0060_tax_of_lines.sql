-- Of a credit note by which tax was corrected: how what stands on the line is taxed; null: as the document is.

alter table invoice_items add column tax_treatment text
  check (tax_treatment in ('taxed', 'reverse_charge', 'exempt', 'outside'));
