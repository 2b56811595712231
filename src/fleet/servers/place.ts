import { refuse, statement, type TxContext } from '../../platform/index.ts';
import { lockRack } from '../racks/staff.ts';

/** Where a server stands: the lowest unit that it takes of a rack, and how many. Nowhere: both are null. */
export interface Place {
  rackId: number | null;
  unit: number | null;
  height: number;
}

const rackOf = statement<{ name: string; units: number }, { id: number }>(
  'fleet.rackOfPlace',
  'select name, units from racks where id = :id',
);
const inTheWay = statement<
  { name: string },
  { serverId: number; rackId: number; unit: number; height: number }
>(
  'fleet.serverInTheWay',
  `select name from servers where rack_id = :rackId and id <> :serverId and unit < :unit::integer + :height::integer
     and unit + height > :unit::integer order by unit limit 1`,
);

/**
 * Holds a place against its rack and what stands there, and keeps others out until the transaction ends. `serverId` is 0 for one that is
 * new. `invalid_request` says what is wrong.
 */
export async function requirePlace(
  tx: TxContext,
  serverId: number,
  { rackId, unit, height }: Place,
): Promise<void> {
  if (rackId === null && unit === null) return;
  if (rackId === null) throw refuse('rack_id', 'must be given with the unit');
  if (unit === null) throw refuse('unit', 'must be given with the rack');
  await lockRack(tx, rackId);
  const rack = await tx.db.maybe(rackOf, { id: rackId });
  if (rack === null) throw refuse('rack_id', 'is no rack');
  const top = unit + height - 1;
  if (top > rack.units) throw refuse('unit', `leads above ${rack.name}, which has ${rack.units} units`);
  const other = await tx.db.maybe(inTheWay, { serverId, rackId, unit, height });
  if (other !== null) throw refuse('unit', `is taken in ${rack.name}: ${other.name} stands there`);
}
