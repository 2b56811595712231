-- The next free address of a pool stands first in an order that only this index has. Where another index had the same
-- order, it was read in its place, and every order walked over all the addresses that are taken.
drop index addresses_free;
create index addresses_next on addresses (pool_id, (address + 0)) where state = 'free';
