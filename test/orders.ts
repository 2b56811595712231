import type { Demo } from '../src/demo/index.ts';
import type { Client } from './client.ts';
import { type TestProduct, until } from './product.ts';

export const password = 'Canary-Pass-1';

/** Options of the demonstration company's VPS, the smallest, with changes. */
export function vpsOptions(change: Record<string, unknown> = {}) {
  return {
    option1: 1,
    option2: 10,
    option3: 1,
    option4: 1,
    option5: 0,
    option6: 'tiny',
    option7: '1gbit',
    option8: 'AMS',
    domain: 'web1.example.com',
    password,
    ...change,
  };
}

/** A cart with one VPS. */
export function vpsCart(demo: Demo, change: Record<string, unknown> = {}) {
  return {
    products: [{ id: demo.products.vps, cycle: 'monthly', type: 'Hosting', options: vpsOptions(change) }],
  };
}

/** Orders a VPS without paying. */
export async function orderVps(
  product: Pick<TestProduct, 'demo'>,
  client: Client,
  change: Record<string, unknown> = {},
) {
  const order = await client.post('/cart/checkout/invoice', vpsCart(product.demo, change));
  if (order.status !== 200)
    throw new Error(`checkout answered ${order.status}: ${JSON.stringify(order.body)}`);
  return {
    invoiceId: order.body.data.invoice_id as number,
    serviceId: order.body.data.service_ids[0] as number,
  };
}

/** Orders a VPS, pays with credit, and waits until it runs. */
export async function runningVps(
  product: Pick<TestProduct, 'demo'>,
  client: Client,
  change: Record<string, unknown> = {},
  timeoutMs = 20_000,
) {
  const order = await orderVps(product, client, change);
  const paid = await client.post(`/dashboard/invoices/${order.invoiceId}/pay`, { method: 'credit' });
  if (paid.status !== 200) throw new Error(`paying answered ${paid.status}: ${JSON.stringify(paid.body)}`);
  await until(
    () => client.get(`/dashboard/services/${order.serviceId}`),
    (answer) => answer.body.data?.service.status === 'active',
    timeoutMs,
  );
  return order;
}
