/**
 * DEMO_RACK with real machines, as somebody uses it who tries the product: a server of QEMU behind a BMC comes to be on sale by itself, is ordered,
 * let in by SSH and switched by its power button; neither the end of the product nor its death takes it away; and it comes back wiped.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from '../../../../test/child.ts';
import { apiClient, type Client } from '../../../../test/client.ts';
import { until } from '../../../../test/product.ts';
import { rackTree, withoutRack } from '../../../../test/rack/here.ts';
import { orderDedicated } from '../../../../test/rack/stocked.ts';
import { signalIfThere } from '../../../../test/signal.ts';
import { runProgram } from '../../../platform/host/program.ts';
import { readPlan } from './network.ts';
import { treeName } from './programs.ts';

const installer = process.env.INNKEEPER_TEST_INSTALLER;
const skip = withoutRack ?? (installer ? null : 'the installer is not built: npm test builds it first');
if (skip) console.warn(`The demonstration’s rack of QEMU is not tested: ${skip}`);

/** Command lines of what runs with this folder in it. */
function running(dir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // it has ended meanwhile
      }
    })
    .filter((line) => line.includes(dir));
}

const seconds = (began: number) => Math.round((performance.now() - began) / 1_000);
const patienceMs = 900_000;
const patient = { timeout: 2 * patienceMs };

