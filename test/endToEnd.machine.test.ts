/** The product as a user starts it, on real machines: from an API key to an SSH prompt, and through the power going. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reasonToSkip } from '../src/drivers/hypervisor/qemu/testbed.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { bootMs, type RealProduct, startRealProduct } from './machines.ts';
import { password, runningVps } from './orders.ts';
import { until } from './product.ts';

const hostname = 'first.example.com';
const reason = await reasonToSkip('tiny');
if (reason !== null) console.warn(`The end-to-end test does not run: ${reason}`);

describe.skipIf(reason !== null)('the product on real machines', () => {
  let product: RealProduct;
  let serviceId = 0;
  let address4 = '';
  let address6 = '';

  beforeAll(async () => {
    product = await startRealProduct('ike2e', 78);
  }, 120_000);
  afterAll(() => product?.stop());

  const hostnameSeen = () => product.ssh(address4, 'hostname');
  const bootId = () => product.ssh(address4, 'cat /proc/sys/kernel/random/boot_id');
  const stateOf = async () =>
    (await product.customer.get(`/dashboard/service/${serviceId}/vps/overview`)).body.data?.vps.state;
  const act = async (command: string, body: object = {}) => {
    const { action } = await product.act(serviceId, 'POST', `/${command}`, body);
    expect(action).toMatchObject({ command, status: 'success', progress: 100, error: null });
  };

  it('keeps some of the host for itself', async () => {
    const [node] = (await product.staff.get('/staff/nodes')).body.data.nodes;
    expect(node.capacity.memory_mib - node.promised.memory_mib).toBeGreaterThanOrEqual(1_024);
    expect(node.promised.disk_gib).toBeLessThan(node.capacity.disk_gib);
  });

  it('turns a paid order into a machine that lets its owner in by key', { timeout: bootMs }, async () => {
    const public_key = readFileSync(join(product.dataDir, 'id.pub'), 'utf8');
    const added = await product.customer.post('/dashboard/account/ssh-keys', { name: 'laptop', public_key });
    expect(added.status).toBe(200);
    const order = await runningVps(product.child, product.customer, { option5: 1, domain: hostname }, bootMs);
    serviceId = order.serviceId;
    const { vps } = (await product.customer.get(`/dashboard/service/${serviceId}/vps/overview`)).body.data;
    expect(vps).toMatchObject({ state: 'running', hostname, locked: false, os: { slug: 'tiny' } });
    [address4, address6] = vps.ips.map((ip: { address: string }) => ip.address);
    expect(await hostnameSeen()).toBe(hostname);
  });

  it.runIf(process.getuid?.() === 0)(
    'runs under an account of its own, with files that no other account can reach',
    async () => {
      const [machine] = product.machinePids();
      const accountOf = async (pid: number) =>
        (await runProgram(['ps', '-o', 'user:32=', '-p', `${pid}`])).stdout.trim();
      const dir = join(product.dataDir, 'hypervisor/machines', `vps-${serviceId}`);
      const postmaster = readFileSync(join(product.dataDir, 'postgres/data/postmaster.pid'), 'utf8');
      const account = Number(await accountOf(machine ?? 0));
      expect(account).toBeGreaterThanOrEqual(0x7000_0000);
      expect(statSync(join(dir, 'disk.qcow2')).uid).toBe(account);
      const { uid, gid, mode } = statSync(dir);
      expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 0, gid: account, mode: 0o710 });
      expect(await accountOf(Number.parseInt(postmaster, 10))).toBe('innkeeper');
    },
  );

  it('lets its owner in by the password of the order', async () => {
    expect(await product.ssh(address4, 'hostname', password)).toBe(hostname);
  });

  it('answers at its IPv6 address too', async () => {
    expect(await product.ssh(address6, 'hostname')).toBe(hostname);
  });

  it('has the size that was ordered', async () => {
    expect(await product.ssh(address4, 'nproc')).toBe('1');
    const memoryKib = Number(
      await product.ssh(address4, "sed -n 's/^MemTotal: *\\([0-9]*\\).*/\\1/p' /proc/meminfo"),
    );
    expect(memoryKib).toBeGreaterThan(800 * 1024);
    expect(memoryKib).toBeLessThanOrEqual(1024 * 1024);
  });

  it('tells whoever runs it that it lives, is ready, and counts', async () => {
    for (const path of ['/livez', '/readyz'])
      expect((await fetch(product.child.url + path)).status).toBe(200);
    const metrics = await (await fetch(`${product.child.url}/metrics`)).text();
    expect(metrics).toMatch(/^# TYPE \w+ (counter|histogram|gauge)$/m);
  });

  it('dies, and the machine runs on; started again in seconds, it adopts it', {
    timeout: bootMs,
  }, async () => {
    const before = await bootId();
    await product.child.end('SIGKILL');
    expect(await bootId()).toBe(before);
    const since = Date.now();
    await product.start();
    expect(Date.now() - since).toBeLessThan(20_000);
    expect(await stateOf()).toBe('running');
    expect(await bootId()).toBe(before);
    expect(product.machinePids()).toHaveLength(1);
  });

  it('restarts, stops and starts an adopted machine', { timeout: 3 * bootMs }, async () => {
    const before = await bootId();
    await act('restart');
    expect(await bootId()).not.toBe(before);
    await act('stop');
    expect([await stateOf(), product.machinePids()]).toEqual(['stopped', []]);
    await act('start');
    expect(await hostnameSeen()).toBe(hostname);
    await act('restart', { force: true });
    expect(await stateOf()).toBe('running');
  });

  it('brings a machine back whose process was killed', { timeout: bootMs }, async () => {
    await until(bootId, (id) => id !== '', bootMs);
    const [pid = 0] = product.machinePids();
    const killedAt = Date.now();
    process.kill(pid, 'SIGKILL');
    await until(
      async () => product.machinePids(),
      (pids) => pids.length === 1 && pids[0] !== pid,
      30_000,
    );
    expect(Date.now() - killedAt).toBeLessThan(30_000);
    await until(
      () => hostnameSeen().catch(() => ''),
      (seen) => seen === hostname,
      bootMs,
    );
    expect(await stateOf()).toBe('running');
  });

  it('stops when it is asked to, and leaves the machine running', { timeout: bootMs }, async () => {
    await product.child.end('SIGTERM');
    expect(await hostnameSeen()).toBe(hostname);
    await product.start();
    expect(await stateOf()).toBe('running');
  });
});
