-- Whenever a server is heard to be off, the addresses that were kept for as long as it might use them are looked for.
create index addresses_reserved_for on addresses (note) where state = 'reserved';
