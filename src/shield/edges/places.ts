/** In SQL: the nodes whose machines `:nodeId` looks after: itself, unless another is in charge of it, and those that it is in charge of. */
export const nodesBehind = `(select n.id from nodes n left join shield_fronts f on f.node_id = n.id
  where coalesce(f.in_charge, n.id) = :nodeId)`;

/** In SQL, of a placement: the node that looks after what is sent to its machine. */
export function nodeBefore(placement: string): string {
  return `coalesce((select f.in_charge from shield_fronts f where f.node_id = ${placement}.node_id), ${placement}.node_id)`;
}
