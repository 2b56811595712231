-- Which PostgreSQL this database is known to be in, and on which timeline: after a recovery to an earlier moment, a failover or a
-- copy it is another one, and what is missing since then nobody here knows.
alter table installation
  add column cluster_id text,
  add column timeline text,
  -- When that was noticed; null once somebody has said what it was.
  add column recovery_seen_at timestamptz;
