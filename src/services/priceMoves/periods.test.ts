import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';
import { settled, sql } from '../../../test/sql.ts';
import { addDays } from '../../platform/index.ts';

const noticeDays = 30;
const daysAStep = 6;

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
  product.clock.set(new Date('2027-01-29T09:00:00Z'));
});
afterAll(() => product.stop());

/** What staff and customers do on a day of their choice, while the calendar goes on. */
type Deed =
  | { do: 'move'; step: number; daysAhead: number }
  | { do: 'revoke'; step: number; nth: number }
  | { do: 'renew'; step: number; nth: number };

const step = fc.integer({ min: 1, max: 40 });
const nth = fc.nat(4);
const deeds = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('move' as const),
      step,
      daysAhead: fc.integer({ min: noticeDays, max: 90 }),
    }),
    fc.record({ do: fc.constant('revoke' as const), step, nth }),
    fc.record({ do: fc.constant('renew' as const), step, nth }),
  ),
  { minLength: 8, maxLength: 12 },
);

interface Move {
  id: number;
  priceMinor: number;
  toldAt: number;
  countsOn: string;
  revokedAt: number;
}

interface Period {
  starts: string;
  ends: string;
  minor: number;
  issuedAt: Date;
}

async function newService(customer: Person, hosting: number, cycle: string): Promise<number> {
  const cart = { products: [{ id: hosting, cycle, type: 'Hosting' }] };
  const { data } = (await customer.post('/cart/checkout/invoice', cart)).body;
  await payByCredit(customer, data.invoice_id);
  await settled(product);
  await product.staff.post(`/staff/services/${data.service_ids[0]}/deliver`);
  return data.service_ids[0];
}

/** Moves to a price that no move had before. */
async function move(hosting: number, moves: Move[], daysAhead: number): Promise<void> {
  const priceMinor = 1_100 + 100 * moves.length;
  const price = (minor: number) => (minor / 100).toFixed(2);
  const prices = [
    { cycle: 'monthly', price: price(priceMinor) },
    { cycle: 'annually', price: price(priceMinor * 10) },
  ];
  await product.staff.patch(`/staff/products/${hosting}`, { prices });
  const day = product.clock.now().toISOString().slice(0, 10);
  const from = addDays(day, daysAhead);
  const { body } = await product.staff.post(`/staff/products/${hosting}/price-moves`, { from });
  await carryOut();
  const { id } = body.data.price_move;
  moves.push({ id, priceMinor, toldAt: product.clock.now().getTime(), countsOn: from, revokedAt: Infinity });
}

async function carryOut(): Promise<void> {
  await product.periodic('services.priceMoves');
  await settled(product);
  product.clock.travel(11 * 60_000);
  await product.periodic('services.priceMoves');
}

async function perform(deed: Deed, customer: Person, hosting: number, services: number[], moves: Move[]) {
  if (deed.do === 'move') return move(hosting, moves, deed.daysAhead);
  if (deed.do === 'renew') {
    const id = services[deed.nth % services.length];
    return void (await customer.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' }));
  }
  const found = moves[deed.nth % Math.max(1, moves.length)];
  if (found === undefined) return;
  const { status } = await product.staff.post(`/staff/price-moves/${found.id}/revoke`);
  if (status === 200) found.revokedAt = product.clock.now().getTime();
  await carryOut();
}

/** Which price a period has by the dates alone; `paid` is what the service paid before, `over` the move it was of. */
function expected(period: Period, moves: Move[], before: { price: number; over: number }) {
  const issued = period.issuedAt.getTime();
  const counting = moves.findLast(
    (each) =>
      each.id > before.over &&
      each.toldAt <= issued &&
      issued < each.revokedAt &&
      each.countsOn <= period.starts,
  );
  return counting === undefined ? before : { price: counting.priceMinor, over: counting.id };
}

it('each period is paid once, at the price that its first day says', { timeout: 900_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(deeds, async (plan) => {
      const customer = await newCustomer(product, { creditMinor: 10_000_000 });
      const hosting = await newHosting(product, 1_000);
      const moves: Move[] = [];
      const services: number[] = [];
      for (const cycle of ['monthly', 'monthly', 'annually', 'monthly']) {
        services.push(await newService(customer, hosting, cycle));
        product.clock.travel(3 * 86_400_000);
      }
      for (let now = 1; now <= 46; now += 1) {
        product.clock.travel(daysAStep * 86_400_000);
        for (const deed of plan.filter((each) => each.step === now))
          await perform(deed, customer, hosting, services.toSpliced(2, 1), moves);
        await product.periodic('services.calendar');
        // Some pay late, so that invoices stay open while prices change.
        if (now % 2 === 1) continue;
        const open = await sql<{ id: number }>(product, `select id from invoices where status = 'unpaid'`);
        for (const { id } of open) await payByCredit(customer, id);
        await settled(product);
      }
      for (const [index, id] of services.entries()) {
        const periods = await sql<Period>(
          product,
          `select r.starts_on::text as starts, r.ends_on::text as ends, i.subtotal_minor as minor,
             i.created_at as "issuedAt"
           from service_renewals r join invoices i on i.id = r.invoice_id
           where r.service_id = $1 and r.state = 'applied' order by r.starts_on`,
          id,
        );
        const months = index === 2 ? 10 : 1;
        if (index !== 2) expect(periods.length).toBeGreaterThanOrEqual(8);
        let before = { price: 1_000, over: 0 };
        for (const [at, period] of periods.entries()) {
          if (at > 0) expect(period.starts).toBe(periods[at - 1]?.ends);
          before = expected(period, moves, before);
          expect(period.minor, JSON.stringify({ period, moves })).toBe(before.price * months);
        }
        const open = await sql(
          product,
          `select 1 from service_price_moves where service_id = $1 group by move_id having count(*) > 1`,
          id,
        );
        expect(open).toEqual([]);
      }
    }),
    { numRuns: 1 },
  );
});
