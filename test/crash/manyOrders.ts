import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { vpsCart } from '../orders.ts';
import { until } from '../product.ts';
import type { Many } from './many.ts';

/** What an order and its end pass, whichever process does it; not what the clock brings to each of them. */
const ofOrders =
  /^(cart\.|billing\.pay|payInvoice|vps\.provision|vps\.terminate|services\.deliver|service\.|mail\.)/;
const patienceMs = 120_000;

/** The failpoints of an order that ends in a machine, in the order in which they are passed first. */
export async function boundariesOf(many: Many): Promise<string[]> {
  await rest(many);
  many.passed();
  await orderAt(many, null);
  await rest(many);
  return [...new Set(many.passed())].filter((name) => ofOrders.test(name));
}

/** Some of them, by chance. */
export function pick<T>(all: readonly T[], count: number): T[] {
  const left = [...all];
  const picked: T[] = [];
  while (picked.length < count && left.length > 0)
    picked.push(...left.splice(Math.floor(Math.random() * left.length), 1));
  return picked;
}

/** Somebody orders a machine, pays for it and has it; whichever process passes the boundary first dies there. */
export async function orderAt(many: Many, boundary: string | null): Promise<number> {
  many.crashAt(boundary);
  const { customer } = many;
  const order = await customer.post('/cart/checkout/invoice', vpsCart(many.demo));
  expect(order.status, JSON.stringify(order.body)).toBe(200);
  const { invoice_id: invoiceId, service_ids: ids } = order.body.data;
  many.ordered.add(ids[0]);
  const paid = await customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  await until(
    () => customer.get(`/dashboard/services/${ids[0]}`),
    (answer) => answer.body.data?.service.status === 'active',
    patienceMs,
  );
  if (boundary !== null) await rest(many);
  return ids[0];
}

/** Staff ends it; whichever process passes the boundary first dies there. */
export async function endOf(many: Many, serviceId: number, boundary: string | null): Promise<void> {
  many.crashAt(boundary);
  const ended = await many.staff.post(`/staff/services/${serviceId}/terminate`, {
    reason: 'Its customer asked for it',
  });
  expect(ended.status, JSON.stringify(ended.body)).toBe(200);
  await until(
    () => many.customer.get(`/dashboard/services/${serviceId}`),
    (answer) => answer.body.data?.service.status === 'terminated',
    patienceMs,
  );
  if (boundary !== null) await rest(many);
}

/** Until all work is done, and every process is there again. */
export async function rest(many: Many): Promise<void> {
  await many.settle();
  await until(
    async () => many.processes.every(({ child }) => child !== null),
    (all) => all,
    patienceMs,
  );
  await sleep(50);
  await many.settle();
}
