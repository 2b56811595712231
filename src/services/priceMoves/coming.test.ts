import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addMonths,
  type Cycle,
  changedPrice,
  changeLots,
  cycles,
  followLots,
  monthsOf,
  type Option,
} from '../../catalog/index.ts';
import { addDays } from '../../platform/index.ts';

import { type Coming, countingOn, firstRenewalOn, nextOf, priceWith, unitsToday } from './coming.ts';

const price = fc.integer({ min: 0, max: 5_000 });
const cycle = fc.constantFrom<Cycle>(...cycles);
const day = fc.integer({ min: 0, max: 3_000 }).map((days) => addDays('2027-01-01', days));

function optionsAt(unitPriceMinor: number, fastMinor: number): Option[] {
  const common = { label: '', name: '', required: true };
  return [
    { ...common, key: 'option1', kind: 'integer', min: 1, max: 50, step: 1, unitPriceMinor },
    {
      ...{ ...common, key: 'option7', kind: 'choice' },
      choices: [
        { value: 'slow', label: '', priceMinor: 0 },
        { value: 'fast', label: '', priceMinor: fastMinor },
      ],
    },
  ];
}

describe('what a service costs by a move', () => {
  it('is what an order of the same would cost by that catalogue, whatever it was bought for', () => {
    const units = fc.integer({ min: 1, max: 50 });
    fc.assert(
      fc.property(
        cycle,
        units,
        price,
        price,
        price,
        price,
        price,
        (each, count, was, unit, fast, base, own) => {
          const options = { option1: count, option7: 'fast' };
          const bought = unitsToday(
            { options: optionsAt(was, fast) },
            { cycle: each, priceMinor: 0, options, unitPrices: {} },
          );
          const service = { cycle: each, priceMinor: own, options, unitPrices: bought };
          const unitPrices = unitsToday({ options: optionsAt(unit, fast) }, service);
          const months = monthsOf[each];
          expect(priceWith({ cycles: { [each]: base }, unitPrices }, service)).toBe(
            base + ((count - 1) * unit + fast) * months,
          );
          // A cycle that is gone keeps its price; one that the service never had has none.
          expect(
            priceWith(
              { cycles: {}, unitPrices: bought },
              { ...service, priceMinor: own + ((count - 1) * was + fast) * months },
            ),
          ).toBe(own + ((count - 1) * was + fast) * months);
          const other = cycles.find((name) => name !== each);
          expect(priceWith({ cycles: {}, unitPrices }, service, other)).toBe(null);
        },
      ),
    );
  });

  it('leaves what is not sold any more at its price', () => {
    const service = {
      ...{ cycle: 'monthly', priceMinor: 900, options: { option1: 3, option7: 'gone' } },
      unitPrices: {
        option1: [{ units: 2, price_minor: 100 }],
        option7: [{ units: 1, price_minor: 300 }],
        option9: [{ units: 1, price_minor: 7 }],
      },
    };
    expect(unitsToday({ options: optionsAt(150, 0) }, service)).toEqual({
      ...service.unitPrices,
      option1: [{ units: 2, price_minor: 150 }],
    });
  });
});

const coming = fc.record({
  moveId: fc.integer({ min: 1, max: 100 }),
  state: fc.constantFrom<Coming['state']>('waiting', 'telling', 'told'),
  fromOn: day,
  noticeDays: fc.integer({ min: 1, max: 90 }),
  toldAfter: fc.integer({ min: -100, max: 100 }),
});

function made({
  toldAfter,
  ...move
}: { toldAfter: number } & Omit<Coming, 'cycles' | 'unitPrices' | 'countsOn'>): Coming {
  const told = addDays(addDays(move.fromOn, toldAfter), move.noticeDays);
  const countsOn = move.state === 'told' ? [move.fromOn, told].toSorted()[1] : null;
  return { ...move, cycles: { monthly: move.moveId }, unitPrices: {}, countsOn: countsOn ?? null };
}

describe('the day', () => {
  it('of the first renewal is a due date of the service, and the earliest that is late enough', () => {
    fc.assert(
      fc.property(cycle, day, day, (each, duedate, earliest) => {
        const anchorDay = Number(duedate.slice(8));
        const first = firstRenewalOn({ cycle: each, duedate, anchorDay }, earliest);
        const dueDates = Array.from({ length: 120 }, (_, n) =>
          addMonths(duedate, n * monthsOf[each], anchorDay),
        );
        expect(first).toBe(dueDates.find((date) => date >= earliest));
      }),
    );
  });

  it('decides alone which price a period has, and nobody pays a price that they were not told of in time', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(coming, { selector: ({ moveId }) => moveId, maxLength: 5 }),
        day,
        (moves, begins) => {
          const all = moves.map(made);
          const counting = countingOn(all, begins);
          const late = all.filter(({ countsOn }) => countsOn === null || countsOn > begins);
          expect(late).not.toContain(counting);
          const early = all.filter((each) => !late.includes(each)).map(({ moveId }) => moveId);
          expect(counting?.moveId ?? 0).toBe(Math.max(0, ...early));
          // What once counts goes on counting, or another that was decided later.
          expect(countingOn(all, addDays(begins, 40))?.moveId ?? 0).toBeGreaterThanOrEqual(
            counting?.moveId ?? 0,
          );
        },
      ),
    );
  });

  it('that is shown is no later than any other that was told of', () => {
    fc.assert(
      fc.property(fc.array(coming, { maxLength: 5 }), day, (moves, today) => {
        const all = moves.map(made);
        const next = nextOf(all, today);
        const told = all.filter(({ state }) => state !== 'waiting');
        expect(next === null).toBe(told.length === 0);
        for (const { countsOn } of told)
          if (countsOn !== null) expect(next && next.earliestOn <= countsOn).toBe(true);
      }),
    );
  });
});

it('what waits for a service follows each change of its size as the service itself does', () => {
  const size = fc.record({
    option1: fc.integer({ min: 1, max: 50 }),
    option7: fc.constantFrom('slow', 'fast'),
  });
  fc.assert(
    fc.property(
      price,
      price,
      price,
      size,
      fc.array(fc.tuple(size, price), { maxLength: 6 }),
      (was, now, fast, first, later) => {
        const bought = { cycle: 'monthly', priceMinor: 0, options: { ...first }, unitPrices: {} };
        let own = unitsToday({ options: optionsAt(was, fast) }, bought);
        let waits = unitsToday({ options: optionsAt(now, fast) }, bought);
        let options: Record<string, unknown> = { ...first };
        for (const [next, today] of later) {
          const sold = { options: optionsAt(today, fast) } as Parameters<typeof changeLots>[0];
          const lots = changeLots(sold, own, options, next);
          const same = changeLots(sold, waits, options, next);
          waits = followLots(waits, { before: options, changes: next, sold: lots });
          expect(waits).toEqual(same);
          expect(changedPrice(0, own, lots, 1)).toBeGreaterThanOrEqual(0);
          own = lots;
          options = { ...next };
        }
      },
    ),
  );
});
