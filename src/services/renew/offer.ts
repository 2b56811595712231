import {
  addMonths,
  type Cycle,
  cycles,
  findProducts,
  monthlyOf,
  monthsOf,
  type Product,
} from '../../catalog/index.ts';
import { type Context, fail, requireExact } from '../../platform/index.ts';
import type { Terms } from '../terms.ts';
import { type Change, findChange } from '../upgrade/queries.ts';

/** What one more period of a service is: how long, for how much, from when to when. */
export interface Offer {
  cycle: Cycle;
  priceMinor: number;
  /** The first day that is not paid for yet. */
  startsOn: string;
  /** The due date once it is paid. */
  endsOn: string;
}

/** Nobody pays ahead for longer: prices and rates of so far ahead are not ours to promise. */
const mostYearsAhead = 10;

/** The cycles that a service can be renewed for, the shortest first; none before it was delivered. */
export async function offersOf(ctx: Context, service: Terms): Promise<Offer[]> {
  const product = (await findProducts(ctx, [service.productId])).get(service.productId);
  const scheduled = await findChange(ctx, { serviceId: service.id });
  return cycles.flatMap((cycle) => offerOf(ctx, product, termsThen(service, scheduled), cycle) ?? []);
}

/** One more period of that length; `invalid_configuration` when the product is not sold so, `conflict` for over ten years. */
export async function requireOffer(ctx: Context, service: Terms, cycle: string): Promise<Offer> {
  const offers = await offersOf(ctx, service);
  const found = offers.find((offer) => offer.cycle === cycle);
  if (found !== undefined) return found;
  if (service.duedate !== null && offers.length === 0) {
    throw fail('conflict', {
      message: `The service is paid until ${service.duedate}; nobody pays more than ${mostYearsAhead} years ahead`,
    });
  }
  const sold = offers.map((offer) => offer.cycle).join(', ');
  throw fail('invalid_configuration', {
    details: [{ field: 'cycle', message: `${service.productName} can be renewed ${sold}` }],
  });
}

/** What it will be by then: what waits for its day changes the price of the periods after it. */
function termsThen(service: Terms, change: Change | null): Terms {
  if (change?.state !== 'scheduled') return service;
  const { priceMinor, unitPrices } = change;
  return { ...service, priceMinor, unitPrices };
}

function offerOf(ctx: Context, product: Product | undefined, service: Terms, cycle: Cycle): Offer | null {
  const { duedate: startsOn, anchorDay } = service;
  const priceMinor = priceFor(product, service, cycle);
  if (startsOn === null || priceMinor === null) return null;
  const endsOn = addMonths(startsOn, monthsOf[cycle], anchorDay);
  const today = ctx.clock.now().toISOString().slice(0, 10);
  return endsOn > addMonths(today, mostYearsAhead * 12) ? null : { cycle, priceMinor, startsOn, endsOn };
}

/**
 * The price of a period. In its own cycle a service keeps its price, whatever the catalogue says today; in another one
 * the cycle is what it costs today, and the units beyond it what they were sold for.
 */
function priceFor(product: Product | undefined, service: Terms, cycle: Cycle): number | null {
  if (cycle === service.cycle) return service.priceMinor;
  const price = product?.prices.find((sold) => sold.cycle === cycle);
  return price === undefined
    ? null
    : requireExact(price.priceMinor + requireExact(monthlyOf(service.unitPrices) * monthsOf[cycle]));
}

/** How many per cent less a month costs than with the shortest cycle on offer, rounded down; never negative. */
export function discountPercent(offer: Offer, shortest: Offer): number {
  const perMonth = BigInt(offer.priceMinor) * BigInt(monthsOf[shortest.cycle]);
  const compared = BigInt(shortest.priceMinor) * BigInt(monthsOf[offer.cycle]);
  if (compared <= perMonth) return 0;
  return Number(((compared - perMonth) * 100n) / compared);
}
