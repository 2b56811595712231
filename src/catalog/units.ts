import { requireExact } from '../platform/index.ts';
import type { Options } from './options.ts';
import type { Option, Product } from './products.ts';

/** Units of an option that were sold together, at one price a month each. As it stands in the database. */
export interface Lot {
  units: number;
  price_minor: number;
}

/** What was paid for beyond the price of the cycle, by option key; the oldest lot of each stands first. */
export type Lots = Record<string, Lot[]>;

/** What a configuration consists of at today's prices. */
export function lotsOf(product: Pick<Product, 'options'>, options: Options): Lots {
  return Object.fromEntries(
    product.options
      .map((option) => [option.key, lotsOfOption(option, options[option.key])] as const)
      .filter(([, lots]) => lots.length > 0),
  );
}

function lotsOfOption(option: Option, value: unknown): Lot[] {
  if (option.kind === 'choice') {
    const choice = option.choices.find((known) => known.value === value);
    return choice === undefined ? [] : [{ units: 1, price_minor: choice.priceMinor }];
  }
  return typeof value === 'number' && value > option.min
    ? [{ units: value - option.min, price_minor: option.unitPriceMinor }]
    : [];
}

/** A month's price of all lots; `amount_too_large` for more than can be counted to the cent. */
export function monthlyOf(lots: Lots): number {
  return Object.values(lots)
    .flat()
    .reduce((sum, lot) => requireExact(sum + lot.units * lot.price_minor), 0);
}

/**
 * What a configuration consists of after a change: what is added is sold at today's price, and what is given up
 * goes at the price it was sold at, the newest first. So a change that is taken back restores the price exactly,
 * whatever the catalogue says meanwhile.
 */
export function changeLots(product: Product, lots: Lots, before: Options, after: Options): Lots {
  const changed = { ...lots };
  for (const option of product.options) {
    const [was, is] = [before[option.key], after[option.key]];
    if (was === is) continue;
    const held = lots[option.key] ?? [];
    const isNumber = option.kind === 'integer' && typeof was === 'number' && typeof is === 'number';
    if (!isNumber) changed[option.key] = lotsOfOption(option, is);
    else if (is > was)
      changed[option.key] = [...held, { units: is - was, price_minor: option.unitPriceMinor }];
    else changed[option.key] = takeNewest(held, was - is);
  }
  return changed;
}

/**
 * The same change to lots of other prices: what is added was sold at the price that stands in `sold`, the lots after the
 * change, and what is given up goes from the newest. So what is announced for a service follows what its customer does.
 */
export function followLots(
  lots: Lots,
  { before, changes, sold }: { before: Options; changes: Options; sold: Lots },
): Lots {
  const followed = { ...lots };
  for (const [key, is] of Object.entries(changes)) {
    const was = before[key];
    if (was === is) continue;
    const newest = sold[key] ?? [];
    if (typeof was !== 'number' || typeof is !== 'number') followed[key] = newest;
    else if (is > was) followed[key] = [...(lots[key] ?? []), ...newest.slice(-1)];
    else followed[key] = takeNewest(lots[key] ?? [], was - is);
  }
  return followed;
}

/** Units below the minimum of their time were part of the cycle's price: nothing comes off for them. */
function takeNewest(lots: Lot[], count: number): Lot[] {
  const kept = [...lots];
  for (let left = count; left > 0; ) {
    const newest = kept.pop();
    if (newest === undefined) break;
    if (newest.units > left) kept.push({ ...newest, units: newest.units - left });
    left -= newest.units;
  }
  return kept;
}

/**
 * The price of a period after such a change. It is never below what the units that stay were sold for, also when
 * somebody lowered the price by hand; a change that adds nothing never raises it. `amount_too_large`.
 */
export function changedPrice(priceMinor: number, before: Lots, after: Lots, months: number): number {
  const afterMinor = requireExact(monthlyOf(after) * months);
  const differenceMinor = afterMinor - requireExact(monthlyOf(before) * months);
  if (differenceMinor >= 0) return requireExact(priceMinor + differenceMinor);
  return Math.min(priceMinor, Math.max(priceMinor + differenceMinor, afterMinor));
}
