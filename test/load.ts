import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Demo } from '../src/demo/index.ts';
import { apiClient, type Client } from './client.ts';
import { vpsCart } from './orders.ts';
import { sql } from './sql.ts';

export interface Load {
  /** Orders that were acknowledged, and when each was, … */
  ordered: number[];
  orderedAtMs: number[];
  /** … payments, and the legal number of its invoice that a payer was shown. */
  paid: number[];
  numbers: Map<number, string>;
  refused: Map<string, number>;
  /** Anything that is neither a full success nor a 503 with Retry-After. */
  wrong: string[];
  lastSuccessAtMs: number;
  stop(): Promise<void>;
}

interface Shop {
  /** Of its API processes, which are asked in turn; without `/api`. */
  urls: readonly string[];
  demo: Demo;
  databaseUrl: string;
}

function customersOf({ urls, demo }: Shop): Client[] {
  const { api_key: token, organization_id: organizationId } = demo.customer;
  return urls.map((url) => apiClient(`${url}/api`, { token, organizationId }));
}

/** Credit and room for every machine of the load. */
export async function makeRoom({ urls, demo, databaseUrl }: Shop): Promise<void> {
  const staff = apiClient(`${urls[0]}/api`, { token: demo.staff.api_key });
  const grant = { amount: '1000000.00', currency: 'EUR', description: 'For the load' };
  await staff.post(`/staff/organizations/${demo.customer.organization_id}/credit`, grant);
  await sql(
    { databaseUrl },
    'update nodes set memory_mib = 1000000000, disk_gib = 1000000, cpu_cores = 1000000',
  );
}

/** Each of the customers repeats with the same key what was not answered. */
export function startLoad(shop: Shop, customers: number): Load {
  const doors = customersOf(shop);
  let stopped = false;
  let asked = 0;
  const load: Load = {
    ordered: [],
    orderedAtMs: [],
    paid: [],
    numbers: new Map(),
    refused: new Map(),
    wrong: [],
    lastSuccessAtMs: Date.now(),
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
    },
  };
  const ask = async (method: string, route: string, body?: object) => {
    const key: Record<string, string> = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
    for (;;) {
      asked += 1;
      const door = doors[asked % doors.length] as Client;
      const answer = await door.request(method, route, body, key).catch((error: Error) => error);
      if (answer instanceof Error) {
        load.wrong.push(`${method} ${route} was not answered: ${answer.message} ${answer.cause}`);
        return null;
      }
      if (answer.status === 200 && answer.body.success === true) {
        load.lastSuccessAtMs = Date.now();
        return answer.body.data;
      }
      const isInFlight = answer.body?.code === 'idempotency_in_flight';
      const isHonest = answer.status === 503 || isInFlight;
      if (!isHonest || !/^\d+$/.test(answer.headers.get('retry-after') ?? '')) {
        load.wrong.push(`${method} ${route} answered ${answer.status} ${JSON.stringify(answer.body)}`);
        return null;
      }
      load.refused.set(answer.body.code, (load.refused.get(answer.body.code) ?? 0) + 1);
      await sleep(100);
    }
  };
  const loops = Array.from({ length: customers }, async () => {
    while (!stopped) {
      const order = await ask('POST', '/cart/checkout/invoice', vpsCart(shop.demo));
      if (order === null) return;
      load.ordered.push(order.invoice_id);
      load.orderedAtMs.push(Date.now());
      const invoice = `/dashboard/invoices/${order.invoice_id}`;
      const paid = await ask('POST', `${invoice}/pay`, { method: 'credit' });
      if (paid !== null) load.paid.push(order.invoice_id);
      const shown = await ask('GET', invoice);
      if (paid !== null && shown !== null) load.numbers.set(order.invoice_id, shown.invoice.number);
      await sleep(200);
    }
  });
  return load;
}
