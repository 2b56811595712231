-- Who names a country without our tax is held against what is seen of them.
create index tax_evidence_organization on tax_evidence (organization_id, kind);
create index invoices_outside on invoices (created_at desc)
  where tax_treatment = 'outside' and tax_country is not null and kind not in ('top_up', 'credit_note');
