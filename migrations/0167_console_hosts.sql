-- Which process runs the machines of a host of ours, and where it shows their consoles and screens to other processes.

create table console_hosts (
  node_id bigint primary key references nodes on delete cascade,
  -- From its start to its end.
  process uuid not null,
  -- As `http://host:port`.
  address text not null
);
