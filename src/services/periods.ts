import { type Context, statement, type TxContext } from '../platform/index.ts';
import { addDays, daysBetween } from './calendar/schedule.ts';

/** The time that an invoice paid for of a service: from its first day to the first one after it. */
export interface Period {
  invoiceId: number;
  startsOn: string;
  endsOn: string;
}

const insertPeriod = statement<never, Period & { serviceId: number }>(
  'services.insertPeriod',
  `insert into service_periods (service_id, invoice_id, organization_id, starts_on, ends_on)
   select s.id, :invoiceId, s.organization_id, :startsOn, :endsOn from services s where s.id = :serviceId
   on conflict (service_id, invoice_id) do nothing`,
);
/** The days of a period that began anew with a change of product. */
type Days = Omit<Period, 'invoiceId'>;

// Of renewals and changes it is known which came first; of orders and of more of something their days tell.
const periodsOfService = statement<Period & { anew: Days[] }, { serviceId: number }>(
  'services.periods',
  `select p.invoice_id as "invoiceId", p.starts_on as "startsOn", p.ends_on as "endsOn", coalesce(
     (select jsonb_agg(jsonb_build_object('startsOn', c.starts_on, 'endsOn', c.ends_on) order by c.created_at)
      from service_changes c
      where c.service_id = p.service_id and c.state = 'applied' and c.starts_on is not null
        and c.invoice_id <> p.invoice_id
        and case when r.invoice_id is null and o.invoice_id is null
          then p.starts_on <= c.starts_on and p.ends_on <> c.ends_on
          else c.created_at > coalesce(r.created_at, o.created_at) end), '[]') as anew
   from service_periods p
   left join service_renewals r on r.invoice_id = p.invoice_id and r.service_id = p.service_id
   left join service_changes o on o.invoice_id = p.invoice_id and o.service_id = p.service_id
   where p.service_id = :serviceId order by p.starts_on, p.invoice_id`,
);

/** Keeps which time was paid for by an invoice; once for each. */
export async function writePeriod(tx: TxContext, serviceId: number, period: Period): Promise<void> {
  await tx.db.run(insertPeriod, { serviceId, ...period });
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
const setPeriod = statement<never, Period & { serviceId: number }>(
  'services.setPeriod',
  `update service_periods set starts_on = :startsOn, ends_on = :endsOn
   where service_id = :serviceId and invoice_id = :invoiceId`,
);

/** An invoice paid for no time after all. */
export async function dropPeriod(tx: TxContext, serviceId: number, invoiceId: number): Promise<void> {
  await tx.db.run(deletePeriod, { serviceId, invoiceId });
}

/** The time that an invoice paid for is another one than it was. */
export async function movePeriod(tx: TxContext, serviceId: number, period: Period): Promise<void> {
  await tx.db.run(setPeriod, { serviceId, ...period });
}
