-- What staff has set of how the company runs; defaults stand in the code.
create table settings (
  section text primary key,
  fields jsonb not null,
  changed_at timestamptz not null,
  changed_by bigint
);
