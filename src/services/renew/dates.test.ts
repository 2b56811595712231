import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled } from '../../../test/sql.ts';
import { addMonths, cycles, monthsOf } from '../../catalog/index.ts';
import { remainingOf } from '../prorate.ts';

/** The nth due date after a first day, said in another way: that day of the month, or the last that the month has. */
function dueAfter(firstDay: string, months: number): string {
  const [year = 0, month = 1, day = 1] = firstDay.split('-').map(Number);
  const at = year * 12 + (month - 1) + months;
  const [y, m] = [Math.floor(at / 12), (at % 12) + 1];
  const isLeap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
  const length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][m - 1] ?? 0;
  return `${y}-${String(m).padStart(2, '0')}-${String(Math.min(day, length)).padStart(2, '0')}`;
}

const day = fc
  .integer({ min: 0, max: 30_000 })
  .map((days) => new Date(Date.parse('2000-01-01') + days * 86_400_000).toISOString().slice(0, 10));
const someCycles = fc.array(fc.constantFrom(...cycles), { minLength: 1, maxLength: 24 });

describe('due dates', () => {
  it('fall on the first day again and again, whatever cycles come between', () => {
    fc.assert(
      fc.property(day, someCycles, (firstDay, chosen) => {
        const anchorDay = Number(firstDay.slice(8));
        let due = firstDay;
        let months = 0;
        for (const cycle of chosen) {
          const next = addMonths(due, monthsOf[cycle], anchorDay);
          months += monthsOf[cycle];
          expect(next > due).toBe(true);
          expect(next).toBe(dueAfter(firstDay, months));
          due = next;
        }
      }),
    );
  });

  it('tell what remains of a period exactly, however many are paid ahead', () => {
    fc.assert(
      fc.property(
        day,
        fc.constantFrom(...cycles),
        fc.integer({ min: 1, max: 6 }),
        (firstDay, cycle, periods) => {
          const [anchorDay, length] = [Number(firstDay.slice(8)), monthsOf[cycle]];
          const at = (nth: number) => dueAfter(firstDay, nth * length);
          const left = remainingOf({
            ...{
              today: firstDay,
              months: length,
              anchorDay,
              dueDate: at(periods),
              periodStart: at(periods - 1),
            },
          });
          const whole = (Date.parse(at(1)) - Date.parse(firstDay)) / 86_400_000;
          expect(left).toEqual({ wholePeriods: periods - 1, daysLeft: whole, daysOfPeriod: whole });
        },
      ),
    );
  });
});

describe('24 months of renewals', { timeout: 120_000 }, () => {
  let product: TestProduct;
  let owner: Person;
  beforeAll(async () => {
    product = await startTestProduct();
    owner = await newCustomer(product, { creditMinor: 1_000_000 });
  });
  afterAll(() => product.stop());

  it.each([
    '2027-01-29T00:00:00.000Z',
    '2027-01-30T23:58:00.000Z',
    '2027-01-31T09:30:00.000Z',
    '2028-02-29T09:30:00.000Z',
  ])('from %s never leave that day, and leave none out', async (moment) => {
    product.clock.set(new Date(moment));
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const order = (await owner.post('/cart/checkout/invoice', { products: [item] })).body.data;
    await payByCredit(owner, order.invoice_id);
    await settled(product);
    const [id] = order.service_ids;
    await product.staff.post(`/staff/services/${id}/deliver`, {});
    const due = async () => (await owner.get(`/dashboard/services/${id}`)).body.data.service.duedate;
    const seen = [await due()];
    for (let month = 2; month <= 24; month += 1) {
      const { data } = (await owner.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' })).body;
      await payByCredit(owner, data.invoice_id);
      await settled(product);
      seen.push(await due());
    }
    const firstDay = moment.slice(0, 10);
    expect(seen).toEqual(Array.from({ length: 24 }, (_, index) => dueAfter(firstDay, index + 1)));
  });
});
