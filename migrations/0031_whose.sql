-- Whose this database and its nodes are, when that was not written down at first.

-- Null: forgotten on purpose, and the next start takes the key that it finds. A database without the row has its key
-- proved by what is sealed in it.
alter table installation alter column key_fingerprint drop not null;

-- The DATA_DIR that holds the node's machines, by the id that lies in it: another one does not pass for this node.
-- Null until the next start of a node from before, and after staff has let another host take its place.
alter table nodes add column data_dir_id uuid;
