-- Invoices that staff issues: lines with a quantity, a note on the invoice; and which line a credit note takes back.

alter table invoice_items
  -- A line by its quantity and what one costs; price_minor is what both come to, rounded half up. Null: it is one.
  add column quantity_thousandths bigint check (quantity_thousandths > 0),
  add column unit_price_minor bigint check (unit_price_minor >= 0),
  -- Of a credit note's line: the line of the invoice that it takes back, wholly or in part.
  add column corrects_ordinal integer,
  add constraint invoice_items_quantity check ((quantity_thousandths is null) = (unit_price_minor is null));

-- What staff has written to the customer; it stands on the document.
alter table invoices add column note text;