describe.skipIf(skip !== null)('the demonstration’s rack of QEMU', () => {
  let dir: string;
  let child: Child;
  let staff: Client;
  let customer: Client;
  let productId: number;
  let service = { id: 0, ip: '' };

  const rackDir = () => join(dir, 'rack-qemu');
  const plan = () => readPlan(rackDir());
  async function start(): Promise<void> {
    child = await startChild(dir, {
      ...{ HYPERVISOR: 'qemu', IMAGES_DIR: installer ?? '', DEMO_RACK: '1' },
      ...{ BRIDGE: 'ikdrack', NETWORK4: '10.92.0.0/24', NETWORK6: 'fd92::/64' },
    });
    const { staff: keeper, customer: ada, products } = child.demo;
    staff = apiClient(`${child.url}/api`, { token: keeper.api_key });
    customer = apiClient(`${child.url}/api`, { token: ada.api_key, organizationId: ada.organization_id });
    productId = products.dedicated;
  }

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'innkeeper-demo-rack-'));
    // Tests have no network to fetch them by.
    await mkdir(join(rackDir(), treeName), { recursive: true });
    await symlink(rackTree, join(rackDir(), treeName, 'tree'));
    await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(dir, 'id')]);
    await start();
    const key = (await readFile(join(dir, 'id.pub'), 'utf8')).trim();
    await customer.post('/dashboard/account/ssh-keys', { name: 'mine', public_key: key });
  });
  afterAll(async () => {
    // Asked, so that its rack ends with it.
    await child?.end('SIGTERM');
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  });

  const stock = async () => (await customer.get(`/products/${productId}`)).body.data.product.stock as number;
  const servers = async () => (await staff.get('/staff/servers')).body.data.servers;
  const server = async () => {
    const [{ id }] = await servers();
    return (await staff.get(`/staff/servers/${id}`)).body.data.server;
  };
  const arrivals = async () => (await staff.get('/staff/enrolment/arrivals')).body.data.arrivals.length;
  const ssh = async (command: string) => {
    const options = [
      ...['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'ConnectTimeout=5'],
    ].flatMap((each) => ['-o', each]);
    const argv = ['ssh', '-i', join(dir, 'id'), ...options, `root@${service.ip}`, command];
    return (await runProgram(argv, { timeoutMs: 30_000 })).stdout.trim();
  };
  const bootId = () => ssh('cat /proc/sys/kernel/random/boot_id');
  const asked = async (what: string, body: object) => {
    const began = performance.now();
    const path = `/dashboard/service/${service.id}/dedicated`;
    const answer = await customer.post(`${path}/${what}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const action = await until(
      async () => (await customer.get(`${path}/history/${answer.body.data.action.id}`)).body.data.action,
      (each) => each.status !== 'queued' && each.status !== 'running',
      patienceMs,
    );
    console.log(`${what} in ${seconds(began)} s`);
    expect(action).toMatchObject({ status: 'success' });
  };

  it(
    'has its server on sale by itself, and knows the port of the switch that it is plugged into',
    patient,
    async () => {
      const began = performance.now();
      await until(stock, (left) => left === 1, patienceMs);
      console.log(`on sale ${seconds(began)} s after the product was ready`);
      expect(await server()).toMatchObject({
        ...{ name: 'demo-q01', serial: 'DEMO-Q01', state: 'ready' },
        ports: [{ mac: '52:54:00:de:01:01', switch: 'demo-switch', switch_port: 'port1' }],
      });
      expect((await staff.get('/staff/enrolment')).body.data.enrolment.is_open).toBe(false);
    },
  );

  it('delivers it to whoever pays, and lets them in', patient, async () => {
    const began = performance.now();
    const { serviceId } = await orderDedicated(customer, productId, { option8: 'RACK' });
    const read = async () => (await customer.get(`/dashboard/services/${serviceId}`)).body.data.service;
    const after = await until(
      read,
      ({ provisioning_state: state }) => state === 'done' || state === 'failed',
      patienceMs,
    );
    console.log(`paid → SSH in ${seconds(began)} s`);
    expect(after).toMatchObject({ status: 'active', provisioning_state: 'done' });
    service = { id: serviceId, ip: after.primary_ip };
    expect(await ssh('hostname')).toBe('metal1.example.com');
    await ssh('echo kept > /root/mine; sync');
  });

  it('follows its power button: it is stopped, started and restarted without force', patient, async () => {
    const before = await bootId();
    await asked('stop', {});
    expect(await server()).toMatchObject({ bmc: { power: 'off' } });
    await asked('start', {});
    const isAnother = (id: string) => id !== '' && id !== before;
    const started = await until(() => bootId().catch(() => ''), isAnother, patienceMs);
    await asked('restart', {});
    await until(
      () => bootId().catch(() => ''),
      (id) => isAnother(id) && id !== started,
      patienceMs,
    );
    expect(await ssh('cat /root/mine')).toBe('kept');
  });

  it('goes on while the product and its own process are killed, and is found again', patient, async () => {
    const before = await bootId();
    const ownPid = async () =>
      JSON.parse(await readFile(join(rackDir(), 'place.json'), 'utf8')).pid as number;
    const pid = await ownPid();
    await child.end('SIGKILL');
    signalIfThere(pid, 'SIGKILL');
    await start();
    await until(
      () => ownPid().catch(() => pid),
      (now) => now !== pid,
      patienceMs,
    );
    expect(await bootId()).toBe(before);
  });

  it(
    'leaves nothing behind when it is ended, and is on again as it was when it is started: still its customer’s, and enrolled no second time',
    patient,
    async () => {
      await ssh('echo also kept > /root/unwritten');
      const before = await bootId();
      const known = [(await servers()).length, await arrivals()];
      const began = performance.now();
      await child.end('SIGTERM');
      console.log(`ended in ${seconds(began)} s`);
      expect(running(dir)).toEqual([]);
      expect(existsSync(`/run/netns/${plan().namespace}`)).toBe(false);
      await start();
      await until(
        () => bootId().catch(() => ''),
        (id) => id !== '' && id !== before,
        patienceMs,
      );
      // It was shut down, and not cut off: nothing of it had been written down by hand.
      expect(await ssh('cat /root/mine; cat /root/unwritten')).toBe('kept\nalso kept');
      await until(
        async () => child.output(),
        (printed) => printed.includes('are on sale'),
        patienceMs,
      );
      expect(await server()).toMatchObject({
        ...{ state: 'rented', service_id: service.id, bmc: { user: 'innkeeper', problem: null } },
      });
      expect([(await servers()).length, await arrivals()]).toEqual(known);
      // With the password that its BMC had before.
      await asked('stop', { force: true });
      await asked('start', {});
    },
  );

  it(
    'takes the power of its server, and its network away, when nobody comes back to it',
    patient,
    async () => {
      await child.end('SIGKILL');
      await until(
        async () => [existsSync(`/run/netns/${plan().namespace}`), running(rackDir()).length],
        ([isThere, left]) => isThere === false && left === 0,
        patienceMs,
      );
      await start();
      await until(() => bootId().catch(() => ''), Boolean, patienceMs);
    },
  );

  it('comes back wiped with proof, and is on sale again', patient, async () => {
    const began = performance.now();
    const { status } = await customer.post(`/dashboard/services/${service.id}/cancel`, { type: 'immediate' });
    expect(status).toBe(200);
    await until(stock, (left) => left === 1, patienceMs);
    console.log(`cancelled → in stock in ${seconds(began)} s`);
    expect(await server()).toMatchObject({ state: 'ready', service_id: null, bmc: { power: 'off' } });
    const proof = await customer.get(`/dashboard/service/${service.id}/dedicated/erasure`);
    expect(proof.body.data.erasure.disks).toHaveLength(2);
  });
});
