-- What a server said that it has when its installer or its rescue system started last and was proved; null: it did not since it was measured.
alter table servers
  add column seen_hardware jsonb,
  add column seen_at timestamptz,
  -- The start that said so: it asks for its plan many times, and is noted once.
  add column seen_start_id bigint;
