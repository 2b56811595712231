import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Price, priceOf } from './configure.ts';
import type { Product } from './products.ts';
import { changedPrice, changeLots, type Lots, lotsOf, monthlyOf } from './units.ts';

const unit = fc.integer({ min: 0, max: 5_000 });
const months = 3;

/** A product of two counted options and a choice, at some prices of the day. */
function productAt(first: number, second: number, choice: number): Product {
  const counted = { label: '', kind: 'integer' as const, min: 1, max: 50, step: 1, required: true };
  return {
    id: 1,
    type: 'Hosting',
    moduleId: 2,
    group: { id: 1, name: '' },
    name: '',
    description: '',
    currency: 'EUR',
    stock: null,
    servers: null,
    traffic: null,
    status: 'active',
    downgrade: 'now',
    position: 1,
    retiredOptions: [],
    updatedAt: new Date(0),
    prices: [{ cycle: 'quarterly', priceMinor: 900, setupFeeMinor: 0 }],
    options: [
      { ...counted, key: 'option1', name: 'one', unitPriceMinor: first },
      { ...counted, key: 'option2', name: 'two', unitPriceMinor: second },
      {
        ...{ key: 'option7', name: 'speed', label: '', kind: 'choice', required: true },
        choices: [
          { value: 'slow', label: '', priceMinor: 0 },
          { value: 'fast', label: '', priceMinor: choice },
        ],
      },
    ],
  };
}

const product = fc.tuple(unit, unit, unit).map((prices) => productAt(...prices));
const options = fc.record({
  option1: fc.integer({ min: 1, max: 50 }),
  option2: fc.integer({ min: 1, max: 50 }),
  option7: fc.constantFrom('slow', 'fast'),
});
/** Changes one after the other, each on a day with prices of its own. */
const changes = fc.array(fc.tuple(product, options), { maxLength: 8 });

function priceNow(at: Product, chosen: object): Price {
  const price = priceOf(at, 'quarterly', { ...chosen });
  if (price === null) throw new Error('it is sold quarterly');
  return price;
}

interface Sold {
  options: Record<string, unknown>;
  lots: Lots;
  priceMinor: number;
}

function sell(at: Product, chosen: Record<string, unknown>): Sold {
  return { options: chosen, lots: lotsOf(at, chosen), priceMinor: priceNow(at, chosen).recurringMinor };
}

function change(at: Product, sold: Sold, chosen: Record<string, unknown>): Sold {
  const lots = changeLots(at, sold.lots, sold.options, chosen);
  return { options: chosen, lots, priceMinor: changedPrice(sold.priceMinor, sold.lots, lots, months) };
}

describe('prices paid per unit', () => {
  it('make up the price with the price of the cycle, whatever was changed at which prices', () => {
    fc.assert(
      fc.property(product, options, changes, (first, chosen, later) => {
        let sold = sell(first, chosen);
        for (const [at, next] of later) {
          sold = change(at, sold, next);
          expect(sold.priceMinor).toBe(900 + monthlyOf(sold.lots) * months);
          for (const key of ['option1', 'option2']) {
            const units = (sold.lots[key] ?? []).reduce((sum, lot) => sum + lot.units, 0);
            expect(units).toBe(Number(sold.options[key]) - 1);
          }
        }
      }),
    );
  });

  it('come back exactly when more is taken and given up again, and never less than before', () => {
    fc.assert(
      fc.property(product, product, product, options, options, (first, up, down, chosen, more) => {
        const sold = sell(first, { ...chosen, option7: 'slow' });
        const larger = {
          option1: Math.max(chosen.option1, more.option1),
          option2: Math.max(chosen.option2, more.option2),
          option7: more.option7,
        };
        const back = change(down, change(up, sold, larger), sold.options);
        expect(back.priceMinor).toBe(sold.priceMinor);
      }),
    );
  });

  it('are never undercut by a price that somebody lowered by hand, and it never gets negative', () => {
    fc.assert(
      fc.property(product, options, fc.nat(200_000), changes, (first, chosen, lowered, later) => {
        const bought = sell(first, chosen);
        let sold = { ...bought, priceMinor: Math.min(bought.priceMinor, lowered) };
        for (const [at, next] of later) {
          const before = sold;
          sold = change(at, before, next);
          expect(sold.priceMinor).toBeGreaterThanOrEqual(0);
          const remaining = monthlyOf(sold.lots) * months;
          expect(sold.priceMinor).toBeGreaterThanOrEqual(Math.min(before.priceMinor, remaining));
        }
      }),
    );
  });

  it('do not follow the catalogue: a unit that got dearer takes off what it was sold for', () => {
    const sold = sell(productAt(200, 0, 0), { option1: 3, option2: 1, option7: 'slow' });
    const smaller = change(productAt(5_000, 0, 0), sold, { ...sold.options, option1: 2 });
    expect([sold.priceMinor, smaller.priceMinor]).toEqual([900 + 1_200, 900 + 600]);
  });
});
