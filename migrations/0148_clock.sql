-- Until when the product was here with a clock that it believed. One that is far ahead of that has leapt, or nobody was here meanwhile.
alter table installation add column clock_at timestamptz;

-- Hosts whose clock is not believed at the moment: by it nothing is done that cannot be taken back.
create table clock_leaps (
  id bigint generated always as identity primary key,
  host text not null constraint clock_leaps_host unique,
  leapt_from timestamptz not null,
  leapt_to timestamptz not null,
  -- When it is believed, by that clock, if nobody has set it by then.
  believed_at timestamptz not null
);
