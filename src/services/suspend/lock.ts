import { forMany, requireRow, statement, type TxContext } from '../../platform/index.ts';
import type { ServiceStatus } from '../states.ts';

/** A service whose state is about to change, with what people are told of it. */
export interface Owned {
  id: number;
  organizationId: number;
  userId: number;
  productId: number;
  productName: string;
  moduleId: number;
  onServer: boolean;
  domain: string | null;
  status: ServiceStatus;
  suspendedBy: SuspendedBy | null;
  holdsStock: boolean;
}

/** What the calendar did, a payment takes back; what staff did, staff does. */
export type SuspendedBy = 'staff' | 'calendar';

// The row first: a service that becomes another product meanwhile is still there; see `terms.ts`.
const lockOwned = forMany(
  statement<Owned, { id: number }>(
    'services.lockOwned',
    `with locked as materialized (select * from services where id = :id for update)
   select s.id, s.organization_id as "organizationId", s.user_id as "userId", s.product_id as "productId",
     p.name as "productName", p.module_id as "moduleId", s.on_server as "onServer", s.domain, s.status, s.suspended_by as "suspendedBy",
     s.holds_stock as "holdsStock"
   from locked s join products p on p.id = s.product_id`,
  ),
  { id: 'bigint' },
);

/** A service, its row locked: of two changes to it, the second sees the first. `not_found`. */
export function lockService(tx: TxContext, id: number): Promise<Owned> {
  return requireRow(tx, lockOwned, { id });
}

/** What every event about such a change tells. */
export function factsOf(service: Owned) {
  const { userId: user_id, productName: product, domain: hostname, moduleId: module_id } = service;
  return { user_id, product, hostname, module_id, on_server: service.onServer };
}
