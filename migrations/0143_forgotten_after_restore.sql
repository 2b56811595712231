-- When the sessions and links that came back with a restore were ended: once, since those of later are people's own.
alter table restores add column forgotten_at timestamptz;
