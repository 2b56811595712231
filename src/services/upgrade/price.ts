import type { Lots } from '../../catalog/index.ts';
import {
  addMonths,
  type Coupon,
  type Cycle,
  discountOf,
  isCycle,
  monthsOf,
  type Product,
  priceOf,
} from '../../catalog/index.ts';
import { type Context, dayOf, fail, requireExact } from '../../platform/index.ts';
import { prorate, prorateRise, type Remaining, remainingOf } from '../prorate.ts';
import type { Terms } from '../terms.ts';

/** A period of another length, which begins with a change: on the day on which it is asked for, whenever it is paid. */
export interface NewPeriod {
  cycle: Cycle;
  startsOn: string;
  endsOn: string;
}

/** What a service costs as another product. */
export interface Priced {
  product: Product;
  /** All options afterwards. */
  options: Record<string, unknown>;
  newPriceMinor: number;
  lots: Lots;
  /** Due now for the days that remain, before a coupon and tax. */
  chargeMinor: number;
  /** What those days were worth so far; it is off the charge already. */
  creditMinor: number;
  discountMinor: number;
  /** Null: the period that runs goes on. */
  period: NewPeriod | null;
}

interface Wanted {
  coupon?: Coupon | null;
  cycle?: string | undefined;
  /** What was paid for the days that remain: more than that is never taken off a new period. See `../paidAhead.ts`. */
  paidAheadMinor: number;
}

/**
 * Prices the change of a service whose period runs, at today's prices. A change to what costs less gives nothing back:
 * what is paid is the customer's to use or to lose. With another cycle a new period begins, of which what the days that
 * remain are worth is paid already; `invalid_configuration` when they are worth as much as all of it.
 */
export function priceChange(
  ctx: Context,
  service: Terms & { duedate: string },
  { product, options }: Pick<Priced, 'product' | 'options'>,
  { coupon = null, cycle = service.cycle, paidAheadMinor }: Wanted,
): Priced {
  const { cycle: before, duedate: dueDate, periodStart, anchorDay } = service;
  if (!isCycle(before) || !isCycle(cycle)) throw new Error(`there is no cycle ${before} or ${cycle}`);
  const price = priceOf(product, cycle, options);
  if (price === null) throw new Error(`${product.name} is not sold ${cycle}`);
  const newPriceMinor = requireExact(price.recurringMinor);
  const today = dayOf(ctx.clock.now());
  const remaining = remainingOf({ today, dueDate, months: monthsOf[before], periodStart, anchorDay });
  const period =
    cycle === before ? null : { cycle, startsOn: today, endsOn: addMonths(today, monthsOf[cycle]) };
  const { chargeMinor, creditMinor } =
    period === null
      ? ofPeriodThatRuns(service.priceMinor, newPriceMinor, remaining)
      : ofNewPeriod(
          Math.min(requireExact(prorate(service.priceMinor, remaining)), paidAheadMinor),
          newPriceMinor,
          period,
        );
  const [discountMinor = 0] =
    coupon === null
      ? []
      : discountOf(coupon, service.currency, [{ productId: product.id, cycle, amountMinor: chargeMinor }]);
  return {
    product,
    options,
    newPriceMinor,
    lots: price.lots,
    chargeMinor,
    creditMinor,
    discountMinor,
    period,
  };
}

function ofPeriodThatRuns(beforeMinor: number, afterMinor: number, remaining: Remaining) {
  return {
    chargeMinor: requireExact(prorateRise(beforeMinor, afterMinor, remaining)),
    creditMinor: requireExact(prorate(Math.min(beforeMinor, afterMinor), remaining)),
  };
}

function ofNewPeriod(creditMinor: number, afterMinor: number, { cycle }: NewPeriod) {
  if (creditMinor < afterMinor) return { chargeMinor: afterMinor - creditMinor, creditMinor };
  // Nothing would be to pay, and what is more than the new period costs would be lost.
  const message = `the time that is paid for is worth as much as a period ${cycle}: change the product without a cycle, and have a period ${cycle} begin with a renewal (\`POST …/renew\`)`;
  throw fail('invalid_configuration', { details: [{ field: 'cycle', message }] });
}
