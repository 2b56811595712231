import { statement, type TxContext } from '../platform/index.ts';

type Moved = { serviceId: number; organizationId: number };
const moveAddresses = statement<never, Moved>(
  'fleet.moveAddresses',
  'update addresses set organization_id = :organizationId where service_id = :serviceId',
);
const movePlacement = statement<never, Moved>(
  'fleet.movePlacement',
  'update placements set organization_id = :organizationId where service_id = :serviceId',
);

/** What a service holds is held for another organization from now on. The service's row is locked. */
export async function moveHeld(tx: TxContext, serviceId: number, organizationId: number): Promise<void> {
  await tx.db.run(moveAddresses, { serviceId, organizationId });
  await tx.db.run(movePlacement, { serviceId, organizationId });
}
