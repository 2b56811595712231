-- An entry that the bank gives no reference is held against those of other statements that are like it.
create index bank_entries_alike on bank_entries (account, booked_on, amount_minor);
