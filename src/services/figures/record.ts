import { cycles, monthsOf } from '../../catalog/index.ts';
import { dayOf, type PeriodicJob, statement, type TxContext } from '../../platform/index.ts';

// What a service brings a month: its price over the months that it is for, rounded half up. It brings nothing before it is
// delivered and after it has ended; one that is suspended is still its customer's.
const note = statement<
  { noted: number },
  { cycles: string[]; months: number[]; today: string; limit: number }
>(
  'services.noteRecurring',
  `with changed as (
     select s.id, s.organization_id, s.currency, coalesce(r.minor, 0) as was, n.minor as is,
       greatest(r.changed_on, least(:today::date, case
         when r.service_id is null then (select min(p.starts_on) from service_periods p where p.service_id = s.id)
         when s.status = 'terminated' then (s.terminated_at at time zone 'UTC')::date end)) as day
     from services s join unnest(:cycles::text[], :months::int[]) as c(cycle, months) on c.cycle = s.cycle
     cross join lateral (select case when s.status in ('active', 'suspended')
       then (s.price_minor * 2 + c.months) / (2 * c.months) else 0 end as minor) n
     left join recurring_revenue r on r.service_id = s.id
     where n.minor <> coalesce(r.minor, 0) order by s.id limit :limit),
   kept as (
     insert into recurring_revenue as r (service_id, organization_id, currency, minor, changed_on)
     select id, organization_id, currency, "is", day from changed
     on conflict (service_id) do update set minor = excluded.minor, changed_on = excluded.changed_on),
   told as (
     insert into recurring_changes (service_id, organization_id, currency, counts_on, kind, minor)
     select id, organization_id, currency, day, case when was = 0 then 'new' when "is" = 0 then 'lost'
       when "is" > was then 'expanded' else 'contracted' end, abs("is" - was) from changed)
   select count(*)::int as noted from changed`,
);

const atOnce = 20_000;

/**
 * Notes what services bring a month since it was noted last, so that months can be told apart: each change is of its own day
 * as far as the service says which that is, and of today otherwise.
 */
export const notingRecurring: PeriodicJob = {
  name: 'services.noteRecurring',
  intervalMs: 300_000,
  work: noteRecurring,
};

async function noteRecurring(tx: TxContext): Promise<'more' | 'done'> {
  const { noted } = await tx.db.one(note, {
    cycles: [...cycles],
    months: cycles.map((cycle) => monthsOf[cycle]),
    today: dayOf(tx.clock.now()),
    limit: atOnce,
  });
  return noted === atOnce ? 'more' : 'done';
}
