import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runningVps } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { contents, settled, settledContents } from '../../test/sql.ts';
import { databaseDns } from '../drivers/dns/index.ts';
import { simulatorStore } from '../drivers/hypervisor/index.ts';

/** A node that can do no more than it must, but for a serial console. */
const store = simulatorStore();
const calls: string[] = [];
let product: TestProduct;
let customer: Person;
let id: number;
let vps: string;

beforeAll(async () => {
  product = await startTestProduct({
    drivers: { dns: databaseDns({ capabilities: [] }) },
    simulator: {
      store,
      capabilities: ['serial'],
      failure: (call) => {
        calls.push(call);
        return null;
      },
    },
  });
  customer = await newCustomer(product, { creditMinor: 50_000 });
  ({ serviceId: id } = await runningVps(product, customer, { option5: 1 }));
  vps = `/dashboard/service/${id}/vps`;
  await settled(product);
});
beforeEach(() => {
  calls.length = 0;
});
afterAll(() => product.stop());

describe('what the node of a machine cannot do', () => {
  it('is known before it is tried: the overview says that it is not possible, why, and with which code', async () => {
    const { actions } = (await customer.get(`${vps}/overview`)).body.data.vps;
    for (const command of ['create_snapshot', 'restore_snapshot', 'create_backup', 'reset_password'])
      expect(actions[command], command).toEqual({
        allowed: false,
        code: 'not_supported',
        reason: expect.stringContaining('The node of this machine'),
      });
    expect(actions.stop).toEqual({ allowed: true, code: null, reason: null });
  });

  it.each([
    ['POST', 'snapshots', { name: 'first' }],
    ['POST', 'reset-password', {}],
    ['POST', 'access', { ssh_key_ids: [] }],
    ['GET', 'console?type=vnc', undefined],
    ['GET', 'screen', undefined],
    ['PATCH', 'settings', { rescue: true }],
    ['PATCH', 'settings', { boot_order: 'network' }],
    ['PATCH', 'settings', { auto_backup: { enabled: true } }],
  ] as const)('is refused in words, before anything is touched: %s %s %j', async (method, path, body) => {
    const before = await settledContents(product);
    const answer =
      method === 'GET'
        ? await customer.get(`${vps}/${path}`)
        : await customer[method === 'POST' ? 'post' : 'patch'](`${vps}/${path}`, body);
    expect([answer.status, answer.body.code]).toEqual([409, 'not_supported']);
    expect(answer.body.message).toMatch(/^The node of this machine .{10}/);
    await settled(product);
    expect(await contents(product)).toEqual(before);
    expect(calls).toEqual([]);
  });

  it('is a name of an IPv6 address where the name server keeps none', async () => {
    const { ips } = (await customer.get(`${vps}/ips`)).body.data;
    const of = (family: number) => ips.find((ip: { family: number }) => ip.family === family).address;
    const before = await settledContents(product);
    const answer = await customer.patch(`${vps}/ips`, { address: of(6), dns_name: 'six.example.com' });
    expect([answer.status, answer.body.code]).toEqual([409, 'not_supported']);
    expect(await contents(product)).toEqual(before);
    const four = await customer.patch(`${vps}/ips`, { address: of(4), dns_name: 'four.example.com' });
    expect(four.status).toBe(200);
    await settled(product);
  });

  it('names the setting that asked for it', async () => {
    const answer = await customer.patch(`${vps}/settings`, { rescue: true });
    expect(answer.body.details).toEqual([{ field: 'rescue', message: answer.body.message }]);
  });
});

describe('what it can do instead', () => {
  it('is done: the serial console opens', async () => {
    const answer = await customer.get(`${vps}/console?type=serial`);
    expect([answer.status, answer.body.data?.type]).toEqual([200, 'serial']);
  });

  it('is done later: a name that the guest cannot be told counts from the next start', async () => {
    const answer = await customer.patch(`${vps}/settings`, { hostname: 'later.example.com' });
    expect(answer.body.data.settings.hostname).toBe('later.example.com');
    const [newest] = (await customer.get(`${vps}/history?limit=1`)).body.data.actions;
    expect(newest.command).not.toBe('rename');
    await customer.post(`${vps}/restart`, { force: true });
    await settled(product);
    expect(store.machines.get(`vps-${id}`)?.identity?.hostname).toBe('later.example.com');
  });

  it('is done in another way: a machine that cannot change its size while it runs is stopped for it', async () => {
    const upgrade = await customer.post(`/dashboard/services/${id}/upgrade-vps`, { option2: 20 });
    expect(upgrade.status, JSON.stringify(upgrade.body)).toBe(200);
    await customer.post(`/dashboard/invoices/${upgrade.body.data.invoice_id}/pay`, { method: 'credit' });
    await settled(product);
    expect(calls).toEqual(['shutdown', 'resize', 'writeIdentity', 'start']);
    const { state, resources } = (await customer.get(`${vps}/overview`)).body.data.vps;
    expect([state, resources.disk_gb]).toEqual(['running', 20]);
  });
});
