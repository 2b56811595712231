import {
  addMonths,
  type Cycle,
  cycles,
  findProducts,
  isCycle,
  monthlyOf,
  monthsOf,
  type Product,
} from '../../catalog/index.ts';
import { type Context, dayOf, fail, requireExact } from '../../platform/index.ts';
import { type Coming, countingOn, isUntold, nextOf, type Priced, priceWith } from '../priceMoves/coming.ts';
import { comingOf } from '../priceMoves/queries.ts';
import type { Terms } from '../terms.ts';
import { type Change, findChange } from '../upgrade/queries.ts';
import { whatKeeps } from '../upgrade/underWay.ts';

/** What one more period of a service is: how long, for how much, from when to when. */
export interface Offer {
  cycle: Cycle;
  priceMinor: number;
  /** The first day that is not paid for yet. */
  startsOn: string;
  /** The due date once it is paid. */
  endsOn: string;
  /** The move that this price is of; null: what the service costs without one. */
  priceMoveId: number | null;
  /** What such a period costs once a move counts that its customer was told of; null: none, or it counts already. */
  comingMinor: number | null;
}

/** Nobody pays ahead for longer: prices and rates of so far ahead are not ours to promise. */
const mostYearsAhead = 10;

/**
 * The cycles that a service can be renewed for, the shortest first; none before it was delivered, and none so far ahead that a
 * new price may reach it of which its customer is still to be told.
 */
export async function offersOf(ctx: Context, service: Terms): Promise<Offer[]> {
  const product = (await findProducts(ctx, [service.productId])).get(service.productId);
  const scheduled = await scheduledFor(ctx, service);
  const terms = termsThen(service, scheduled);
  // What it becomes was bought at a price of its own, for a period as long as this one, and for no other.
  const coming = scheduled === null ? await comingOf(ctx, service.id) : [];
  if (isUntoldFor(ctx, service, coming)) return [];
  const sold = cycles.filter((cycle) => scheduled === null || cycle === service.cycle);
  return sold.flatMap((cycle) => offerOf(ctx, { product, service: terms, coming }, cycle) ?? []);
}

/**
 * One more period of that length; `invalid_configuration` when the product is not sold so, `conflict` for over ten years, for
 * what a new price may reach of which its customer is still to be told, and for another cycle while a change of product waits
 * for its day.
 */
export async function requireOffer(ctx: Context, service: Terms, cycle: string): Promise<Offer> {
  const offers = await offersOf(ctx, service);
  const found = offers.find((offer) => offer.cycle === cycle);
  if (found !== undefined) return found;
  const scheduled = await scheduledFor(ctx, service);
  if (scheduled === null && isUntoldFor(ctx, service, await comingOf(ctx, service.id))) {
    const message = `What the service costs from ${service.duedate} on is about to change, and you are told of it by mail; renew it for then once that was sent`;
    throw fail('conflict', { message });
  }
  if (service.duedate !== null && offers.length === 0) {
    throw fail('conflict', {
      message: `The service is paid until ${service.duedate}; nobody pays more than ${mostYearsAhead} years ahead`,
    });
  }
  if (scheduled !== null && isCycle(cycle)) {
    const message =
      (await whatKeeps(ctx, scheduled.effectiveOn)) ??
      `The service becomes another product on ${scheduled.effectiveOn}; renew it ${service.cycle}, or for another cycle from that day on`;
    throw fail('conflict', { message });
  }
  const sold = offers.map((offer) => offer.cycle).join(', ');
  throw fail('invalid_configuration', {
    details: [{ field: 'cycle', message: `${service.productName} can be renewed ${sold}` }],
  });
}

function isUntoldFor(ctx: Context, { duedate }: Terms, coming: readonly Coming[]): boolean {
  return duedate !== null && isUntold(coming, duedate, dayOf(ctx.clock.now()));
}

/** The change of product that waits for its day; null without one. */
async function scheduledFor(ctx: Context, service: Terms): Promise<Change | null> {
  const change = await findChange(ctx, { serviceId: service.id });
  return change?.state === 'scheduled' ? change : null;
}

/** What it will be by then: what waits for its day changes the price of the periods after it. */
function termsThen<Service extends Priced>(
  service: Service,
  change: Pick<Change, 'priceMinor' | 'unitPrices'> | null,
): Service {
  if (change === null) return service;
  const { priceMinor, unitPrices } = change;
  return { ...service, priceMinor, unitPrices };
}

interface Offered {
  product: Product | undefined;
  service: Terms;
  coming: Coming[];
}

function offerOf(ctx: Context, { product, service, coming }: Offered, cycle: Cycle): Offer | null {
  const { duedate: startsOn, anchorDay } = service;
  if (startsOn === null) return null;
  const counting = countingOn(coming, startsOn);
  const priceMinor = priceFor(product, service, cycle, counting);
  if (priceMinor === null) return null;
  const endsOn = addMonths(startsOn, monthsOf[cycle], anchorDay);
  const today = dayOf(ctx.clock.now());
  if (endsOn > addMonths(today, mostYearsAhead * 12)) return null;
  const next = nextOf(
    coming.filter(({ moveId }) => moveId > (counting?.moveId ?? 0)),
    today,
  );
  const comingMinor = next === null ? null : (priceWith(next, service, cycle) ?? priceMinor);
  return { cycle, priceMinor, startsOn, endsOn, priceMoveId: counting?.moveId ?? null, comingMinor };
}

/**
 * The price of a period. In its own cycle a service keeps its price, whatever the catalogue says today, until a move of
 * prices counts that its customer was told of; in another one the cycle is what it costs today, and the units beyond it
 * what they were sold for, or cost by such a move.
 */
function priceFor(
  product: Product | undefined,
  service: Terms,
  cycle: Cycle,
  counting: Coming | null,
): number | null {
  if (cycle === service.cycle) return ownPrice(service, counting);
  const price = product?.prices.find((sold) => sold.cycle === cycle);
  return price === undefined
    ? null
    : requireExact(
        price.priceMinor +
          requireExact(monthlyOf(counting?.unitPrices ?? service.unitPrices) * monthsOf[cycle]),
      );
}

function ownPrice(service: Priced, counting: Coming | null): number | null {
  return counting === null ? service.priceMinor : priceWith(counting, service);
}

/**
 * What one more period as long as its own costs a service that begins on that day, by the rule of {@link offersOf}: with the
 * change that waits for its day, and otherwise with the prices that are coming.
 */
export function renewalPrice(
  service: Priced,
  scheduled: Pick<Change, 'priceMinor' | 'unitPrices'> | null,
  coming: readonly Coming[],
  startsOn: string,
): number {
  const counting = scheduled === null ? countingOn(coming, startsOn) : null;
  return ownPrice(termsThen(service, scheduled), counting) ?? service.priceMinor;
}

/** How many per cent less a month costs than with the shortest cycle on offer, rounded down; never negative. */
export function discountPercent(offer: Offer, shortest: Offer): number {
  const perMonth = BigInt(offer.priceMinor) * BigInt(monthsOf[shortest.cycle]);
  const compared = BigInt(shortest.priceMinor) * BigInt(monthsOf[offer.cycle]);
  if (compared <= perMonth) return 0;
  return Number(((compared - perMonth) * 100n) / compared);
}
