import { addDays, type Context, daysBetween, forMany, statement, type TxContext } from '../platform/index.ts';

/** The time that an invoice paid for of a service: from its first day to the first one after it. */
export interface Period {
  invoiceId: number;
  startsOn: string;
  endsOn: string;
  /** What of its price, before tax, went back with days that are no part of it any more. */
  netReturnedMinor?: number;
}

type Written = Pick<Period, 'invoiceId' | 'startsOn' | 'endsOn'>;

const insertPeriod = forMany(
  statement<never, Written & { serviceId: number; now: Date }>(
    'services.insertPeriod',
    `insert into service_periods (service_id, invoice_id, organization_id, starts_on, ends_on, written_at)
   select s.id, :invoiceId, s.organization_id, :startsOn, :endsOn, :now from services s where s.id = :serviceId
   on conflict (service_id, invoice_id) do nothing`,
  ),
  { invoiceId: 'bigint', startsOn: 'date', endsOn: 'date', serviceId: 'bigint', now: 'timestamptz' },
  (given) => `with given as materialized (select * from ${given}),
   written as (
     insert into service_periods (service_id, invoice_id, organization_id, starts_on, ends_on, written_at)
     select s.id, g."invoiceId", s.organization_id, g."startsOn", g."endsOn", g.now
     from given g join services s on s.id = g."serviceId"
     on conflict (service_id, invoice_id) do nothing returning service_id, invoice_id)
   select given.nth_ from given
   join written on written.service_id = given."serviceId" and written.invoice_id = given."invoiceId"`,
);
/** The days of a period that began anew with a change of product. */
type Days = Pick<Period, 'startsOn' | 'endsOn'>;

// It is known which came first: of renewals and changes by when they were asked for, and of what was paid since that is
// written down by when it counted. Of what is older their days tell.
const periodsOfService = statement<
  Period & { netReturnedMinor: number; anew: Days[] },
  { serviceId: number }
>(
  'services.periods',
  `select p.invoice_id as "invoiceId", p.starts_on as "startsOn", p.ends_on as "endsOn",
     p.net_returned_minor as "netReturnedMinor", coalesce(
     (select jsonb_agg(jsonb_build_object('startsOn', c.starts_on, 'endsOn', c.ends_on) order by c.created_at)
      from service_changes c
      where c.service_id = p.service_id and c.state = 'applied' and c.starts_on is not null
        and c.invoice_id <> p.invoice_id
        and case when r.invoice_id is not null or o.invoice_id is not null
          then c.created_at > coalesce(r.created_at, o.created_at)
          when p.written_at is not null then c.created_at >= p.written_at
          else p.starts_on <= c.starts_on and p.ends_on <> c.ends_on end), '[]') as anew
   from service_periods p
   left join service_renewals r on r.invoice_id = p.invoice_id and r.service_id = p.service_id
   left join service_changes o on o.invoice_id = p.invoice_id and o.service_id = p.service_id
   where p.service_id = :serviceId order by p.starts_on, p.invoice_id`,
);

/** Keeps which time was paid for by an invoice; once for each. */
export async function writePeriod(tx: TxContext, serviceId: number, period: Written): Promise<void> {
  await tx.db.run(insertPeriod, { serviceId, ...period, now: tx.clock.now() });
}

/** The time over which what was paid for a service is used up, by invoice: see {@link carried}. */
export async function periodsOf(ctx: Context, serviceId: number): Promise<Period[]> {
  const periods = await ctx.db.many(periodsOfService, { serviceId });
  return periods.map(({ anew, ...period }) => anew.reduce(carried, period));
}

/**
 * A period after another one began anew, of whose price what was left of it paid a part: that is used up by the days of the
 * new one, and no more by its own. So it is given back as a period of which as large a part is left, rounded down, and
 * which ends with the new one.
 */
export function carried(period: Period, anew: Days): Period {
  const days = daysBetween(period.startsOn, period.endsOn);
  const left = Math.min(days, daysBetween(anew.startsOn, period.endsOn));
  if (left <= 0) return period;
  const longer = Math.ceil((daysBetween(anew.startsOn, anew.endsOn) * days) / left);
  return { ...period, startsOn: addDays(anew.endsOn, -longer), endsOn: anew.endsOn };
}

const deletePeriod = statement<never, { serviceId: number; invoiceId: number }>(
  'services.deletePeriod',
  'delete from service_periods where service_id = :serviceId and invoice_id = :invoiceId',
);
const setPeriod = statement<never, Written & { serviceId: number }>(
  'services.setPeriod',
  `update service_periods set starts_on = :startsOn, ends_on = :endsOn
   where service_id = :serviceId and invoice_id = :invoiceId`,
);

/** An invoice paid for no time after all. */
export async function dropPeriod(tx: TxContext, serviceId: number, invoiceId: number): Promise<void> {
  await tx.db.run(deletePeriod, { serviceId, invoiceId });
}

/** The time that an invoice paid for is another one than it was. */
export async function movePeriod(tx: TxContext, serviceId: number, period: Written): Promise<void> {
  await tx.db.run(setPeriod, { serviceId, ...period });
}

const periodOfInvoice = statement<Written, { serviceId: number; invoiceId: number }>(
  'services.periodOfInvoice',
  `select invoice_id as "invoiceId", starts_on as "startsOn", ends_on as "endsOn" from service_periods
   where service_id = :serviceId and invoice_id = :invoiceId`,
);
const beyond = statement<Written & { netReturnedMinor: number }, { serviceId: number; day: string }>(
  'services.upgradesBeyond',
  `select p.invoice_id as "invoiceId", p.starts_on as "startsOn", p.ends_on as "endsOn",
     p.net_returned_minor as "netReturnedMinor"
   from service_periods p join services s on s.id = p.service_id
   where p.service_id = :serviceId and p.ends_on > :day::date and p.invoice_id <> s.invoice_id
     and not exists (select 1 from service_renewals r where r.invoice_id = p.invoice_id)
     and not exists (select 1 from service_changes c where c.invoice_id = p.invoice_id and c.starts_on is not null)
   order by p.invoice_id`,
);
const cut = statement<never, { serviceId: number; invoiceId: number; endsOn: string; netMinor: number }>(
  'services.cutPeriod',
  `update service_periods set ends_on = :endsOn, net_returned_minor = net_returned_minor + :netMinor
   where service_id = :serviceId and invoice_id = :invoiceId`,
);

/** The time that an invoice paid for; null where it paid for none. */
export function findPeriod(ctx: Context, serviceId: number, invoiceId: number): Promise<Written | null> {
  return ctx.db.maybe(periodOfInvoice, { serviceId, invoiceId });
}

const written = statement<Written, { serviceId: number }>(
  'services.writtenPeriods',
  `select invoice_id as "invoiceId", starts_on as "startsOn", ends_on as "endsOn" from service_periods
   where service_id = :serviceId order by starts_on, invoice_id`,
);

/** The time that each invoice was for, whatever began anew since. */
export function writtenPeriods(ctx: Context, serviceId: number): Promise<Written[]> {
  return ctx.db.many(written, { serviceId });
}

/** Upgrades that were paid for days from that one on, in periods that other invoices paid for. */
export function upgradesBeyond(ctx: Context, serviceId: number, day: string) {
  return ctx.db.many(beyond, { serviceId, day });
}

/** Days at the end of what an invoice paid for are none of it any more, and so much of its price went back, before tax. */
export async function cutPeriod(
  tx: TxContext,
  serviceId: number,
  left: { invoiceId: number; endsOn: string; netMinor: number },
): Promise<void> {
  await tx.db.run(cut, { serviceId, ...left });
}
