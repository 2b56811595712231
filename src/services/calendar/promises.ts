import { record } from '../../events/index.ts';
import {
  type Context,
  dayOf,
  fail,
  type OrganizationContext,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { paymentPromised } from '../events.ts';
import { readService } from '../read.ts';
import { lockService } from '../suspend/lock.ts';

/** What somebody said of when the money comes. */
export interface NewPromise {
  /** The last day that it holds; null takes it back. */
  until: string | null;
  note?: string;
}

/** A promise that holds today. */
interface Held {
  organization_id: number;
  /** Null: for all services of the organization. */
  service_id: number | null;
  until: string;
  note: string | null;
}

// Of two that hold, the longer one decides.
const heldFor = statement<Held, { organizationId: number; serviceId: number | null; today: string }>(
  'services.heldPromise',
  `select organization_id, service_id, until, note from payment_promises
   where organization_id = :organizationId and (service_id is null or service_id = :serviceId) and until >= :today::date
   order by until desc, service_id limit 1`,
);
const ownerOf = statement<{ organizationId: number }, { id: number }>(
  'services.ownerForPromise',
  'select organization_id as "organizationId" from services where id = :id',
);
const organizationFor = statement<{ id: number }, { id: number }>(
  'services.organizationForPromise',
  'select id from organizations where id = :id',
);
const writePromise = statement<
  never,
  {
    organizationId: number;
    serviceId: number | null;
    until: string;
    note: string | null;
    userId: number | null;
    now: Date;
  }
>(
  'services.writePromise',
  `insert into payment_promises (organization_id, service_id, until, note, user_id, promised_at)
   values (:organizationId, :serviceId, :until, :note, :userId, :now)
   on conflict on constraint payment_promises_one do update set until = excluded.until, note = excluded.note,
     user_id = excluded.user_id, promised_at = excluded.promised_at`,
);
const lockOrganization = statement<{ id: number }, { organizationId: number }>(
  'services.lockOrganization',
  'select id from organizations where id = :organizationId for no key update',
);
const dropPromise = statement<never, { organizationId: number; serviceId: number | null }>(
  'services.dropPromise',
  `delete from payment_promises where organization_id = :organizationId
     and service_id is not distinct from :serviceId::bigint`,
);
// Whoever took a promise back is looked at again at once.
const lookNow = statement<never, { organizationId: number; serviceId: number | null; today: string }>(
  'services.lookNow',
  `update service_calendar set look_on = least(look_on, :today::date) where organization_id = :organizationId
     and (:serviceId::bigint is null or service_id = :serviceId)`,
);

/** The promise that holds for a service, its own or its organization's; null without one. `not_found`. */
export async function readPromiseForService(ctx: Context, id: number) {
  const { organizationId } = await requireRow(ctx, ownerOf, { id });
  return { promise: await held(ctx, organizationId, id) };
}

/** The promise that holds for all services of an organization. `not_found`. */
export async function readPromiseForOrganization(ctx: Context, id: number) {
  await requireRow(ctx, organizationFor, { id });
  return { promise: await held(ctx, id, null) };
}

/** The same for whoever promised, without what staff noted. `not_found`, `forbidden`. */
export async function readOwnPromise(ctx: OrganizationContext, id: number) {
  await readService(ctx, id);
  const promise = await held(ctx, ctx.organizationId, id);
  return { promise: promise && { service_id: promise.service_id, until: promise.until } };
}

function held(ctx: Context, organizationId: number, serviceId: number | null): Promise<Held | null> {
  return ctx.db.maybe(heldFor, { organizationId, serviceId, today: dayOf(ctx.clock.now()) });
}

/** Until that day nothing happens to a service that is not paid. `not_found`, `invalid_request` for a day that is over. */
export function promiseForService(ctx: Context, id: number, promise: NewPromise) {
  return transaction(ctx, 'services.promise', async (tx) => {
    const { organizationId } = await lockService(tx, id);
    return write(tx, { organizationId, serviceId: id }, promise);
  });
}

/** The same for all services of an organization. */
export function promiseForOrganization(ctx: Context, organizationId: number, promise: NewPromise) {
  return transaction(ctx, 'services.promiseOfAll', async (tx) => {
    // The calendar holds it while it decides.
    if ((await tx.db.maybe(lockOrganization, { organizationId })) === null) throw fail('not_found');
    return write(tx, { organizationId, serviceId: null }, promise);
  });
}

async function write(
  tx: TxContext,
  whose: { organizationId: number; serviceId: number | null },
  { until, note }: NewPromise,
) {
  const today = dayOf(tx.clock.now());
  if (until !== null && until < today) {
    const message = 'must not be over; null takes a promise back';
    throw fail('invalid_request', { details: [{ field: 'until', message }] });
  }
  const { organizationId, serviceId } = whose;
  const by = { userId: tx.actor.userId, now: tx.clock.now() };
  if (until === null) await tx.db.run(dropPromise, whose);
  else await tx.db.run(writePromise, { ...whose, until, note: note ?? null, ...by });
  await tx.db.run(lookNow, { ...whose, today });
  const [type, id] = serviceId === null ? ['organization', organizationId] : ['service', serviceId];
  await record(tx, paymentPromised, {
    subject: { type: String(type), id: Number(id) },
    organizationId,
    data: { until, note: note ?? null },
  });
  return {
    promise:
      until === null
        ? null
        : { organization_id: organizationId, service_id: serviceId, until, note: note ?? null },
  };
}
