import { on, record } from '../events/index.ts';
import { serverOutOfOrder, serverQuarantined, serverReleased } from '../fleet/index.ts';
import { findLastRestore, type Reaction, statement, type TxContext } from '../platform/index.ts';
import { requireOrder, serviceTerminated } from '../services/index.ts';
import { inOrder, moved, outOfOrder } from './events.ts';
import { factsOf, findDedicated } from './queries.ts';
import { isOutOfUse } from './states.ts';

const lockService = statement<never, { id: number }>(
  'dedicated.lockServiceToTell',
  'select id from services where id = :id for no key update',
);
const noteTold = statement<never, { serviceId: number; now: Date }>(
  'dedicated.noteOutageTold',
  `insert into dedicated_outages (service_id, told_at) values (:serviceId, :now) on conflict (service_id) do nothing`,
);
const endOutage = statement<never, { serviceId: number }>(
  'dedicated.endOutage',
  'delete from dedicated_outages where service_id = :serviceId',
);

/**
 * Whoever rents a server reads, and is told by mail, that it cannot be used, and when that is over; why is staff's. Whose service has another server is told of that
 * ({@link moved}), and whose service has ended is told nothing of it any more.
 */
export const outOfOrderReactions: Reaction[] = [
  on(serverOutOfOrder, 'dedicated.tellOutOfOrder', (tx, { journalId, data: { service_id: serviceId } }) =>
    tellHowItIs(tx, serviceId, journalId),
  ),
  on(
    serverReleased,
    'dedicated.tellInOrder',
    (tx, { journalId, data: { service_id: serviceId } }) => tellHowItIs(tx, serviceId ?? 0, journalId),
    { when: ({ before, service_id: serviceId }) => before === 'rented' && serviceId !== null },
  ),
  on(
    serverQuarantined,
    'dedicated.tellTakenAway',
    (tx, { journalId, data: { service_id: serviceId } }) => tellHowItIs(tx, serviceId ?? 0, journalId),
    { when: ({ by, service_id: serviceId }) => by === 'staff' && serviceId !== null },
  ),
  on(moved, 'dedicated.endOutageByMove', (tx, { subject }) => endsUntold(tx, subject.id)),
  on(serviceTerminated, 'dedicated.endOutageOfEnded', (tx, { subject }) => endsUntold(tx, subject.id), {
    when: (data) => data.on_server,
  }),
];

/**
 * Tells how it is by now, and only what its customer was not told last: several of these may come late and in any order. What was to be told when a backup was made
 * has been told since, where nobody goes back to.
 */
async function tellHowItIs(tx: TxContext, serviceId: number, journalId: number): Promise<void> {
  // First the lock, then the look.
  await tx.db.many(lockService, { id: serviceId });
  const { organizationId, userId } = await requireOrder(tx, serviceId);
  const dedicated = await findDedicated(tx, organizationId, serviceId);
  if (dedicated === null) return;
  const isOut = isOutOfUse(factsOf(dedicated));
  const written = isOut
    ? await tx.db.run(noteTold, { serviceId, now: tx.clock.now() })
    : await tx.db.run(endOutage, { serviceId });
  if (written === 0 || hasEnded(dedicated.status) || (await isOfBackup(tx, journalId))) return;
  const about = { subject: { type: 'service', id: serviceId }, organizationId };
  const data = { user_id: userId, hostname: dedicated.hostname };
  if (isOut) await record(tx, outOfOrder, { ...about, data: { ...data, taken_away: !dedicated.server } });
  else await record(tx, inOrder, { ...about, data });
}

function hasEnded(status: string): boolean {
  return status === 'terminated' || status === 'cancelled';
}

async function endsUntold(tx: TxContext, serviceId: number): Promise<void> {
  await tx.db.run(endOutage, { serviceId });
}

/** Whether this was recorded before the database was restored. */
async function isOfBackup(tx: TxContext, journalId: number): Promise<boolean> {
  const from = (await findLastRestore(tx))?.journal_from ?? null;
  return from !== null && journalId < from;
}
