import type { Lots } from '../../catalog/index.ts';
import { type Context, statement, type TxContext } from '../../platform/index.ts';

/** What an invoice asks for the next period of a service, and what that period will be. */
export interface Renewal {
  invoiceId: number;
  organizationId: number;
  serviceId: number;
  cycle: string;
  priceMinor: number;
  startsOn: string;
  endsOn: string;
  /** The move that its price is of; null: the service's own. */
  priceMoveId: number | null;
}

const selectWaiting = `
  select invoice_id as "invoiceId", organization_id as "organizationId", service_id as "serviceId", cycle,
    price_minor as "priceMinor", starts_on as "startsOn", ends_on as "endsOn", price_move_id as "priceMoveId"
  from service_renewals where state = 'waiting'`;
const waitingOfService = statement<Renewal, { serviceId: number }>(
  'services.waitingRenewal',
  `${selectWaiting} and service_id = :serviceId`,
);
const waitingOfInvoice = statement<Renewal, { invoiceId: number }>(
  'services.renewalOfInvoice',
  `${selectWaiting} and invoice_id = :invoiceId`,
);
const insertRenewal = statement<never, Renewal & { now: Date }>(
  'services.insertRenewal',
  `insert into service_renewals (invoice_id, organization_id, service_id, cycle, price_minor, starts_on, ends_on,
     price_move_id, state, created_at)
   values (:invoiceId, :organizationId, :serviceId, :cycle, :priceMinor, :startsOn, :endsOn,
     :priceMoveId, 'waiting', :now)`,
);
const endRenewal = statement<never, { invoiceId: number }>(
  'services.endRenewal',
  `update service_renewals set state = 'ended' where invoice_id = :invoiceId and state = 'waiting'`,
);
const markApplied = statement<never, { invoiceId: number; startsOn: string; endsOn: string }>(
  'services.markRenewed',
  `update service_renewals set state = 'applied', starts_on = :startsOn, ends_on = :endsOn
   where invoice_id = :invoiceId and state = 'waiting'`,
);
const extend = statement<
  never,
  { id: number; duedate: string; periodStart: string; cycle: string; priceMinor: number; unitPrices: Lots }
>(
  'services.extend',
  `update services set duedate = :duedate, period_start = :periodStart, cycle = :cycle, price_minor = :priceMinor,
     unit_prices = :unitPrices where id = :id`,
);

/** The renewal that waits for its payment, or was just paid and is about to count. */
export function findWaitingRenewal(ctx: Context, by: { serviceId: number } | { invoiceId: number }) {
  return 'serviceId' in by
    ? ctx.db.maybe(waitingOfService, { serviceId: by.serviceId })
    : ctx.db.maybe(waitingOfInvoice, { invoiceId: by.invoiceId });
}

export async function writeRenewal(tx: TxContext, renewal: Renewal): Promise<void> {
  await tx.db.run(insertRenewal, { ...renewal, now: tx.clock.now() });
}

/** Nothing comes of a renewal any more. */
export async function dropRenewal(tx: TxContext, invoiceId: number): Promise<void> {
  await tx.db.run(endRenewal, { invoiceId });
}

const takeUpAgain = statement<never, { id: number }>(
  'services.takeUpAgain',
  'update services set calendar_on = null where id = :id',
);

/** The money of a renewal was given back before it counted: the period is to be paid, and the calendar begins anew. */
export async function dropRefunded(tx: TxContext, { invoiceId, serviceId }: Renewal): Promise<void> {
  await dropRenewal(tx, invoiceId);
  await tx.db.run(takeUpAgain, { id: serviceId });
}

/** A service is paid for one period more; its row is locked. */
export async function extendService(
  tx: TxContext,
  renewal: Renewal,
  terms: { cycle: string; priceMinor: number; unitPrices: Lots },
): Promise<void> {
  const { invoiceId, serviceId: id, startsOn, endsOn } = renewal;
  await tx.db.run(markApplied, { invoiceId, startsOn, endsOn });
  await tx.db.run(extend, { id, duedate: endsOn, periodStart: startsOn, ...terms });
}
