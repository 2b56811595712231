import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { type RackBmc, startBmc } from '../../../test/rack/bmc.ts';
import { rackTree, withoutRack } from '../../../test/rack/here.ts';
import { openRackNetwork, type RackNetwork } from '../../../test/rack/network.ts';
import { type RackRedfish, startRedfish } from '../../../test/rack/redfish.ts';
import { buildServer, cardOf, ovmf, type Server } from '../../../test/rack/server.ts';
import { programIn, surroundings } from '../../../test/unpacked.ts';
import { freePort } from '../../../test/valkey.ts';
import { certificateOf, openBmcs } from '../../drivers/bmc/index.ts';
import { openNetboot } from '../../drivers/netboot/index.ts';
import { runAsRoot } from '../../platform/host/program.ts';

const installer = process.env.INNKEEPER_TEST_INSTALLER;
const skip = withoutRack ?? (installer ? null : 'the installer is not built: npm test builds it first');
if (skip) console.warn(`Enrolling a real server is not tested: ${skip}`);

const mac = '52:54:00:be:ef:61';
const serials = ['NVME-0061', 'SATA-0061'];
const patienceMs = 240_000;

describe.skipIf(skip !== null)(
  'a server with UEFI and Redfish that nobody knows and that starts from the network',
  () => {
    let dir: string;
    let network: RackNetwork;
    let server: Server;
    let bmc: RackBmc;
    let redfish: RackRedfish;
    let product: TestProduct;
    const bmcAddress = () => `${network.subnet}2`;

    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), 'innkeeper-enrolled-'));
      network = await openRackNetwork(6);
      // The BMC's own network port, here on the same bridge.
      await runAsRoot(['ip', 'address', 'add', `${bmcAddress()}/24`, 'dev', network.bridge]);
      server = await buildServer(join(dir, 'server'), rackTree, {
        disks: [
          { serial: 'NVME-0061', kind: 'nvme', mib: 64 },
          { serial: 'SATA-0061', kind: 'sata', mib: 64 },
        ],
        network: await network.port(mac, cardOf.uefi),
        firmware: await ovmf(dir, rackTree),
        serial: 'R1-0061',
      });
      for (const serial of serials) await server.leaveBehind(serial, 0x5a, '20M', '1M');
      bmc = await chassisOf();
      redfish = await startRedfish(bmc, { address: bmcAddress(), port: 443 });
      product = await startTestProduct({
        env: {
          ...{ HYPERVISOR: 'simulator', IMAGES_DIR: installer ?? '', RACK_INTERFACE: network.bridge },
          ...{ RACK_ADDRESSES: `${network.subnet}100-${network.subnet}150`, RACK_PORT: '0' },
          // ipmi_sim lets in by cipher suite 0, and cannot be told not to.
          INSECURE_BMCS: 'on',
        },
        drivers: {
          bmc: openBmcs({ ipmi: bmc.ipmi, offForMs: 100 }),
          // It is on this host here, which no real one is.
          bmcCertificate: (address, port) => certificateOf(address, port, [address]),
          netboot: (options) =>
            openNetboot({ ...options, program: programIn(rackTree, 'dnsmasq'), env: surroundings(rackTree) }),
        },
      });
    });
    afterAll(async () => {
      await product?.stop();
      redfish?.close();
      await bmc?.close();
      await network?.close();
      await rm(dir, { recursive: true, force: true });
    });

    /** The server with its BMC, which has its power. */
    async function chassisOf(): Promise<RackBmc> {
      const program = join(dir, 'start');
      const guestPort = await freePort();
      const argv = server
        .commandLine('SERIAL', guestPort)
        .map((each) => `'${each}'`.replace('SERIAL', `'"$RACK_RUN"'/serial`));
      await writeFile(program, `#!/bin/sh\n[ "$1" = start ] && exec ${argv.join(' ')}\n`, { mode: 0o755 });
      return startBmc(rackTree, {
        ...{ server: program, guestPort, address: bmcAddress(), port: 623, serial: 'R1-0061' },
      });
    }

    const staff = () => product.staff;
    const arrivals = async () => (await staff().get('/staff/enrolment/arrivals')).body.data.arrivals;
    const hashes = () =>
      Promise.all(
        serials.map(async (serial) =>
          createHash('sha256')
            .update(await readFile(await server.rawDisk(serial)))
            .digest('hex'),
        ),
      );

    it('waits in the list, is accepted, gives its BMC our password, is proved, and its disks are as they were', async () => {
      const before = await hashes();
      await expect
        .poll(
          async () => (await staff().get('/staff/enrolment')).body.data.enrolment.networks[0]?.is_served,
          {
            timeout: 60_000,
          },
        )
        .toBe(true);
      expect((await staff().post('/staff/enrolment/open', { hours: 1 })).status).toBe(200);
      await bmc.press('set', 'power', '1');
      await expect.poll(arrivals, { timeout: patienceMs, interval: 500 }).toHaveLength(1);
      const [arrival] = await arrivals();
      expect(arrival).toMatchObject({
        ...{ state: 'waiting', mac, serial: 'R1-0061', is_there: true, alike: [] },
        hardware: {
          ...{
            system: { vendor: 'Example', product: 'R1' },
            firmware: { boot: 'uefi' },
            processor: { cores: 2 },
          },
          disks: expect.arrayContaining(
            serials.map((serial) => expect.objectContaining({ serial, bytes: 64 * 2 ** 20, healthy: true })),
          ),
          ports: [{ name: 'eth0', mac, linked: true }],
          bmc: { address: bmcAddress() },
        },
      });

      const { status, body } = await staff().post(`/staff/enrolment/arrivals/${arrival.id}/accept`, {
        ...{ name: 'ams2-61', bmc_kind: 'redfish' },
      });
      expect(status, JSON.stringify(body)).toBe(200);
      await expect
        .poll(async () => (await arrivals())[0].state, { timeout: patienceMs, interval: 500 })
        .not.toBe('accepted');
      const [after] = await arrivals();
      expect(after, await bmc.tool('user', 'list', '1')).toMatchObject({ state: 'enrolled', problem: null });
      const { body: one } = await staff().get(`/staff/servers/${after.server_id}`);
      expect(one.data.server).toMatchObject({
        ...{
          name: 'ams2-61',
          state: 'ready',
          macs: [mac],
          bmc: {
            ...{ kind: 'redfish', address: bmcAddress(), user: 'innkeeper' },
            certificate: redfish.connection.certificate?.replaceAll(':', '').toLowerCase(),
          },
        },
      });
      expect((await bmc.server()).runs).toBe(false);
      expect(await hashes()).toEqual(before);
      // The password that nobody typed is the one that lets in: the sign of life is heard with it.
      await product.periodic('fleet.askBmcs');
      await expect
        .poll(async () => (await staff().get(`/staff/servers/${after.server_id}`)).body.data.server.bmc, {
          timeout: 40_000,
        })
        .toMatchObject({ power: 'off', problem: null, heard_at: expect.any(String) });

      // Known from now on: it starts its disks, and arrives no second time.
      await bmc.press('set', 'power', '1');
      await new Promise((resolve) => setTimeout(resolve, 30_000));
      expect(await arrivals()).toHaveLength(1);
    }, 900_000);
  },
);
