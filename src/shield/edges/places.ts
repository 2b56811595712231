/** In SQL: the nodes before whose machines the edge of `:nodeId` stands: itself, unless a router does, and those that it does so for. */
export const nodesBehind = `(select n.id from nodes n left join shield_fronts f on f.node_id = n.id
  left join shield_edges e on e.id = f.edge_id where coalesce(e.node_id, n.id) = :nodeId)`;

/** In SQL, of a placement: the node whose edge stands before its machine. */
export function nodeBefore(placement: string): string {
  return `coalesce((select e.node_id from shield_fronts f join shield_edges e on e.id = f.edge_id
    where f.node_id = ${placement}.node_id), ${placement}.node_id)`;
}
