import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderVps, runningVps } from './orders.ts';
import { newCustomer, type Person } from './people.ts';
import { startTestProduct, type TestProduct, until } from './product.ts';
import { settled, sql } from './sql.ts';

const day = 86_400_000;
/** The product's own turns: of orders every five seconds, of the calendar every ten. */
const aTurnMs = 11_000;

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct({ doubtsClock: true });
  customer = await newCustomer(product, { creditMinor: 1_000_000 });
});
afterAll(() => product.stop());

const statusOf = async (id: number): Promise<string> =>
  (await customer.get(`/dashboard/services/${id}`)).body.data.service.status;
const invoiceStatus = async (id: number): Promise<string> =>
  (await customer.get(`/dashboard/invoices/${id}`)).body.data.invoice.status;
/** How many hosts' clocks are not believed; what staff is told by. */
const doubted = async (): Promise<number> => (await sql(product, 'select from clock_leaps')).length;

it('a clock that is a year ahead for a minute ends, cancels and charges nothing', async () => {
  const { serviceId } = await runningVps(product, customer);
  const asked = { type: 'end_of_period' };
  expect((await customer.post(`/dashboard/services/${serviceId}/cancel`, asked)).status).toBe(200);
  const unpaid = await orderVps(product, customer, { domain: 'web2.example.com' });
  await settled(product);
  product.clock.travel(400 * day);
  await sleep(aTurnMs);
  expect(await doubted()).toBe(1);
  product.clock.travel(-400 * day);
  await until(doubted, (hosts) => hosts === 0);
  await sleep(aTurnMs);
  expect(await statusOf(serviceId)).toBe('active');
  expect(await invoiceStatus(unpaid.invoiceId)).toBe('unpaid');
  expect(await sql(product, `select id from invoices where kind = 'renewal'`)).toEqual([]);
});

it('of one that is days ahead staff is told, and how long it has to set it right', async () => {
  const { invoiceId } = await orderVps(product, customer, { domain: 'web3.example.com' });
  product.clock.travel(5 * day);
  await until(doubted, (hosts) => hosts === 1);
  const { body } = await product.staff.get('/staff/attention');
  const message = expect.stringContaining('if that is wrong, set it before');
  expect(body.data.concerns).toContainEqual(expect.objectContaining({ kind: 'clock.leapt', message }));
  expect(await invoiceStatus(invoiceId)).toBe('unpaid');
});
