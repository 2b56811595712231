import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../test/noted.ts';
import { newCustomer, newMember, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { newServerProduct, newServers, serverCart } from '../../test/rack/stock.ts';
import { settled, sql } from '../../test/sql.ts';
import { openBmcs, simulatedRack } from '../drivers/bmc/index.ts';
import { rentServer } from '../fleet/index.ts';
import { transaction } from '../platform/index.ts';
import { completeDelivery, requireOrder } from '../services/index.ts';

const changes = watchChanges();

const rack = simulatedRack();
let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct({
    env: { HYPERVISOR: 'simulator', NETWORK4: '10.82.0.0/24' },
    drivers: { bmc: openBmcs({ rack, offForMs: 0 }) },
  });
  customer = await newCustomer(product, { creditMinor: 10_000_000 });
});
afterAll(() => product.stop());

// One that stays silent would hold up whoever reads all of them later.
const bmcs: ReturnType<typeof rack.put>[] = [];
afterEach(() => {
  for (const bmc of bmcs) delete bmc.failing.silent;
});

let made = 0;
/** A server that the customer has, with its BMC. */
async function rented({ delivered = true } = {}) {
  made += 1;
  const address = `198.51.100.${made}`;
  const bmc = rack.put(address);
  bmc.power = 'on';
  bmcs.push(bmc);
  const productId = await newServerProduct(product);
  const { serverIds } = await newServers(product, productId, 1);
  const serverId = serverIds[0] ?? 0;
  const macs = [`52:54:00:00:1d:${String(made).padStart(2, '0')}`];
  const reached = { kind: 'simulated', address, user: 'root', password: 'factory-1' };
  await product.staff.patch(`/staff/servers/${serverId}`, { macs, bmc: reached });
  const order = await customer.post('/cart/checkout/invoice', serverCart(productId, { option5: 1 }));
  // Nobody has paid it: what is paid is installed, of which `install/provision.test.ts` is.
  const id = order.body.data.service_ids[0] as number;
  if (delivered)
    await transaction(product.ctx, 'test.deliver', async (tx) => {
      const wanted = await requireOrder(tx, id);
      await completeDelivery(tx, wanted, { hostname: wanted.domain, primaryIp: null });
      await rentServer(tx, id);
    });
  await product.periodic('fleet.askBmcs');
  await settled(product);
  return { id, serverId, bmc, address, mac: macs[0], path: `/dashboard/service/${id}/dedicated` };
}

type Rented = Awaited<ReturnType<typeof rented>>;
const overview = async ({ path }: Rented) => (await customer.get(`${path}/overview`)).body.data.dedicated;
const ended = ({ path }: Rented, actionId: number, timeoutMs = 90_000) =>
  until(
    async () => (await customer.get(`${path}/history/${actionId}`)).body.data.action,
    ({ status }) => status === 'success' || status === 'error',
    timeoutMs,
  );
