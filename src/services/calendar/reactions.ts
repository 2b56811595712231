import { invoicePaid, restoreReleased } from '../../billing/index.ts';
import { type OwnReaction, on } from '../../events/index.ts';
import { dayOf, forMany, type Happened, statement, type TxContext } from '../../platform/index.ts';
import { settingsChanged } from '../../settings/index.ts';
import { serviceUnsuspended, serviceUpdated } from '../events.ts';
import { calendar } from '../settings.ts';
import { lockService } from '../suspend/lock.ts';
import { unsuspendService } from '../suspend/suspend.ts';

// One whose money was given back before it counted renewed nothing.
const renewedBy = forMany(
  statement<{ id: number; startsOn: string }, { invoiceId: number }>(
    'services.renewedBy',
    `select service_id as id, starts_on as "startsOn" from service_renewals where invoice_id = :invoiceId and state <> 'ended'`,
  ),
  { invoiceId: 'bigint' },
);
const leavePeriod = forMany(
  statement<never, { serviceId: number; dueOn: string }>(
    'services.leavePeriod',
    'delete from service_calendar where service_id = :serviceId and due_on <= :dueOn',
  ),
  { serviceId: 'bigint', dueOn: 'date' },
  (given) => `delete from service_calendar using ${given}
   where service_id = given."serviceId" and due_on <= given."dueOn" returning given.nth_`,
);
const suspendedSince = forMany(
  statement<{ id: number }, { serviceId: number }>(
    'services.suspendedSince',
    `select service_id as id from service_calendar where service_id = :serviceId and step = 'suspend'`,
  ),
  { serviceId: 'bigint' },
);
const lookAtAll = statement<never, { today: string }>(
  'services.lookAtAll',
  'update service_calendar set look_on = :today where look_on > :today::date',
);

const lookAtOne = statement<never, { serviceId: number; today: string }>(
  'services.lookAtOne',
  'update service_calendar set look_on = least(look_on, :today::date) where service_id = :serviceId',
);

/** What the calendar does when something happened elsewhere. */
export const calendarReactions: OwnReaction[] = [
  on(invoicePaid, 'services.endDunning', (tx, { subject }) => endDunning(tx, subject.id), {
    when: ({ kind }) => kind === 'renewal',
    inStep: true,
  }),
  on(serviceUnsuspended, 'services.lookAtUnsuspended', lookAt),
  on(serviceUpdated, 'services.lookAtUpdated', lookAt, { when: ({ change }) => 'auto_renew' in change }),
  // What was held is put off from day to day.
  on(restoreReleased, 'services.goOnAfterRestore', lookAtAllToday),
  on(settingsChanged, 'services.lookAgain', lookAtAllToday, {
    when: ({ section }) => section === calendar.name,
  }),
];

async function lookAtAllToday(tx: TxContext): Promise<void> {
  await tx.db.run(lookAtAll, { today: dayOf(tx.clock.now()) });
}

/** What comes next for a service may be something else from now on. */
async function lookAt(tx: TxContext, { subject }: Happened): Promise<void> {
  await tx.db.run(lookAtOne, { serviceId: subject.id, today: dayOf(tx.clock.now()) });
}

/**
 * The renewal was paid: what the calendar did for want of it is taken back. However late this runs, what it does for a
 * later period stays. Repeating it changes nothing.
 */
async function endDunning(tx: TxContext, invoiceId: number): Promise<void> {
  const renewed = await tx.db.maybe(renewedBy, { invoiceId });
  if (renewed === null) return;
  const service = await lockService(tx, renewed.id);
  await tx.db.run(leavePeriod, { serviceId: service.id, dueOn: renewed.startsOn });
  if (service.status !== 'suspended' || service.suspendedBy !== 'calendar') return;
  if ((await tx.db.maybe(suspendedSince, { serviceId: service.id })) === null)
    await unsuspendService(tx, service.id);
}
