-- The keys that a machine let in when a copy of its disk was made: they come back with it. Null: nobody wrote it down.
alter table vps_snapshots add column access jsonb;

-- What an action is doing, or what is left to do after it, in words for the customer.
alter table vps_actions add column note text;
