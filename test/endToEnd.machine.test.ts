/** The product as a user starts it, on real machines: from an API key to an SSH prompt, and through the power going. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reasonToSkip } from '../src/drivers/hypervisor/qemu/testbed.ts';
import { prepareDataDir } from '../src/platform/host/dataDir.ts';
import { run } from '../src/platform/host/run.ts';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { removeDataDir } from './dataDir.ts';
import { password, runningVps } from './orders.ts';
import { until } from './product.ts';

const hostname = 'first.example.com';
const bootMs = 180_000;
const reason = await reasonToSkip('tiny');
if (reason !== null) console.warn(`The end-to-end test does not run: ${reason}`);

let dataDir: string;
let child: Child;
let customer: Client;
let serviceId = 0;
let address4 = '';
let address6 = '';

/** The product in its data directory, with a network that no other test has. */
async function start(): Promise<Child> {
  const started = await startChild(dataDir, {
    HYPERVISOR: 'qemu',
    IMAGES_DIR: process.env.INNKEEPER_TEST_IMAGES ?? '',
    BRIDGE: 'ike2e',
    NETWORK4: '10.78.0.0/24',
    NETWORK6: 'fd78::/64',
  });
  const { api_key: token, organization_id: organizationId } = started.demo.customer;
  customer = apiClient(`${started.url}/api`, { token, organizationId });
  return started;
}

/** Runs a command in the machine; fails unless it lets us in. */
async function inMachine(address: string, command: string, by: 'key' | 'password' = 'key'): Promise<string> {
  const common = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'ConnectTimeout=10',
  ];
  const ssh = (options: string[]) => [
    'ssh',
    '-F',
    'none',
    ...[...common, ...options].flatMap((o) => ['-o', o]),
  ];
  const argv =
    by === 'key'
      ? [...ssh(['BatchMode=yes', 'PasswordAuthentication=no']), '-i', join(dataDir, 'id')]
      : ['sshpass', '-e', ...ssh(['PubkeyAuthentication=no'])];
  const { stdout } = await run([...argv, `root@${address}`, command], {
    env: { ...process.env, SSHPASS: password },
    timeoutMs: 60_000,
  });
  return stdout.trim();
}

const bootId = () => inMachine(address4, 'cat /proc/sys/kernel/random/boot_id');

/** Processes of machines whose files are in this data directory. */
function machinePids(runDir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return line.startsWith('qemu-system') || line.includes('/qemu-system')
          ? line.includes(runDir)
          : false;
      } catch {
        return false; // it has ended meanwhile
      }
    });
}

async function stateOf(): Promise<string> {
  return (await customer.get(`/dashboard/service/${serviceId}/vps/overview`)).body.data?.vps.state;
}

/** Asks for an action and waits for its success. */
async function act(command: string, body: object = {}): Promise<void> {
  const asked = await customer.post(`/dashboard/service/${serviceId}/vps/${command}`, body);
  expect(asked.body).toMatchObject({ success: true, data: { action: { command } } });
  const { id } = asked.body.data.action;
  const ended = await until(
    async () => (await customer.get(`/dashboard/service/${serviceId}/vps/history/${id}`)).body.data.action,
    (action) => ['success', 'error'].includes(action.status),
    bootMs,
  );
  expect(ended).toMatchObject({ status: 'success', progress: 100, error: null });
}

