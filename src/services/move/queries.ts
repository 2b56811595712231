import { statement, type TxContext } from '../../platform/index.ts';

const lock = statement<{ id: number }, { ids: number[] }>(
  'services.lockOrganizationsToMove',
  'select id from organizations where id = any(:ids::bigint[]) order by id for no key update',
);
const task = statement<{ has: boolean }, { serviceId: number }>(
  'services.hasTask',
  'select exists (select 1 from service_tasks where service_id = :serviceId) as has',
);
// Who moved it is a member of the new organization, and whoever ordered it may be none.
const moveRow = statement<never, { id: number; to: number; userId: number }>(
  'services.moveRow',
  `update services set organization_id = :to, user_id = :userId, note = null,
     position = (select coalesce(max(position), 0) + 1 from services where organization_id = :to)
   where id = :id`,
);
const moveCalendar = statement<never, { id: number; to: number }>(
  'services.moveCalendar',
  'update service_calendar set organization_id = :to where service_id = :id',
);
const movePriceMoves = statement<never, { id: number; to: number }>(
  'services.movePriceMoves',
  'update service_price_moves set organization_id = :to where service_id = :id',
);
const moveRecurring = statement<never, { id: number; to: number }>(
  'services.moveRecurring',
  'update recurring_revenue set organization_id = :to where service_id = :id',
);
// It was the other one that promised to pay.
const dropPromises = statement<never, { id: number }>(
  'services.dropPromisesOf',
  'delete from payment_promises where service_id = :id',
);

/** No invoice is issued to either, and nobody changes who is in them, until the transaction ends. */
export async function lockBoth(tx: TxContext, one: number, other: number): Promise<void> {
  await tx.db.many(lock, { ids: [one, other] });
}

/** Whether staff has something to do for a service by hand. */
export async function hasTask(tx: TxContext, serviceId: number): Promise<boolean> {
  return (await tx.db.one(task, { serviceId })).has;
}

/** Makes it the other organization's. What was invoiced and paid for it, and its history, stays where it is. */
export async function handOver(
  tx: TxContext,
  { id, to, userId }: { id: number; from: number; to: number; userId: number },
): Promise<void> {
  await tx.db.run(moveRow, { id, to, userId });
  for (const statement of [moveCalendar, movePriceMoves, moveRecurring])
    await tx.db.run(statement, { id, to });
  await tx.db.run(dropPromises, { id });
}
