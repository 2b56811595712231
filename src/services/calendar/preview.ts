import { addDays, type Context, dayOf, fail, formatMoney, statement } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import type { Coming, Priced } from '../priceMoves/coming.ts';
import { comingOfService } from '../priceMoves/queries.ts';
import { renewalPrice } from '../renew/offer.ts';
import { type CalendarSettings, calendar, check } from '../settings.ts';
import { type Foreseen, foresee } from './foresee.ts';
import { type AskedBy, askedBy, type CalendarRow, rowsWhere, situationOf } from './row.ts';
import type { Step } from './schedule.ts';
import { daysAhead } from './work.ts';

const daysForeseen = 30;
const servicesAtOnce = 500;

// By the index on due dates; what was renewed meanwhile has left the calendar, whatever its row says.
const rowsNear = statement<
  CalendarRow,
  AskedBy & { until: string; afterDay: string; afterId: number; limit: number }
>(
  'services.foreseen',
  rowsWhere(
    'c.service_id = s.id and c.due_on = s.duedate',
    `s.status in ('active', 'suspended') and s.duedate <= :until::date
       and (s.duedate, s.id) > (:afterDay::date, :afterId::bigint)
     order by s.duedate, s.id limit :limit`,
  ),
);

interface PricedRow extends Priced {
  id: number;
  coming: Coming[] | null;
  scheduled: Pick<Priced, 'priceMinor' | 'unitPrices'> | null;
  /** What its customer has asked an invoice for already, which is the calendar's then. */
  askedMinor: number | null;
}

const pricedRows = statement<PricedRow, { ids: number[] }>(
  'services.pricesForeseen',
  `select s.id, s.cycle, s.price_minor as "priceMinor", s.options, s.unit_prices as "unitPrices",
     (${comingOfService('s.id')}) as coming,
     (select jsonb_build_object('priceMinor', c.price_minor, 'unitPrices', c.unit_prices) from service_changes c
      where c.service_id = s.id and c.state = 'scheduled') as scheduled,
     (select w.price_minor from service_renewals w where w.service_id = s.id and w.state = 'waiting') as "askedMinor"
   from services s where s.id = any(:ids::bigint[])`,
);

/** What the invoices that are going to be issued ask for, by service. */
async function pricesOf(ctx: Context, found: readonly (Foreseen & { row: CalendarRow })[]) {
  const invoiced = found.filter(({ step }) => step === 'invoice').map(({ row }) => row);
  if (invoiced.length === 0) return new Map<number, number>();
  const dueOn = new Map(invoiced.map(({ serviceId, duedate }) => [serviceId, duedate]));
  const services = await ctx.db.many(pricedRows, { ids: [...dueOn.keys()] });
  return new Map(
    services.map(({ id, coming, scheduled, askedMinor, ...service }) => [
      id,
      askedMinor ?? renewalPrice(service, scheduled, coming ?? [], dueOn.get(id) ?? ''),
    ]),
  );
}

/**
 * What the calendar would do in the next thirty days and to whom, by the rule that does it: for services in the order in
 * which they are due, so many at once. With `changes` as if those were the settings. `after` is a cursor of an earlier answer.
 */
export async function previewCalendar(ctx: Context, changes: Partial<CalendarSettings>, after?: string) {
  const settings = { ...(await readSettings(ctx, calendar)), ...changes };
  const problem = check(settings);
  if (problem !== null) {
    throw fail('invalid_request', {
      details: [{ field: `calendar.${problem.field}`, message: problem.message }],
    });
  }
  const today = dayOf(ctx.clock.now());
  const until = addDays(today, daysForeseen);
  const [afterDay = '0001-01-01', afterId = '0'] = after?.split('_') ?? [];
  const place = { afterDay, afterId: Number(afterId), limit: servicesAtOnce };
  const asked = { ...askedBy(ctx), until: addDays(until, daysAhead(settings)), ...place };
  const rows = await ctx.db.many(rowsNear, asked);
  const found = rows.flatMap((row) =>
    foresee(situationOf(row), settings, today, until).map((each) => ({ ...each, row })),
  );
  const prices = await pricesOf(ctx, found);
  const last = rows.length === servicesAtOnce ? rows.at(-1) : undefined;
  return {
    from: today,
    until,
    counts: countsOf(found),
    steps: found.toSorted((one, other) => one.on.localeCompare(other.on)).map((each) => view(each, prices)),
    next_cursor: last === undefined ? null : `${last.duedate}_${last.serviceId}`,
  };
}

function countsOf(found: readonly Foreseen[]) {
  const counts: Partial<Record<Step, number>> = {};
  for (const { step } of found) counts[step] = (counts[step] ?? 0) + 1;
  return counts;
}

function view({ on, step, row }: Foreseen & { row: CalendarRow }, prices: ReadonlyMap<number, number>) {
  const asked = step === 'invoice' ? prices.get(row.serviceId) : undefined;
  return {
    on,
    step,
    service: {
      id: row.serviceId,
      product: row.product,
      hostname: row.hostname,
      status: row.status,
      duedate: row.duedate,
      price: formatMoney(asked ?? row.priceMinor, row.currency),
      currency: row.currency,
    },
    organization_id: row.organizationId,
    invoice_id: row.invoiceId,
    promised_until: row.promisedUntil,
    problem: row.problem,
  };
}