describe.skipIf(reason !== null)('the product on real machines', () => {
  let runDir: string;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'innkeeper-e2e-'));
    runDir = (await prepareDataDir(dataDir)).runDir;
    await run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'ada@laptop', '-f', join(dataDir, 'id')]);
    child = await start();
  }, 120_000);

  afterAll(async () => {
    await child.end('SIGTERM');
    for (const pid of machinePids(runDir)) process.kill(pid, 'SIGKILL');
    await until(
      async () => machinePids(runDir),
      (pids) => pids.length === 0,
    );
    await removeDataDir(dataDir);
  });

  it('turns a paid order into a machine that lets its owner in by key', { timeout: bootMs }, async () => {
    const public_key = readFileSync(join(dataDir, 'id.pub'), 'utf8');
    const added = await customer.post('/dashboard/account/ssh-keys', { name: 'laptop', public_key });
    expect(added.status).toBe(200);
    const order = await runningVps(child, customer, { option5: 1, domain: hostname }, bootMs);
    serviceId = order.serviceId;
    const { vps } = (await customer.get(`/dashboard/service/${serviceId}/vps/overview`)).body.data;
    expect(vps).toMatchObject({ state: 'running', hostname, locked: false, os: { slug: 'tiny' } });
    [address4, address6] = vps.ips.map((ip: { address: string }) => ip.address);
    expect(await inMachine(address4, 'hostname')).toBe(hostname);
  });

  it('lets its owner in by the password of the order', async () => {
    expect(await inMachine(address4, 'hostname', 'password')).toBe(hostname);
  });

  it('answers at its IPv6 address too', async () => {
    expect(await inMachine(address6, 'hostname')).toBe(hostname);
  });

  it('has the size that was ordered', async () => {
    expect(await inMachine(address4, 'nproc')).toBe('1');
    const memoryKib = Number(
      await inMachine(address4, "sed -n 's/^MemTotal: *\\([0-9]*\\).*/\\1/p' /proc/meminfo"),
    );
    expect(memoryKib).toBeGreaterThan(800 * 1024);
    expect(memoryKib).toBeLessThanOrEqual(1024 * 1024);
  });

  it('tells whoever runs it that it lives, is ready, and counts', async () => {
    for (const path of ['/livez', '/readyz']) expect((await fetch(child.url + path)).status).toBe(200);
    const metrics = await (await fetch(`${child.url}/metrics`)).text();
    expect(metrics).toMatch(/^# TYPE \w+ (counter|histogram|gauge)$/m);
  });

  it('dies, and the machine runs on; started again in seconds, it adopts it', {
    timeout: bootMs,
  }, async () => {
    const before = await bootId();
    await child.end('SIGKILL');
    expect(await bootId()).toBe(before);
    const since = Date.now();
    child = await start();
    expect(Date.now() - since).toBeLessThan(20_000);
    expect(await stateOf()).toBe('running');
    expect(await bootId()).toBe(before);
    expect(machinePids(runDir)).toHaveLength(1);
  });

  it('restarts, stops and starts an adopted machine', { timeout: 3 * bootMs }, async () => {
    const before = await bootId();
    await act('restart');
    expect(await bootId()).not.toBe(before);
    await act('stop');
    expect([await stateOf(), machinePids(runDir)]).toEqual(['stopped', []]);
    await act('start');
    expect(await inMachine(address4, 'hostname')).toBe(hostname);
    await act('restart', { force: true });
    expect(await stateOf()).toBe('running');
  });

  it('brings a machine back whose process was killed', { timeout: bootMs }, async () => {
    await until(bootId, (id) => id !== '', bootMs);
    const [pid = 0] = machinePids(runDir);
    const killedAt = Date.now();
    process.kill(pid, 'SIGKILL');
    await until(
      async () => machinePids(runDir),
      (pids) => pids.length === 1 && pids[0] !== pid,
      30_000,
    );
    expect(Date.now() - killedAt).toBeLessThan(30_000);
    await until(
      () => inMachine(address4, 'hostname').catch(() => ''),
      (seen) => seen === hostname,
      bootMs,
    );
    expect(await stateOf()).toBe('running');
  });

  it('stops when it is asked to, and leaves the machine running', { timeout: bootMs }, async () => {
    await child.end('SIGTERM');
    expect(await inMachine(address4, 'hostname')).toBe(hostname);
    child = await start();
    expect(await stateOf()).toBe('running');
  });
});
