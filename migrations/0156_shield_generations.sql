-- Which policies have changed since somebody looked.
create index shield_addresses_generation on shield_addresses (generation) where generation > 0;
