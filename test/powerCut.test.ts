import { mkdtempSync, readdirSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { removeDataDir } from './dataDir.ts';
import { orderVps } from './orders.ts';
import { type Disk, openDisk } from './powerCut.ts';
import { until } from './product.ts';
import { signalIfThere } from './signal.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot)
  console.log('What a power cut leaves of DATA_DIR is NOT tested here: it takes root to mount a disk.');

/** The whole product on one host, its database in DATA_DIR: the power goes, and what had been answered is there. */
describe.skipIf(!isRoot)('a host that loses its power', { timeout: 180_000 }, () => {
  let dir: string;
  let disk: Disk;
  let child: Child;

  const start = async (): Promise<Client> => {
    child = await startChild(dir, { HYPERVISOR: 'simulator', LOG_LEVEL: 'error' });
    const { api_key: token, organization_id: organizationId } = child.demo.customer;
    return apiClient(`${child.url}/api`, { token, organizationId });
  };
  /** Ends the product, and the database that it started, which would live on. */
  const end = async () => {
    await child.end('SIGKILL');
    const held = () => processesIn(dir);
    for (const pid of held()) signalIfThere(pid, 'SIGKILL');
    await until(
      async () => held(),
      (pids) => pids.length === 0,
    );
  };

  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-power-cut-'));
    disk = await openDisk(dir, 2_048);
  });
  afterAll(async () => {
    await end().catch(() => undefined);
    await disk?.close();
    await removeDataDir(dir);
  });

  it('right after its first start has everything that was answered, and starts', async () => {
    let customer = await start();
    const { invoiceId } = await orderVps(child, customer);
    const paid = await customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
    expect(paid.body.data.invoice.status).toBe('paid');
    const content = Buffer.from('What the customer sent with it');
    const ticket = await customer.post('/dashboard/tickets/create', {
      ...{ department: 'support', priority: 'low', subject: 'A file', message: 'Here it is' },
      attachments: [{ name: 'it.txt', content_base64: content.toString('base64') }],
    });
    const [{ attachments }] = ticket.body.data.ticket.replies;
    await disk.remember();
    await end();
    await disk.comeBack();
    customer = await start();
    const invoice = await customer.get(`/dashboard/invoices/${invoiceId}`);
    expect(invoice.body.data.invoice.status).toBe('paid');
    const { api_key: token, organization_id: organization } = child.demo.customer;
    const file = await fetch(`${child.url}/api/dashboard/tickets/attachments/${attachments[0].id}`, {
      headers: { token, 'x-organization-id': String(organization) },
    });
    expect(Buffer.from(await file.arrayBuffer())).toEqual(content);
    const asked = await apiClient(`${child.url}/api`, { token: child.demo.staff.api_key }).get(
      '/staff/products',
    );
    expect(asked.status).toBe(200);
  }, 180_000);
});

/** Whose working directory is in this one: PostgreSQL's processes. */
function processesIn(dir: string): number[] {
  const isIn = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${dir}/`);
    } catch {
      return false; // it has ended meanwhile
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isIn(name))
    .map(Number);
}
