/** A real machine of the product's own host goes into a real Incus: its guest is the same one, with all that it had written. */
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient, type Client } from '../../../test/client.ts';
import { testDatabase } from '../../../test/database.ts';
import { removeDataDir } from '../../../test/dataDir.ts';
import { orderVps } from '../../../test/orders.ts';
import { until } from '../../../test/product.ts';
import { settled } from '../../../test/sql.ts';
import { readConfig } from '../../config.ts';
import { incusCluster } from '../../drivers/hypervisor/incus/driver.ts';
import { type IncusBed, incusBed, reasonToSkip } from '../../drivers/hypervisor/incus/testbed.ts';
import { type Hypervisor, type OpenCluster, qemuHypervisor } from '../../drivers/hypervisor/index.ts';
import { runProgram } from '../../platform/host/program.ts';
import { createLog } from '../../platform/index.ts';
import { type Product, startProduct } from '../../product.ts';
import { machineIdOf } from '../machine.ts';

const skip = await reasonToSkip();
if (skip) console.warn(`Machines do not go into a cluster of Incus: ${skip}`);

const network = 39;
const bootMs = 300_000;

describe.skipIf(skip !== null)(
  'a machine that goes from the own host into Incus',
  { timeout: bootMs * 3 },
  () => {
    let bed: IncusBed;
    let database: Awaited<ReturnType<typeof testDatabase>>;
    let dataDir: string;
    let host: Hypervisor;
    let product: Product;
    let staff: Client;
    let customer: Client;
    let cluster: number;
    let id: number;
    let address: string;
    let known = '';

    /** As a provider's hosts would, but for what emulation takes. */
    const open: OpenCluster = (connection, around) => {
      const { imagesDir, directBoot, policesEgress } = bed.options;
      if (connection.engine !== 'incus') throw new Error(`no engine of this test: ${connection.engine}`);
      return incusCluster({ ...connection, ...around, member: null, imagesDir, directBoot, policesEgress });
    };
    const ssh = async (command: string, more: readonly string[] = []) => {
      const options = ['LogLevel=ERROR', 'BatchMode=yes', 'ConnectTimeout=10', ...more];
      const argv = [
        'ssh',
        '-F',
        'none',
        ...options.flatMap((each) => ['-o', each]),
        '-i',
        join(dataDir, 'id'),
      ];
      return (await runProgram([...argv, `root@${address}`, command], { timeoutMs: 60_000 })).stdout.trim();
    };
    /** Only to whoever shows the key that the guest showed first. */
    const sameGuest = (command: string) =>
      ssh(command, ['StrictHostKeyChecking=yes', `UserKnownHostsFile=${known}`]);
    const node = async () => (await staff.get('/staff/nodes?sort=name')).body.data.nodes;

    beforeAll(async () => {
      bed = await incusBed(network, 2);
      database = await testDatabase();
      dataDir = mkdtempSync(join(tmpdir(), 'ikm-'));
      chmodSync(dataDir, 0o711);
      known = join(dataDir, 'known');
      await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(dataDir, 'id')]);
      host = qemuHypervisor({
        ...{
          dir: join(dataDir, 'hypervisor'),
          runDir: join(dataDir, 'run'),
          imagesDir: bed.options.imagesDir,
        },
        // The network that the cluster's members are in as well: an address is reached wherever it is.
        bridge: {
          name: `iki${network}`,
          addresses: [`10.77.${network}.1/24`, `fd77:${network}::1/64`],
          nat: false,
        },
        ...{ diskLimits: { iops: 0, mbPerSecond: 0 }, netbootUrl: null },
        log: { info: () => undefined, warn: () => undefined, error: console.error },
      });
      const config = readConfig({
        ...{ PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, DASHBOARD: 'off', STAFF_EMAIL: 'off' },
        ...{ DATABASE_URL: database.applicationUrl, DATABASE_OWNER_URL: database.url },
        ...{ RATE_LIMITS: 'off', CHECK_RESPONSES: 'on', LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent' },
        ...{ NETWORK4: `10.77.${network}.0/24`, NETWORK6: `fd77:${network}::/64` },
      });
      const silent = { stage: () => undefined, say: () => undefined };
      const drivers = { hypervisor: host, openCluster: open };
      product = await startProduct(config, silent, { drivers, log: createLog(config.logLevel) });
      const { demo, port } = product;
      if (demo === null || port === null) throw new Error('no demonstration');
      const as = (who: { api_key: string; organization_id?: number }) =>
        apiClient(`http://127.0.0.1:${port}/api`, {
          token: who.api_key,
          organizationId: who.organization_id,
        });
      [staff, customer] = [as(demo.staff), as(demo.customer)];
    }, 300_000);
    afterAll(async () => {
      for (const report of (await host?.list().catch(() => [])) ?? []) await host.destroy(report.id);
      await product?.stop();
      bed?.remove();
      await database?.drop();
      if (dataDir) await removeDataDir(dataDir);
    }, 120_000);

    it('runs on the own host at first, and writes', async () => {
      const key = { name: 'laptop', public_key: readFileSync(join(dataDir, 'id.pub'), 'utf8') };
      expect((await customer.post('/dashboard/account/ssh-keys', key)).status).toBe(200);
      const order = await orderVps({ demo: product.demo as never }, customer, { domain: 'goes.example.com' });
      id = order.serviceId;
      await customer.post(`/dashboard/invoices/${order.invoiceId}/pay`, { method: 'credit' });
      await until(
        () => customer.get(`/dashboard/services/${id}`),
        (answer) => answer.body.data?.service.status === 'active',
        bootMs,
      );
      address = (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps.ips[0].address;
      await ssh('echo of the night before > /root/kept', [
        'StrictHostKeyChecking=no',
        `UserKnownHostsFile=${known}`,
      ]);
      expect(await sameGuest('hostname')).toBe('goes.example.com');
    });

    it('goes into the cluster with host key, files and a backup, and its host has nothing of it any more', async () => {
      const answer = await staff.post('/staff/clusters', {
        ...{ name: 'lab', engine: 'incus', location: 'AMS', endpoints: bed.options.endpoints },
        server_certificate: bed.options.serverCertificate,
        credential: { certificate: bed.options.certificate, key: bed.options.key },
        ...{ project: bed.options.project, pool: bed.options.pool, bridge: bed.options.bridge },
      });
      cluster = answer.body.data.cluster.id;
      await until(node, (all) => all.length === 3, 60_000);
      await until(
        async () => (await staff.get('/staff/images/tiny')).body.data.image.clusters,
        ([one]) => one?.state === 'ready',
        120_000,
      );
      const own = (await node()).find((each: { cluster_id: number | null }) => each.cluster_id === null);
      await sameGuest('echo a moment before > /root/last; echo of the last day >> /root/kept');
      const body = { cluster_id: cluster, service_ids: [id], cold: true };
      expect((await staff.post(`/staff/nodes/${own.id}/evacuate`, body)).status).toBe(200);
      const { machines } = await until(
        async () => (await staff.get(`/staff/nodes/${own.id}/evacuation`)).body.data.evacuation,
        ({ state }) => state === 'done',
        bootMs * 2,
      );
      expect(machines).toMatchObject([
        { service_id: id, state: 'moved', reason: null, live: false, away_s: expect.any(Number) },
      ]);
      console.log(`it was off for ${machines[0].away_s} s`);
      await settled({ databaseUrl: database.url });
      const driver = bed.open();
      expect(await driver.list()).toMatchObject([{ id: machineIdOf(id, 2), power: 'running' }]);
      await driver.close();
      expect(await host.list()).toEqual([]);
      expect(await sameGuest('cat /root/kept /root/last; hostname')).toBe(
        'of the night before\nof the last day\na moment before\ngoes.example.com',
      );
      const { vps } = (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data;
      expect(vps).toMatchObject({ state: 'running', locked: false });
      expect(vps.ips[0].address).toBe(address);
    });

    it('leaves nothing behind of its way: no image in the cluster that is its disk', async () => {
      const [first] = bed.members;
      const images = JSON.stringify(await first?.ask('GET', '/1.0/images?project=innkeeper&recursion=1'));
      expect(images).toContain('innkeeper.slug');
      expect(images).not.toContain('innkeeper.disk-of');
    });
  },
);
