import { record, recordEntry } from '../../events/index.ts';
import { forMany, statement, type TxContext } from '../../platform/index.ts';
import { askByHand } from '../byHand/tasks.ts';
import { serviceSuspended, serviceUnsuspended } from '../events.ts';
import { requireStaffAction } from '../states.ts';
import { factsOf, lockService, type Owned, type SuspendedBy } from './lock.ts';

const markSuspended = forMany(
  statement<never, { id: number; reason: string; by: SuspendedBy; now: Date }>(
    'services.markSuspended',
    `update services set status = 'suspended', suspend_reason = :reason, suspended_by = :by, suspended_at = :now
   where id = :id`,
  ),
  { id: 'bigint', reason: 'text', by: 'text', now: 'timestamptz' },
  (
    given,
  ) => `update services set status = 'suspended', suspend_reason = given.reason, suspended_by = given.by,
     suspended_at = given.now
   from ${given} where services.id = given.id`,
);
const markUnsuspended = statement<never, { id: number }>(
  'services.markUnsuspended',
  `update services set status = 'active', suspend_reason = null, suspended_by = null, suspended_at = null
   where id = :id`,
);

/**
 * Suspends an active service: it may not be used, and whoever looks after its kind stops it by a reaction. `reason` is
 * what its customer reads. What the calendar has suspended staff can suspend as well: no payment takes it back then.
 * `not_found`; `conflict` in any other state. Returns the entry of the journal.
 */
export async function suspendService(
  tx: TxContext,
  id: number,
  reason: string,
  by: SuspendedBy = 'staff',
): Promise<number> {
  const service = await lockService(tx, id);
  const takesOver = by === 'staff' && service.suspendedBy === 'calendar';
  if (!takesOver) requireStaffAction('suspend', service);
  await tx.db.run(markSuspended, { id, reason, by, now: tx.clock.now() });
  if (!takesOver) await askByHand(tx, service, 'suspend');
  return recordEntry(tx, serviceSuspended, { ...about(service), data: { ...factsOf(service), reason } });
}

/** Takes a suspension back: the service goes on as it was before. `not_found`; `conflict` unless it is suspended. */
export async function unsuspendService(tx: TxContext, id: number): Promise<void> {
  const service = await lockService(tx, id);
  requireStaffAction('unsuspend', service);
  await tx.db.run(markUnsuspended, { id });
  await askByHand(tx, service, 'unsuspend');
  await record(tx, serviceUnsuspended, { ...about(service), data: factsOf(service) });
}

function about({ id, organizationId }: Owned) {
  return { subject: { type: 'service', id }, organizationId };
}
