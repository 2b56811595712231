-- Whose process looks after what is sent to the machines of a node: it hands over to that of the edge before it, or without one to the node
-- itself, and the row is gone.
alter table shield_fronts
  add column in_charge bigint references nodes,
  alter column edge_id drop not null;
update shield_fronts f set in_charge = e.node_id from shield_edges e where e.id = f.edge_id;
alter table shield_fronts alter column in_charge set not null;
create index shield_fronts_in_charge on shield_fronts (in_charge);
