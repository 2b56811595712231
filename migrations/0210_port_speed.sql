-- What the port of a server can, together with that of the switch that it is plugged into, in Mbit/s; null: anything.
alter table server_profiles add column port_mbps integer check (port_mbps > 0);
