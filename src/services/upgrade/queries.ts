import type { Lots } from '../../catalog/index.ts';
import {
  type Context,
  dayOf,
  forMany,
  notSetAside,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import type { Terms } from '../terms.ts';
import type { Priced } from './price.ts';

/** What a service was before a change counted. */
export interface Before {
  productId: number;
  options: Record<string, unknown>;
  priceMinor: number;
  unitPrices: Lots;
  heldStock: boolean;
  cycle: string;
  duedate: string | null;
  periodStart: string | null;
  anchorDay: number | null;
}

/** Another product that a service is to become, with what its invoice says. */
export interface Change {
  id: number;
  organizationId: number;
  serviceId: number;
  invoiceId: number | null;
  productId: number;
  options: Record<string, unknown>;
  priceMinor: number;
  unitPrices: Lots;
  chargeMinor: number;
  creditMinor: number;
  discountMinor: number;
  couponId: number | null;
  holdsStock: boolean;
  state: 'waiting' | 'scheduled' | 'applied' | 'ended';
  effectiveOn: string | null;
  /** The period of another length that begins with it; all null when the one that runs goes on. */
  cycle: string | null;
  startsOn: string | null;
  endsOn: string | null;
}

const selectChange = `
  select id, organization_id as "organizationId", service_id as "serviceId", invoice_id as "invoiceId",
    product_id as "productId", options, price_minor as "priceMinor", unit_prices as "unitPrices",
    charge_minor as "chargeMinor", credit_minor as "creditMinor", discount_minor as "discountMinor",
    coupon_id as "couponId", holds_stock as "holdsStock", state, effective_on as "effectiveOn", cycle,
    starts_on as "startsOn", ends_on as "endsOn"
  from service_changes where state in ('waiting', 'scheduled')`;
const openOfService = forMany(
  statement<Change, { serviceId: number }>(
    'services.openChange',
    `${selectChange} and service_id = :serviceId`,
  ),
  { serviceId: 'bigint' },
);
const openOfInvoice = statement<Change, { invoiceId: number }>(
  'services.changeOfInvoice',
  `${selectChange} and invoice_id = :invoiceId`,
);
/** See `worker.ts`. */
export const dueChangesJob = 'services.applyDueChanges';

const dueChanges = statement<
  { id: number; organizationId: number },
  { today: string; now: Date; limit: number }
>(
  'services.dueChanges',
  `select service_id as id, organization_id as "organizationId" from service_changes
   where state = 'scheduled' and effective_on <= :today and ${notSetAside(dueChangesJob, 'service_id')}
   order by effective_on, id limit :limit`,
);
const insertChange = statement<
  never,
  Omit<Change, 'options' | 'unitPrices'> & { options: object; unitPrices: Lots; now: Date }
>(
  'services.insertChange',
  `insert into service_changes (id, organization_id, service_id, invoice_id, product_id, options, price_minor, unit_prices,
     charge_minor, credit_minor, discount_minor, coupon_id, holds_stock, state, effective_on, cycle, starts_on, ends_on,
     created_at)
   values (:id, :organizationId, :serviceId, :invoiceId, :productId, :options, :priceMinor, :unitPrices, :chargeMinor,
     :creditMinor, :discountMinor, :couponId, :holdsStock, :state, :effectiveOn, :cycle, :startsOn, :endsOn, :now)`,
);
const markChange = statement<never, { id: number; state: Change['state'] }>(
  'services.markChange',
  'update service_changes set state = :state where id = :id',
);
const setProduct = statement<
  never,
  {
    id: number;
    productId: number;
    options: object;
    priceMinor: number;
    unitPrices: Lots;
    holdsStock: boolean;
    cycle: string | null;
    startsOn: string | null;
    endsOn: string | null;
  }
>(
  'services.setProduct',
  `update services set product_id = :productId, options = :options, price_minor = :priceMinor, unit_prices = :unitPrices,
     holds_stock = :holdsStock, cycle = coalesce(:cycle, cycle), duedate = coalesce(:endsOn::date, duedate),
     period_start = coalesce(:startsOn::date, period_start),
     anchor_day = coalesce(extract(day from :startsOn::date), anchor_day)
   where id = :id`,
);

/** The change that waits for its payment or its day; at most one. */
export function findChange(ctx: Context, by: { serviceId: number } | { invoiceId: number }) {
  return 'serviceId' in by
    ? ctx.db.maybe(openOfService, { serviceId: by.serviceId })
    : ctx.db.maybe(openOfInvoice, { invoiceId: by.invoiceId });
}

/** Services whose day has come. */
export function findDueChanges(ctx: Context, limit: number) {
  const now = ctx.clock.now();
  return ctx.db.many(dueChanges, { today: dayOf(now), now, limit });
}

export async function writeChange(
  tx: TxContext,
  { product, options, newPriceMinor: priceMinor, lots: unitPrices, period, ...amounts }: Priced,
  rest: Pick<
    Change,
    'id' | 'organizationId' | 'serviceId' | 'invoiceId' | 'couponId' | 'holdsStock' | 'state' | 'effectiveOn'
  >,
): Promise<Change> {
  const { cycle = null, startsOn = null, endsOn = null } = period ?? {};
  const begins = { cycle, startsOn, endsOn };
  const change = { ...rest, ...amounts, ...begins, productId: product.id, options, priceMinor, unitPrices };
  await tx.db.run(insertChange, { ...change, now: tx.clock.now() });
  return change;
}

export async function endChange(tx: TxContext, id: number, state: 'applied' | 'ended'): Promise<void> {
  await tx.db.run(markChange, { id, state });
}

/** A service is another product from now on; its row is locked. */
export async function becomeProduct(tx: TxContext, change: Change): Promise<void> {
  const { serviceId: id, productId, options, priceMinor, unitPrices, holdsStock } = change;
  const { cycle, startsOn, endsOn } = change;
  const begins = { cycle, startsOn, endsOn };
  await tx.db.run(setProduct, { id, productId, options, priceMinor, unitPrices, holdsStock, ...begins });
}

const writeBefore = statement<never, { id: number; before: Before }>(
  'services.keepBeforeChange',
  `update service_changes c set product_before = b."productId", options_before = b.options,
     price_before_minor = b."priceMinor", unit_prices_before = b."unitPrices", held_stock_before = b."heldStock",
     cycle_before = b.cycle, duedate_before = b.duedate, period_start_before = b."periodStart",
     anchor_before = b."anchorDay"
   from jsonb_to_record(:before::jsonb) as b("productId" bigint, options jsonb, "priceMinor" bigint,
     "unitPrices" jsonb, "heldStock" boolean, cycle text, duedate date, "periodStart" date, "anchorDay" smallint)
   where c.id = :id`,
);

/** Keeps what a change is about to change, for when its money goes back. */
export async function keepBefore(tx: TxContext, id: number, service: Terms): Promise<void> {
  const { productId, options, priceMinor, unitPrices, holdsStock: heldStock, cycle } = service;
  const { duedate, periodStart, anchorDay } = service;
  const terms = { productId, options, priceMinor, unitPrices, heldStock, cycle };
  await tx.db.run(writeBefore, { id, before: { ...terms, duedate, periodStart, anchorDay } });
}

/** A change that counts, with what was before it; null where that was not written down. */
export interface AppliedChange {
  id: number;
  organizationId: number;
  serviceId: number;
  productId: number;
  options: Record<string, unknown>;
  priceMinor: number;
  /** The day on which it began a period anew; null where it did not. */
  startsOn: string | null;
  before: Before | null;
  createdAt: Date;
  /** Whether another change has counted since, and whether one has begun the periods anew. */
  isFollowed: boolean;
  isOver: boolean;
}

const appliedOfInvoice = statement<AppliedChange, { invoiceId: number }>(
  'services.appliedChange',
  `select id, organization_id as "organizationId", service_id as "serviceId", product_id as "productId", options,
     price_minor as "priceMinor", starts_on as "startsOn", created_at as "createdAt",
     case when product_before is not null then jsonb_build_object('productId', product_before,
       'options', options_before, 'priceMinor', price_before_minor, 'unitPrices', unit_prices_before,
       'heldStock', held_stock_before, 'cycle', cycle_before, 'duedate', duedate_before,
       'periodStart', period_start_before, 'anchorDay', anchor_before) end as before,
     exists (select 1 from service_changes l where l.service_id = c.service_id and l.state = 'applied'
       and l.created_at > c.created_at) as "isFollowed",
     exists (select 1 from service_changes l where l.service_id = c.service_id and l.state = 'applied'
       and l.starts_on is not null and l.created_at > c.created_at) as "isOver"
   from service_changes c where state = 'applied' and invoice_id = :invoiceId`,
);

export function findAppliedChange(ctx: Context, invoiceId: number): Promise<AppliedChange | null> {
  return ctx.db.maybe(appliedOfInvoice, { invoiceId });
}

const begunAnew = statement<{ is_so: boolean }, { serviceId: number }>(
  'services.hasBegunAnew',
  `select exists (select 1 from service_changes where service_id = :serviceId and state = 'applied'
     and starts_on is not null) as is_so`,
);

/** Whether the periods of a service began anew with a change. */
export async function hasBegunAnew(ctx: Context, serviceId: number): Promise<boolean> {
  return (await ctx.db.one(begunAnew, { serviceId })).is_so;
}

const setAnchor = statement<never, { id: number; anchorDay: number | null }>(
  'services.returnAnchor',
  'update services set anchor_day = :anchorDay where id = :id',
);

/** Periods begin on the day of the month on which they did before a change; the service's row is locked. */
export async function returnAnchor(tx: TxContext, id: number, anchorDay: number | null): Promise<void> {
  await tx.db.run(setAnchor, { id, anchorDay });
}

const setBefore = statement<
  never,
  { id: number; productId: number; priceMinor: number; unitPrices: Lots; holdsStock: boolean }
>(
  'services.returnProduct',
  `update services set product_id = :productId, price_minor = :priceMinor, unit_prices = :unitPrices,
     holds_stock = :holdsStock where id = :id`,
);

/** A service is the product again that it was; its row is locked. */
export async function returnProduct(
  tx: TxContext,
  id: number,
  { productId, priceMinor, unitPrices }: Before,
  holdsStock: boolean,
): Promise<void> {
  await tx.db.run(setBefore, { id, productId, priceMinor, unitPrices, holdsStock });
}

const moveScheduled = statement<never, { serviceId: number; day: string }>(
  'services.moveScheduledChange',
  `update service_changes set effective_on = least(effective_on, :day::date)
   where service_id = :serviceId and state = 'scheduled'`,
);

/** The period that runs ends earlier than it did: what waits for its end counts from then on. */
export async function movePeriodEnd(tx: TxContext, serviceId: number, day: string): Promise<void> {
  await tx.db.run(moveScheduled, { serviceId, day });
}
