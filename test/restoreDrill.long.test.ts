/**
 * The drill of docs/operations/backup.md: a product with the embedded database dies under load, and its backup is
 * restored into an empty folder, as an operator would, on the host whose machines outlived it.
 */
import { copyFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SimulatedMachine } from '../src/drivers/hypervisor/index.ts';
import { runningEmbeddedUrl } from '../src/platform/database/embedded/index.ts';
import { prepareDataDir } from '../src/platform/host/dataDir.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { audit, unlessSettled } from './crash/audit.ts';
import { removeDataDir } from './dataDir.ts';
import { orderVps, runningVps } from './orders.ts';
import { until } from './product.ts';

const main = path.join(import.meta.dirname, '../src/main.ts');
const shoppers = 8;
const env = { HYPERVISOR: 'simulator', NETWORK4: '10.64.0.0/19', LOG_LEVEL: 'warn' };
const limits = {
  MAX_UNPAID_ORDERS: '10000',
  MAX_UNPAID_ORDERS_NEW: '10000',
  MAX_RESERVED_ADDRESSES: '10000',
  MAX_RESERVED_ADDRESSES_NEW: '10000',
};

interface Order {
  serviceId: number;
  invoiceId: number;
  isPaid: boolean;
}

let lost: string;
let dir: string;
let product: Child;

const start = (dataDir: string) => startChild(dataDir, { ...env, ...limits });

/** As an operator types it. */
async function innkeeper(dataDir: string, ...argv: string[]): Promise<string> {
  const { stdout } = await runProgram([process.execPath, main, ...argv], {
    env: { ...process.env, ...env, DATA_DIR: dataDir },
    timeoutMs: 300_000,
  });
  return stdout;
}

function customer(): Client {
  const { api_key: token, organization_id: organizationId } = product.demo.customer;
  return apiClient(`${product.url}/api`, { token, organizationId });
}

const staff = () => apiClient(`${product.url}/api`, { token: product.demo.staff.api_key });

function machinesIn(dataDir: string): Map<string, SimulatedMachine> {
  const text = readFileSync(path.join(dataDir, 'simulator.json'), 'utf8');
  return new Map((JSON.parse(text) as { machines: [string, SimulatedMachine][] }).machines);
}

beforeAll(async () => {
  lost = mkdtempSync(path.join(tmpdir(), 'innkeeper-lost-'));
  dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-found-'));
  product = await start(lost);
  const credit = { amount: '100000.00', currency: 'EUR', description: 'For the drill' };
  await staff().post(`/staff/organizations/${product.demo.customer.organization_id}/credit`, credit);
});
afterAll(async () => {
  await product.end('SIGTERM');
  // Its database server outlived the kill; whoever opens it next ends that one, and itself.
  await innkeeper(lost, 'backup', '--quick');
  for (const each of [lost, dir]) await removeDataDir(each);
});

/** Between two orders of a shopper: the node has room for 256 machines, and a backup takes a quarter of a minute on a busy machine. */
const pauseMs = 500;

/** Orders, and pays two of three, until the product is gone. What was answered is in `acknowledged`. */
async function shop(client: Client, acknowledged: Order[], end: AbortSignal): Promise<void> {
  try {
    for (let nth = 0; !end.aborted; nth++) {
      const order = { ...(await orderVps(product, client)), isPaid: false };
      if (nth % 3 !== 0) {
        const paid = await client.post(`/dashboard/invoices/${order.invoiceId}/pay`, { method: 'credit' });
        if (paid.status !== 200) throw new Error(`paying answered ${paid.status}`);
        order.isPaid = true;
      }
      acknowledged.push(order);
      await sleep(pauseMs);
    }
  } catch (error) {
    if (!end.aborted) throw error;
  }
}

it('everything that was acknowledged before the backup is back, and nothing of the node was touched', async () => {
  const running = await runningVps(product, customer());
  const waiting = await orderVps(product, customer());
  const acknowledged: Order[] = [];
  const end = new AbortController();
  const load = Promise.all(
    Array.from({ length: shoppers }, () => shop(customer(), acknowledged, end.signal)),
  );
  await until(
    async () => acknowledged.length,
    (orders) => orders >= 2 * shoppers,
    60_000,
  );

  const before = [...acknowledged];
  const file = (await innkeeper(lost, 'backup')).split(' ', 1)[0] ?? '';
  const during = acknowledged.length;
  expect(during).toBeGreaterThan(before.length);
  await sleep(2_000); // orders that the backup does not know, and machines of them
  end.abort();
  await product.end('SIGKILL');
  await load;
  const left = machinesIn(lost);

  // The host outlived it, with its machines; the operator brings their folder along.
  const said = await innkeeper(dir, 'restore', file);
  expect(said).toContain('Restored as it was at');
  copyFileSync(path.join(lost, 'simulator.json'), path.join(dir, 'simulator.json'));
  product = await start(dir);

  const url = (await runningEmbeddedUrl(await prepareDataDir(dir)))?.url ?? '';
  expect(await audit(url, unlessSettled)).toEqual([]);

  for (const { serviceId, invoiceId, isPaid } of before) {
    const service = await customer().get(`/dashboard/services/${serviceId}`);
    const invoice = await customer().get(`/dashboard/invoices/${invoiceId}`);
    expect([service.status, invoice.status]).toEqual([200, 200]);
    if (isPaid) expect(invoice.body.data.invoice.status).toBe('paid');
  }

  // Its password was sealed when the backup was made, and its machine is made after it.
  const paid = await customer().post(`/dashboard/invoices/${waiting.invoiceId}/pay`, { method: 'credit' });
  expect(paid.status).toBe(200);
  const state = async () =>
    (await customer().get(`/dashboard/services/${waiting.serviceId}`)).body.data.service;
  await until(state, ({ status }) => status === 'active', 60_000);

  for (const [what, power] of [
    ['stop', 'stopped'],
    ['start', 'running'],
  ] as const) {
    const at = `/dashboard/service/${running.serviceId}/vps`;
    expect((await customer().post(`${at}/${what}`, {})).status).toBe(200);
    const seen = async () => (await customer().get(`${at}/overview`)).body.data.vps.state;
    await until(seen, (now) => now === power, 60_000);
  }

  const now = machinesIn(dir);
  const touched = [...left].filter(([id, machine]) => {
    if (id === `vps-${running.serviceId}`) return false; // by its owner, above
    return machine.startedAtMs !== null && now.get(id)?.startedAtMs !== machine.startedAtMs;
  });
  expect(touched).toEqual([]);
  const { concerns } = (await staff().get('/staff/attention')).body.data;
  expect(JSON.stringify(concerns)).toContain('that no service has');
  expect(await audit(url, unlessSettled)).toEqual([]);
  console.log(
    `${before.length} orders acknowledged before the backup, ${acknowledged.length - during} after it, ${left.size} machines`,
  );
}, 600_000);
