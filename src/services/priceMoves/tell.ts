import { recordEntry } from '../../events/index.ts';
import {
  addDays,
  dayOf,
  doEach,
  findHeldRestore,
  formatMoney,
  notSetAside,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { latest } from '../calendar/schedule.ts';
import { priceChangeAnnounced } from '../events.ts';
import type { ServiceStatus } from '../states.ts';
import { firstRenewalOn, type Priced, priceWith } from './coming.ts';

const toldAtOnce = 50;
const checkedAtOnce = 500;
const minuteMs = 60_000;
const job = 'services.tellOfPriceMoves';

interface Waiting extends Priced {
  moveId: number;
  /** Of the service. */
  id: number;
  organizationId: number;
  userId: number;
  product: string;
  hostname: string | null;
  status: ServiceStatus;
  cancelled: boolean;
  currency: string;
  duedate: string | null;
  anchorDay: number | null;
  openUntil: string | null;
  fromOn: string;
  noticeDays: number;
  cycles: Record<string, number>;
  comingUnits: Waiting['unitPrices'];
  beforeMinor: number;
}

// The rows of the move alone are locked: whoever changes a service holds it first, and these after it.
const rowsWaiting = (where: string) => `
   select r.move_id as "moveId", r.service_id as id, r.organization_id as "organizationId",
     s.user_id as "userId", p.name as product, s.domain as hostname, s.status, s.cancelled, s.cycle, s.currency,
     s.price_minor as "priceMinor", s.options, s.unit_prices as "unitPrices", s.duedate,
     s.anchor_day as "anchorDay", m.from_on as "fromOn", m.notice_days as "noticeDays", m.prices as cycles,
     r.unit_prices as "comingUnits", r.before_minor as "beforeMinor",
     (select w.ends_on from service_renewals w where w.service_id = s.id and w.state = 'waiting') as "openUntil"
   from service_price_moves r
     join price_moves m on m.id = r.move_id and m.revoked_at is null
     join services s on s.id = r.service_id join products p on p.id = s.product_id
   where r.state = 'waiting' and ${where}`;
const waiting = statement<Waiting, { now: Date; limit: number }>(
  'services.priceMovesToTell',
  rowsWaiting(`r.look_at <= :now and ${notSetAside(job, 'r.service_id')}
   order by r.look_at, r.service_id limit :limit for update of r skip locked`),
);
const waitingFor = statement<Waiting, { serviceId: number }>(
  'services.priceMovesToTellOf',
  rowsWaiting('r.service_id = :serviceId order by r.move_id for update of r'),
);
const putOff = statement<never, { moveId: number; serviceId: number; lookAt: Date }>(
  'services.putOffPriceMove',
  'update service_price_moves set look_at = :lookAt where move_id = :moveId and service_id = :serviceId',
);
const markTelling = statement<
  never,
  { moveId: number; serviceId: number; noticeId: number; afterMinor: number; lookAt: Date }
>(
  'services.markPriceMoveTelling',
  `update service_price_moves set state = 'telling', notice_id = :noticeId, after_minor = :afterMinor, look_at = :lookAt
   where move_id = :moveId and service_id = :serviceId`,
);
const markEnded = statement<never, { moveId: number; serviceId: number }>(
  'services.endPriceMove',
  `update service_price_moves set state = 'ended' where move_id = :moveId and service_id = :serviceId`,
);
// A mail that stays in the product, because none is sent from here, counts as sent when it was written.
const check = statement<never, { now: Date; later: Date; limit: number }>(
  'services.checkPriceMoveNotices',
  `with looked as (
     select r.move_id, r.service_id, m.from_on, m.notice_days,
       (select min(coalesce(l.sent_at, case when l.state = 'kept' then l.created_at end)) from mails l
        where l.journal_id = r.notice_id) as sent_at
     from service_price_moves r join price_moves m on m.id = r.move_id
     where r.state = 'telling' and r.look_at <= :now
     order by r.look_at, r.service_id limit :limit for update of r skip locked)
   update service_price_moves r set
     state = case when looked.sent_at is null then 'telling' else 'told' end,
     told_on = (looked.sent_at at time zone 'UTC')::date,
     counts_on = greatest(looked.from_on, (looked.sent_at at time zone 'UTC')::date + looked.notice_days),
     look_at = :later::timestamptz
   from looked where r.move_id = looked.move_id and r.service_id = looked.service_id`,
);

/** Tells customers of what is coming, a batch of them; null when there is nobody to tell. */
export async function tell(tx: TxContext): Promise<'more' | null> {
  const found = await tx.db.many(waiting, { now: tx.clock.now(), limit: toldAtOnce });
  await doEach(tx, job, found, tellOne);
  return found.length > 0 ? 'more' : null;
}

/**
 * Tells the customer of one service of what is coming, at once. Its row is locked. Who takes a cancellation back is told with
 * it: otherwise whoever cancels again before the next look is never told, and never pays the new price. Not while a restore is held: the
 * move may have been revoked since the backup, and once it is released they are told with all others.
 */
export async function tellOfService(tx: TxContext, serviceId: number): Promise<void> {
  if ((await findHeldRestore(tx)) !== null) return;
  for (const row of await tx.db.many(waitingFor, { serviceId })) await tellOne(tx, row);
}

/** Finds out which of the mails were sent: from then on the days of notice count. Null when there is nothing to look at. */
export async function checkNotices(tx: TxContext): Promise<'more' | null> {
  const now = tx.clock.now();
  const checked = await tx.db.run(check, {
    ...{ now, limit: checkedAtOnce },
    later: new Date(now.getTime() + 10 * minuteMs),
  });
  return checked > 0 ? 'more' : null;
}

async function tellOne(tx: TxContext, row: Waiting): Promise<void> {
  const { moveId, id: serviceId, status, cycle, currency, product, hostname } = row;
  if (status === 'terminated' || status === 'cancelled')
    return void (await tx.db.run(markEnded, { moveId, serviceId }));
  // What is not delivered has no period yet; what ends with its period pays no more, unless its customer comes back.
  if (status === 'pending') return later(tx, row, 60);
  if (row.cancelled) return later(tx, row, 24 * 60);
  const afterMinor = priceWith({ cycles: row.cycles, unitPrices: row.comingUnits }, row);
  const earliest = latest(row.fromOn, addDays(dayOf(tx.clock.now()), row.noticeDays));
  const from = firstRenewalOn(row, earliest, row.openUntil);
  if (afterMinor === null || from === null) return later(tx, row, 24 * 60);
  const noticeId = await recordEntry(tx, priceChangeAnnounced, {
    subject: { type: 'service', id: serviceId },
    organizationId: row.organizationId,
    data: {
      ...{ user_id: row.userId, product, hostname, cycle, currency, from },
      price_before: formatMoney(row.beforeMinor, currency),
      price: formatMoney(afterMinor, currency),
    },
  });
  const lookAt = new Date(tx.clock.now().getTime() + minuteMs);
  await tx.db.run(markTelling, { moveId, serviceId, noticeId, afterMinor, lookAt });
}

async function later(tx: TxContext, { moveId, id: serviceId }: Waiting, minutes: number): Promise<void> {
  const lookAt = new Date(tx.clock.now().getTime() + minutes * minuteMs);
  await tx.db.run(putOff, { moveId, serviceId, lookAt });
}
