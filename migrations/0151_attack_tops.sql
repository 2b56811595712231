-- What packets of an attack had most, as samples of them show: ports, lengths, senders, and whose networks those are in.
alter table shield_attacks add column tops jsonb not null default '{}';
