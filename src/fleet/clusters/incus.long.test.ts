/** The whole way on a real Incus of three members: staff adds it, a customer orders, pays and signs in. */
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { startChild } from '../../../test/child.ts';
import { apiClient, type Client } from '../../../test/client.ts';
import { testDatabase } from '../../../test/database.ts';
import { removeDataDir } from '../../../test/dataDir.ts';
import { orderVps } from '../../../test/orders.ts';
import { until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { readConfig } from '../../config.ts';
import { incusCluster } from '../../drivers/hypervisor/incus/driver.ts';
import { type IncusBed, incusBed, reasonToSkip } from '../../drivers/hypervisor/incus/testbed.ts';
import { type OpenCluster, simulatedHypervisor } from '../../drivers/hypervisor/index.ts';
import { runProgram } from '../../platform/host/program.ts';
import { createLog } from '../../platform/index.ts';
import { type Product, startProduct } from '../../product.ts';

const skip = await reasonToSkip();
if (skip) console.warn(`Ordering on a cluster of Incus is not tested: ${skip}`);

const network = 34;
const bootMs = 300_000;

describe.skipIf(skip !== null)('a cluster of Incus', () => {
  let bed: IncusBed;
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let dataDir: string;
  let product: Product;
  let staff: Client;
  let customer: Client;
  let cluster: number;
  let id: number;
  let address: string;

  /** As a provider's hosts would, but for what emulation takes. */
  const open: OpenCluster = (connection, around) => {
    const { imagesDir, directBoot, policesEgress } = bed.options;
    if (connection.engine !== 'incus') throw new Error(`no engine of this test: ${connection.engine}`);
    return incusCluster({ ...connection, ...around, member: null, imagesDir, directBoot, policesEgress });
  };
  async function start(): Promise<void> {
    const config = readConfig({
      ...{ PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, DASHBOARD: 'off', STAFF_EMAIL: 'off' },
      ...{ DATABASE_URL: database.applicationUrl, DATABASE_OWNER_URL: database.url },
      ...{ RATE_LIMITS: 'off', CHECK_RESPONSES: 'on', LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent' },
      ...{ NETWORK4: `10.77.${network}.0/24`, NETWORK6: `fd77:${network}::/64` },
    });
    const drivers = { hypervisor: simulatedHypervisor(), openCluster: open };
    const silent = { stage: () => undefined, say: () => undefined };
    product = await startProduct(config, silent, { drivers, log: createLog(config.logLevel) });
    const { demo, port } = product;
    if (demo === null || port === null) throw new Error('no demonstration');
    const as = (who: { api_key: string; organization_id?: number }) =>
      apiClient(`http://127.0.0.1:${port}/api`, { token: who.api_key, organizationId: who.organization_id });
    [staff, customer] = [as(demo.staff), as(demo.customer)];
  }
  const overview = async () => (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps;
  const settledIn = (state: string, timeoutMs = bootMs) =>
    until(overview, (vps) => vps.state === state && !vps.locked, timeoutMs);
  const ssh = async (command: string) => {
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'LogLevel=ERROR',
      'BatchMode=yes',
    ];
    const argv = ['ssh', '-F', 'none', ...options.flatMap((each) => ['-o', each]), '-i', join(dataDir, 'id')];
    return (await runProgram([...argv, `root@${address}`, command], { timeoutMs: 60_000 })).stdout.trim();
  };

  beforeAll(async () => {
    bed = await incusBed(network, 3);
    await bed.members[0]?.ask('POST', '/1.0/projects', { name: 'unfiltered', config: {} });
    database = await testDatabase();
    dataDir = mkdtempSync(join(tmpdir(), 'innkeeper-clusters-'));
    chmodSync(dataDir, 0o711);
    await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(dataDir, 'id')]);
    await start();
    // All that is ordered is to go to the cluster.
    const [own] = (await staff.get('/staff/nodes')).body.data.nodes;
    await staff.patch(`/staff/nodes/${own.id}`, { state: 'draining' });
  }, 300_000);
  afterAll(async () => {
    await product?.stop();
    bed?.remove();
    await database?.drop();
    if (dataDir) await removeDataDir(dataDir);
  }, 120_000);

  const body = (more: object = {}) => ({
    ...{ name: 'lab', engine: 'incus', location: 'AMS', endpoints: bed.options.endpoints },
    server_certificate: bed.options.serverCertificate,
    credential: { certificate: bed.options.certificate, key: bed.options.key },
    ...{ project: bed.options.project, pool: bed.options.pool, bridge: bed.options.bridge },
    ...more,
  });
  async function added(more: object = {}) {
    const answer = await staff.post('/staff/clusters', body(more));
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return until(
      async () => (await staff.get(`/staff/clusters/${answer.body.data.cluster.id}`)).body.data.cluster,
      ({ check }) => check.state !== 'checking',
    );
  }

  it.each<[string, object, RegExp]>([
    ['has no such project', { project: 'elsewhere' }, /no project elsewhere/],
    ['has no such pool', { pool: 'fast' }, /no storage pool fast/],
    ['has no such bridge', { bridge: 'br9' }, /no bridge br9/],
    ['would have us share what is others’', { project: 'default' }, /default is everybody’s/],
    ['does not say that its members filter', { project: 'unfiltered' }, /incus-filter\.nft on every member/],
  ])('says what it lacks: it %s', { timeout: 60_000 }, async (_what, more, words) => {
    const { id: wrong, check } = await added({ name: 'wrong', ...more });
    expect(check).toMatchObject({ state: 'failed', version: expect.stringMatching(/^6\.0\./) });
    expect(check.problems.join()).toMatch(words);
    expect((await staff.delete(`/staff/clusters/${wrong}`)).status).toBe(200);
  });

  it('is added by staff, and its members become nodes', { timeout: 120_000 }, async () => {
    const seen = await added();
    expect(seen.check).toMatchObject({ state: 'ok', tested: 'tested', problems: [] });
    cluster = seen.id;
    const nodes = await until(
      async () =>
        (await staff.get('/staff/nodes?sort=name')).body.data.nodes.filter(
          (node: { cluster_id: number | null }) => node.cluster_id === cluster,
        ),
      (all) => all.length === 3,
    );
    expect(
      nodes.map(({ name, reachable }: { name: string; reachable: boolean }) => [name, reachable]),
    ).toEqual([
      ['lab/n1', true],
      ['lab/n2', true],
      ['lab/n3', true],
    ]);
    expect(nodes[0].capacity.memory_mib).toBeGreaterThan(512);
  });

  it('runs what a customer orders and pays for, who signs in to it', {
    timeout: bootMs + 120_000,
  }, async () => {
    await until(
      async () => (await staff.get('/staff/images/tiny')).body.data.image.clusters,
      ([one]) => one?.state === 'ready',
      120_000,
    );
    const key = { name: 'laptop', public_key: readFileSync(join(dataDir, 'id.pub'), 'utf8') };
    expect((await customer.post('/dashboard/account/ssh-keys', key)).status).toBe(200);
    const order = await orderVps({ demo: product.demo as never }, customer, { domain: 'on.example.com' });
    id = order.serviceId;
    await customer.post(`/dashboard/invoices/${order.invoiceId}/pay`, { method: 'credit' });
    await until(
      () => customer.get(`/dashboard/services/${id}`),
      (answer) => answer.body.data?.service.status === 'active',
      bootMs,
    );
    const vps = await overview();
    expect(vps).toMatchObject({ state: 'running', hostname: 'on.example.com', host_silent_since: null });
    address = vps.ips[0].address;
    expect(await ssh('hostname')).toBe('on.example.com');
  });

  it('shows its serial line in the browser, and says that it has no screen', {
    timeout: 60_000,
  }, async () => {
    const screen = await customer.get(`/dashboard/service/${id}/vps/console?type=vnc`);
    expect([screen.status, screen.body.code]).toEqual([409, 'not_supported']);
    const { body: opened } = await customer.get(`/dashboard/service/${id}/vps/console?type=serial`);
    const { pathname } = new URL(opened.data.wss_url);
    const socket = new WebSocket(`ws://127.0.0.1:${product.port}${pathname}`);
    let seen = '';
    socket.on('message', (data) => {
      seen += String(data);
    });
    socket.on('open', () => socket.send('\n'));
    await expect.poll(() => seen, { timeout: 30_000 }).toMatch(/login:|#/);
    socket.close();
  });

  it('shares its serial line among processes, which one of them takes by force from another that hangs', {
    timeout: 180_000,
  }, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'innkeeper-clusters-api-'));
    const beside = await startChild(dir, {
      ...{ DATABASE_URL: database.url, ROLE: 'api', DEMO: 'off' },
      SECRET_KEY: readFileSync(join(dataDir, 'secret.key')).toString('base64'),
    });
    const here = `http://127.0.0.1:${product.port}`;
    const sockets: WebSocket[] = [];
    const look = async (url: string) => {
      const ask = () => customer.get(`/dashboard/service/${id}/vps/console?type=serial`);
      const { body: opened } = await until(ask, ({ status }) => status === 200);
      const socket = new WebSocket(url.replace('http', 'ws') + new URL(opened.data.wss_url).pathname);
      sockets.push(socket.on('error', () => undefined));
      const seen = { text: '', isClosed: false };
      socket.on('message', (data) => {
        seen.text += String(data);
      });
      socket.on('close', () => {
        seen.isClosed = true;
      });
      await new Promise((resolve) => socket.once('open', resolve));
      return { seen, type: (keys: string) => socket.send(keys) };
    };
    const sees = ({ seen }: { seen: { text: string } }, what: string) =>
      expect.poll(() => seen.text, { timeout: 30_000 }).toContain(what);
    try {
      // The process beside has to drive the cluster before it can open anything.
      await new Promise((resolve) => setTimeout(resolve, 6_000));
      const there = await look(beside.url);
      there.type('typed-there');
      await sees(there, 'typed-there');
      const joined = await look(here);
      await sees(joined, 'typed-there');
      joined.type('typed-here');
      await sees(there, 'typed-here');
      process.kill(beside.pid, 'SIGSTOP');
      const taken = look(here);
      await until(
        () => sql<{ address: string }>({ databaseUrl: database.url }, 'select address from console_lines'),
        ([row]) => row?.address === here,
        30_000,
      );
      const viewer = await taken;
      viewer.type('by-force');
      await sees(viewer, 'by-force');
      await beside.end('SIGKILL');
      viewer.type('and-still');
      await sees(viewer, 'and-still');
    } finally {
      for (const each of sockets) each.terminate();
      await beside.end('SIGKILL');
      await removeDataDir(dir);
    }
  });

  it('leaves the machine alone when the product starts anew', { timeout: 120_000 }, async () => {
    const bootId = await ssh('cat /proc/sys/kernel/random/boot_id');
    await product.stop();
    await start();
    await until(
      async () => (await staff.get(`/staff/clusters/${cluster}`)).body.data.cluster,
      ({ answers, answered_at: at }) => answers && Date.parse(at) > Date.now() - 5_000,
    );
    // Two turns of comparing.
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    expect(await overview()).toMatchObject({ state: 'running', locked: false });
    expect(await ssh('cat /proc/sys/kernel/random/boot_id')).toBe(bootId);
  });

  it('stops it, keeps it in a snapshot, and starts it', { timeout: bootMs * 2 }, async () => {
    await customer.post(`/dashboard/service/${id}/vps/stop`);
    await settledIn('stopped');
    expect((await customer.post(`/dashboard/service/${id}/vps/snapshots`, { name: 'first' })).status).toBe(
      200,
    );
    await until(overview, ({ locked }) => !locked, 60_000);
    await customer.post(`/dashboard/service/${id}/vps/start`);
    await settledIn('running');
    await expect.poll(() => ssh('hostname').catch(String), { timeout: bootMs }).toBe('on.example.com');
  });

  it('goes to another member with its copies when its own is emptied, off for as long as it takes', {
    timeout: bootMs * 2,
  }, async () => {
    const nodeOf = async () => (await staff.get(`/staff/services/${id}`)).body.data.service.node_id;
    const from = await nodeOf();
    const evacuated = async (how: object) => {
      expect((await staff.post(`/staff/nodes/${from}/evacuate`, how)).status).toBe(200);
      const { machines } = await until(
        async () => (await staff.get(`/staff/nodes/${from}/evacuation`)).body.data.evacuation,
        ({ state }) => state === 'done',
        bootMs,
      );
      return machines;
    };
    const bootId = await ssh('cat /proc/sys/kernel/random/boot_id');
    expect(await evacuated({})).toMatchObject([
      { service_id: id, state: 'stays', reason: expect.stringMatching(/Incus moves no machine that runs/) },
    ]);
    expect(await ssh('cat /proc/sys/kernel/random/boot_id')).toBe(bootId);

    expect(await evacuated({ cold: true })).toMatchObject([
      { service_id: id, state: 'moved', live: false, away_s: expect.any(Number) },
    ]);
    expect(await nodeOf()).not.toBe(from);
    await settledIn('running');
    await expect.poll(() => ssh('hostname').catch(String), { timeout: bootMs }).toBe('on.example.com');
    const { snapshots } = (await customer.get(`/dashboard/service/${id}/vps/snapshots`)).body.data;
    expect(snapshots).toMatchObject([{ name: 'first' }]);
    const on = await sql<{ member: string }>(
      { databaseUrl: database.url },
      'select member from nodes where id = $1',
      await nodeOf(),
    );
    const driver = bed.open();
    expect(await driver.list()).toMatchObject([{ id: `vps-${id}`, power: 'running', node: on[0]?.member }]);
    await driver.close();
    expect((await staff.post(`/staff/nodes/${from}/restore`, {})).status).toBe(200);
  });

  it('is known within forty seconds to have a member that is silent, whose machine is left alone', {
    timeout: 300_000,
  }, async () => {
    const bootId = await ssh('cat /proc/sys/kernel/random/boot_id');
    const [place] = await sql<{ member: string }>(
      { databaseUrl: database.url },
      'select n.member from machines m join nodes n on n.id = m.node_id where m.service_id = $1',
      id,
    );
    const member = bed.members[Number(place?.member.slice(1)) - 1];
    if (!member) throw new Error(`no member ${place?.member}`);
    await member.kill();
    const began = Date.now();
    await until(overview, (vps) => vps.host_silent_since !== null, 60_000);
    expect(Date.now() - began).toBeLessThan(40_000);
    // What is asked for waits, and what is there runs on.
    expect((await customer.post(`/dashboard/service/${id}/vps/restart`)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    expect(await ssh('cat /proc/sys/kernel/random/boot_id')).toBe(bootId);
    const driver = bed.open();
    const unknown = { id: `vps-${id}`, power: 'unknown', node: place?.member };
    await expect.poll(() => driver.list(), { timeout: 30_000, interval: 1_000 }).toMatchObject([unknown]);
    await driver.close();
    const jobs = await sql<{ state: string; attempts: number }>(
      { databaseUrl: database.url },
      `select state, attempts from jobs where name = 'vps.restart'`,
    );
    expect(jobs).toEqual([{ state: 'ready', attempts: 0 }]);
    await member.start();
    await settledIn('running');
    await expect
      .poll(() => ssh('cat /proc/sys/kernel/random/boot_id').catch(() => bootId), { timeout: bootMs })
      .not.toBe(bootId);
    expect(await overview()).toMatchObject({ host_silent_since: null });
  });

  it('is not removed while it has machines', async () => {
    const removed = await staff.delete(`/staff/clusters/${cluster}`);
    expect([removed.status, removed.body.code]).toEqual([409, 'conflict']);
    expect(await overview()).toMatchObject({ state: 'running' });
  });

  it('is left with nothing of ours by a service that ends, and is removed then', {
    timeout: 180_000,
  }, async () => {
    expect((await staff.post(`/staff/services/${id}/terminate`, { reason: 'test' })).status).toBe(200);
    const machine = { ...bed.spec(1), id: `vps-${id}` };
    await until(
      () => bed.leftovers(machine),
      (left) => left.length === 0,
      120_000,
    );
    await until(
      () => staff.delete(`/staff/clusters/${cluster}`),
      ({ status }) => status === 200,
    );
    const { nodes } = (await staff.get('/staff/nodes')).body.data;
    expect(nodes).toHaveLength(1);
  });
});
