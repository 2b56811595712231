-- A host that only filters, for machines of other nodes, is a node that has nothing to promise.
alter table nodes
  add column runs_machines boolean not null default true,
  add constraint nodes_of_machines check (runs_machines or (cpu_cores = 0 and memory_mib = 0 and disk_gib = 0));
