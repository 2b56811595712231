-- By which payment provider money came stands in the code, with the others: another one needs no change of the schema.
alter table payments
  drop constraint payments_method_check,
  add constraint payments_method_check check (method <> '');
