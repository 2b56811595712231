/**
 * What runs past its paid time, and for how long: an invoice that could not be issued before the paid time ended has a day of its own, as late as any
 * invoice's, from which all that follows counts.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { addDays, daysBetween } from '../../platform/index.ts';
import { calendar } from '../settings.ts';

const suspendedAfter = calendar.defaults.suspend_days_after ?? 0;
/** `INVOICE_DUE_HOURS`, to the end of that day. */
const termDays = 3;

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product, { creditMinor: 10_000_000 });
});
afterAll(() => product.stop());

const today = () => product.clock.now().toISOString().slice(0, 10);

async function newService(): Promise<number> {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await customer.post('/cart/checkout/invoice', { products: [item] })).body;
  await payByCredit(customer, data.invoice_id);
  await settled(product);
  await product.staff.post(`/staff/services/${data.service_ids[0]}/deliver`, {});
  return data.service_ids[0];
}

async function night(): Promise<void> {
  product.clock.travel(86_400_000);
  await product.periodic('services.calendar');
  await settled(product);
}

interface Seen {
  status: string;
  duedate: string;
  invoice: { id: number; issuedOn: string; dueOn: string } | null;
  /** The renewal that was paid last. */
  paid: number | null;
}

async function look(id: number): Promise<Seen> {
  const [row] = await sql<Seen>(
    product,
    `select s.status, s.duedate::text as duedate,
       (select jsonb_build_object('id', i.id, 'issuedOn', (i.created_at at time zone 'UTC')::date, 'dueOn', (i.expires_at at time zone 'UTC')::date)
        from invoices i join service_renewals r on r.invoice_id = i.id
        where r.service_id = s.id and i.status = 'unpaid') as invoice,
       (select r.invoice_id::int8 from service_renewals r where r.service_id = s.id and r.state = 'applied' order by r.starts_on desc limit 1) as paid
     from services s where s.id = $1`,
    id,
  );
  if (row === undefined) throw new Error(`there is no service ${id}`);
  return { ...row, paid: row.paid === null ? null : Number(row.paid) };
}

async function pay({ invoice }: Seen): Promise<void> {
  expect((await payByCredit(customer, invoice?.id ?? 0)).status).toBe(200);
  await settled(product);
}

it('a period that is paid when it is over is followed by an invoice of its own day: it is suspended so long after that', async () => {
  product.clock.set(new Date('2027-03-15T10:00:00Z'));
  const id = await newService();
  const { duedate: first } = await look(id);
  for (let nth = daysBetween(today(), first); nth > 0; nth -= 1) await night();
  for (let nth = 0; nth < 30; nth += 1) await night();
  const late = await look(id);
  expect([first, late.status]).toEqual(['2027-04-15', 'suspended']);
  await pay(late);
  const again = await look(id);
  expect(again).toMatchObject({ status: 'active', duedate: '2027-05-15', invoice: null });
  expect(today()).toBe('2027-05-15');
  await night();
  // It was issued on the first night on which it could be, a day after the paid time had ended.
  expect((await look(id)).invoice).toMatchObject({ issuedOn: '2027-05-16', dueOn: '2027-05-19' });
  // Its reminder was due on the day of the invoice, and each warning keeps its days from the one before.
  while ((await look(id)).status === 'active') await night();
  expect([today(), daysBetween('2027-05-15', today())]).toEqual(['2027-06-03', 19]);
}, 120_000);

interface Habits {
  /** Days after an invoice is due on which it is paid, of one after another. */
  delays: number[];
  /** Days on which staff gives back what was paid last. */
  refundsOn: number[];
}
const habits: fc.Arbitrary<Habits> = fc.record({
  delays: fc.array(fc.integer({ min: -10, max: 40 }), { minLength: 4, maxLength: 4 }),
  refundsOn: fc.array(fc.integer({ min: 35, max: 110 }), { maxLength: 2 }),
});

it('nothing runs unpaid for longer than that, and no invoice is due later, whoever pays late and whatever is given back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(habits, { minLength: 8, maxLength: 8 }), async (all) => {
      const played: { id: number; since: string; duedate: string; paid: number; of: Habits }[] = [];
      for (const of of all) {
        const id = await newService();
        played.push({ id, since: today(), duedate: (await look(id)).duedate, paid: 0, of });
      }
      for (let day = 1; day <= 120; day += 1) {
        await night();
        for (const one of played) {
          const seen = await look(one.id);
          if (seen.status === 'terminated') continue;
          if (seen.duedate !== one.duedate) Object.assign(one, { duedate: seen.duedate, since: today() });
          const { invoice, duedate } = seen;
          const story = JSON.stringify({ ...seen, ...one, today: today() });
          // Its own day is no later than that of an invoice which was issued on the night after the paid time became what it is.
          const latestDue = [duedate, addDays(one.since, 1 + termDays)].sort().at(-1) ?? '';
          if (invoice !== null) expect(invoice.dueOn <= latestDue, story).toBe(true);
          const isNew = daysBetween(one.since, today()) <= 1;
          if (invoice === null && !isNew) expect(duedate > today(), story).toBe(true);
          const over = daysBetween(invoice?.dueOn ?? latestDue, today());
          if (seen.status === 'active') expect(over, story).toBeLessThanOrEqual(suspendedAfter);
          if (invoice !== null && over >= (one.of.delays[one.paid % 4] ?? 0)) {
            await pay(seen);
            one.paid += 1;
          } else if (one.of.refundsOn.includes(day) && seen.paid !== null) {
            const body = { method: 'credit', reason: 'We were down' };
            const answer = await product.staff.post(`/staff/invoices/${seen.paid}/refund`, body);
            expect(answer.status, story).toBe(200);
            await settled(product);
          }
          const after = await look(one.id);
          if (after.duedate !== one.duedate) Object.assign(one, { duedate: after.duedate, since: today() });
        }
      }
    }),
    { numRuns: 1, endOnFailure: true },
  );
}, 600_000);
