-- How a server of the profile has to be beside what it has: versions of firmware, order of starting, who signs in at its BMC and by what. Of each part null: it
-- may be anything; of the whole null: nothing is compared.
alter table server_profiles
  add column baseline jsonb,
  -- The server that it was taken from, as it was called then; null: staff has written it.
  add column baseline_from text,
  add column baseline_at timestamptz;
-- The same of a server, as it was read when it was enrolled or came back last; null: nobody has looked.
alter table servers
  add column observed jsonb,
  add column observed_at timestamptz,
  -- In words, how it differs from the baseline of its profile, for which it is in quarantine; null: it does not.
  add column differences jsonb constraint servers_differ_in_quarantine check (differences is null or state = 'quarantined');
create index servers_differing on servers (state_since desc, id desc) where differences is not null;
-- What a start said that it has, and what the start said that was given the plan of an assignment.
alter table server_starts add column inventory jsonb;
alter table server_assignments add column inventory jsonb;