async function asked({ path }: Rented, action: string, body: object = {}): Promise<number> {
  const answer = await customer.post(`${path}/${action}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.action.id;
}

describe('the overview', () => {
  it('says how the server was heard of last, and what may be done with it', async () => {
    const server = await rented();
    const seen = await overview(server);
    expect(seen).toMatchObject({
      ...{ service_id: server.id, hostname: 'big.example.com', state: 'running', locked: false },
      ...{ location: 'AMS', current_action: null },
      os: { slug: 'tiny', name: expect.stringMatching(/^Tiny/), version: expect.any(String) },
      system: { vendor: 'V', product: expect.stringMatching(/^Model/) },
      power: { state: 'on', heard_at: expect.any(String), silent: false },
      actions: {
        start: { allowed: false, code: 'action_not_allowed' },
        ...{ stop: { allowed: true }, restart: { allowed: true } },
      },
    });
    expect(seen.ips).toMatchObject([
      { family: 4, primary: true, mac: server.mac },
      { family: 6, mac: server.mac },
    ]);
  });

  it('of a silent BMC tells the moment at which it was heard, and is no error', async () => {
    const server = await rented();
    const { power: before } = await overview(server);
    server.bmc.failing.silent = 'before';
    product.clock.travel(6 * 60_000);
    await product.periodic('fleet.askBmcs');
    await settled(product);
    expect(await overview(server)).toMatchObject({ state: 'running', power: { ...before, silent: true } });
  });

  it('of a server that is being made ready shows nothing of it yet', async () => {
    const server = await rented({ delivered: false });
    expect(await overview(server)).toMatchObject({ state: 'creating', ips: [], system: null });
    const { body } = await customer.get(`${server.path}/hardware`);
    expect(body.data).toEqual({ hardware: null, measured_at: null, differences: [], seen_at: null });
    for (const action of ['start', 'stop', 'restart']) {
      const answer = await customer.post(`${server.path}/${action}`, { force: true });
      expect([answer.status, answer.body.code]).toEqual([409, 'action_not_allowed']);
    }
    expect(server.bmc.power).toBe('on');
  });
});

describe('power', () => {
  it('goes off, comes, and begins anew, each an action in the history of who asked for it', async () => {
    const server = await rented();
    expect(await ended(server, await asked(server, 'stop'))).toMatchObject({
      ...{ command: 'stop', status: 'success', progress: 100, error: null },
      initiator: { type: 'api_key' },
    });
    expect(server.bmc.power).toBe('off');
    expect(await overview(server)).toMatchObject({
      ...{ state: 'stopped', locked: false, power: { state: 'off' } },
      actions: { start: { allowed: true }, stop: { allowed: false } },
    });
    expect(await ended(server, await asked(server, 'start'))).toMatchObject({ status: 'success' });
    const again = await asked(server, 'restart', { force: true });
    expect(await ended(server, again)).toMatchObject({ status: 'success' });
    expect(server.bmc).toMatchObject({ power: 'on', starts: ['disk', 'disk'] });
    const { body } = await customer.get(`${server.path}/history?limit=2`);
    expect(body.data).toMatchObject({
      actions: [{ command: 'restart' }, { command: 'start' }],
      ...{ total: 3, pages: 2 },
    });
    const told = await sql<{ action: string }>(
      product,
      `select action from journal where subject_id = $1 and action like 'dedicated.action.%' order by id`,
      server.id,
    );
    const each = ['dedicated.action.started', 'dedicated.action.succeeded'];
    expect(told.map(({ action }) => action)).toEqual([...each, ...each, ...each]);
  });

  it('is switched once of several that ask at once; the others are locked', async () => {
    const server = await rented();
    server.bmc.failing.slowMs = 300;
    const answers = await Promise.all(
      ['restart', 'stop', 'restart', 'stop'].map((action) =>
        customer.post(`${server.path}/${action}`, { force: true }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    for (const { status, body } of answers)
      if (status === 409)
        expect([body.code, body.message]).toEqual(['locked', expect.stringMatching(/still running/)]);
    expect(await overview(server)).toMatchObject({
      locked: true,
      current_action: { status: 'running' },
      actions: { start: { allowed: false, code: 'locked' }, stop: { code: 'locked' } },
    });
    const action = answers.find(({ status }) => status === 200)?.body.data.action;
    await ended(server, action.id);
    expect(server.bmc.starts.length).toBeLessThanOrEqual(1);
  });

  it('is locked while staff switches it, and what staff did is no action of its customer', async () => {
    const server = await rented();
    server.bmc.failing.slowMs = 300;
    await product.staff.post(`/staff/servers/${server.serverId}/restart`, { force: true });
    expect(await overview(server)).toMatchObject({ state: 'restarting', current_action: null });
    const answer = await customer.post(`${server.path}/stop`, { force: true });
    expect([answer.status, answer.body.code]).toEqual([409, 'locked']);
    await until(
      () => overview(server),
      ({ state }) => state === 'running',
      30_000,
    );
    expect((await customer.get(`${server.path}/history`)).body.data.actions).toEqual([]);
  });

  it('that cannot be switched ends in words that say nothing of its BMC', async () => {
    const server = await rented();
    server.bmc.failing.silent = 'before';
    const action = await ended(server, await asked(server, 'stop', { force: true }));
    expect(action).toMatchObject({ status: 'error', error: { code: 'server_not_switched' } });
    expect(await overview(server)).toMatchObject({ locked: false });
    for (const path of ['overview', 'history', 'sensors', 'hardware', 'ips']) {
      const { body } = await customer.get(`${server.path}/${path}`);
      expect(JSON.stringify(body)).not.toMatch(/198\.51\.100|factory-1|simulated|bmc/i);
    }
  }, 120_000);

  it('of a server of which nobody says how it is switched is refused in words', async () => {
    const server = await rented();
    await product.staff.patch(`/staff/servers/${server.serverId}`, { bmc: null });
    const answer = await customer.post(`${server.path}/restart`, {});
    expect([answer.status, answer.body.code]).toEqual([409, 'action_not_allowed']);
    expect(answer.body.message).toMatch(/ask our staff/);
    expect(await overview(server)).toMatchObject({ state: 'error', power: { state: null, silent: true } });
  });
});

describe('what is known of a server', () => {
  it('is its hardware as it was measured, and its sensors as they were read', async () => {
    const server = await rented();
    const { body } = await customer.get(`${server.path}/hardware`);
    expect(body.data).toMatchObject({
      hardware: { processor: { threads: 16 }, disks: [{ kind: 'nvme' }, { kind: 'nvme' }] },
      measured_at: expect.any(String),
    });
    expect(body.data.hardware.bmc).toBeUndefined();
    await product.periodic('fleet.readBmcs');
    await settled(product);
    const sensors = (await customer.get(`${server.path}/sensors`)).body.data;
    expect(sensors).toMatchObject({ read_at: expect.any(String), silent: false });
    expect(sensors.sensors.length).toBeGreaterThan(0);
    expect(Object.keys(sensors)).not.toContain('events');
  });

  it('is its addresses, which get names by reverse DNS', async () => {
    const server = await rented();
    const { ips } = (await customer.get(`${server.path}/ips`)).body.data;
    const { address } = ips[0];
    const named = await customer.patch(`${server.path}/ips`, { address, dns_name: 'big.example.com' });
    expect(named.body.data.ip).toMatchObject({ address, dns_name: 'big.example.com' });
    expect((await overview(server)).ips[0].dns_name).toBe('big.example.com');
    const wrong = await customer.patch(`${server.path}/ips`, { address, dns_name: 'not a name' });
    expect([wrong.status, wrong.body.code]).toEqual([400, 'invalid_domain']);
    const strange = await customer.patch(`${server.path}/ips`, { address: '10.82.0.250', dns_name: null });
    expect(strange.status).toBe(404);
  });
});

describe('who may', () => {
  it('read and switch is what roles say, and nobody of another organization', async () => {
    const server = await rented();
    const [viewer, support] = [
      await newMember(product, customer.organizationId, 'viewer'),
      await newMember(product, customer.organizationId, 'support'),
    ];
    const stranger = await newCustomer(product);
    const statuses = async (who: Person) => [
      (await who.get(`${server.path}/overview`)).status,
      (await who.patch(`${server.path}/ips`, { address: '10.82.0.250', dns_name: null })).status,
      (await who.post(`${server.path}/stop`, { force: true })).status,
    ];
    expect(await statuses(stranger)).toEqual([403, 403, 403]);
    expect(await statuses(viewer)).toEqual([200, 403, 403]);
    const { actions } = (await viewer.get(`${server.path}/overview`)).body.data.dedicated;
    expect(actions.stop).toMatchObject({ allowed: false, code: 'permission_denied' });
    expect(server.bmc.power).toBe('on');
    expect(await statuses(support)).toEqual([200, 403, 200]);
  });

  it('what is no server out of the rack is not found, nor what there is not', async () => {
    const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const { body } = await customer.post('/cart/checkout/invoice', { products: [item] });
    const other = await customer.get(`/dashboard/service/${body.data.service_ids[0]}/dedicated/overview`);
    expect([other.status, other.body.code]).toEqual([404, 'not_on_server']);
    expect((await customer.get('/dashboard/service/4242/dedicated/overview')).status).toBe(404);
  });
});

describe('a change', () =>
  changes.leaveEntries(
    () => product,
    [
      ...['startDedicatedServer', 'stopDedicatedServer', 'restartDedicatedServer'],
      'updateDedicatedIpAddress',
    ],
  ));
