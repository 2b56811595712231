-- Serial lines that an engine opens for one viewer alone: which process holds one, and where others join it there.

create table console_lines (
  service_id bigint primary key references machines (service_id) on delete cascade,
  -- A process, from its start to its end.
  holder uuid not null,
  -- Where that answers other processes, as `http://host:port`.
  address text not null,
  -- Goes up every second while the holder lives: who looks on for a while sees it, whatever its clock says.
  beats integer not null default 0,
  seen_at timestamptz not null
);
create index console_lines_holder on console_lines (holder);
