import { once } from 'node:events';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { get, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openBmcs, type SimulatedBmc, simulatedRack } from '../../src/drivers/bmc/index.ts';
import { installerFolder } from '../../src/drivers/installer/image/store.ts';
import type { Netboot, NetbootOptions } from '../../src/drivers/netboot/index.ts';
import { openSwitches, type SimulatedSwitches, simulatedSwitches } from '../../src/drivers/switch/index.ts';
import { startTestProduct, type TestProduct, until } from '../product.ts';
import { hasty } from './hasty.ts';

/** A product that serves a network of servers over loopback, without dnsmasq and without an installer that anybody could start. */
export interface ArrivingProduct {
  product: TestProduct;
  /** Who gets an address there. */
  addresses: { reserved: Set<string>; strangers: boolean };
  /** What its machines are plugged into. */
  switches: SimulatedSwitches;
  /** Where a server greets by SSH. */
  greets: Set<string>;
  /** Puts a BMC of the kind that enrolment speaks to at an address. */
  bmcAt(address: string): SimulatedBmc;
  /** What a machine with this MAC is told to start. It asks from an address of its own, or from `remote`. */
  starts(mac: string, remote?: string): Promise<string>;
  /** The program of our installer, as a machine runs it that started with this script. */
  installer(script: string): Installer;
}

// biome-ignore lint/suspicious/noExplicitAny: what it answers is held against what is expected of it
type Answer = any;

export interface Installer {
  call(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    as?: string,
  ): Promise<{ status: number; body: Answer }>;
  token: string;
  secret: string;
  /** Null until it has claimed its start. */
  nonce: string | null;
  claim(): Promise<number>;
  tells(what: Partial<Told>): Promise<number>;
  /** Asks what to do, once. */
  plan(): Promise<Answer>;
}

export interface Told {
  mac: string;
  macs: string[];
  serial: string;
  uuid: string;
  disks: string[];
  bmcAddress: string | null;
}

/** Starts one. Its BMCs are simulated, whatever they say that they speak, and waited for so long at most. */
export async function startArrivingProduct(
  env: Record<string, string> = {},
  waitsMs: number | null = null,
): Promise<ArrivingProduct> {
  const images = await mkdtemp(join(tmpdir(), 'innkeeper-images-'));
  const files = [
    ...[`${installerFolder}/vmlinuz`, `${installerFolder}/initrd`, 'ipxe/snponly.efi'],
    ...['tree-tiny/tree.tar.zst', 'tree-tiny/sha256'],
  ];
  for (const name of files) {
    await mkdir(join(images, name, '..'), { recursive: true });
    await writeFile(join(images, name), name.endsWith('sha256') ? '5a'.repeat(32) : name);
  }
  const rack = simulatedRack();
  const simulated = openBmcs({ rack, offForMs: 0 });
  const open = waitsMs === null ? simulated : hasty(simulated, waitsMs);
  const switches = simulatedSwitches();
  const openSwitch = openSwitches(switches);
  const greets = new Set<string>();
  const addresses = { reserved: new Set<string>(), strangers: false };
  let served: NetbootOptions | null = null;
  const product = await startTestProduct({
    env: {
      ...{ HYPERVISOR: 'simulator', IMAGES_DIR: images, RACK_INTERFACE: 'lo', RACK_PORT: '0' },
      ...{ RACK_ADDRESSES: '127.0.0.100-127.0.0.200', ...env },
    },
    drivers: {
      bmc: (connection) => open({ ...connection, kind: 'simulated' }),
      greets: async (address) => greets.has(address),
      switch: (connection) => openSwitch({ ...connection, kind: 'simulated' }),
      netboot: async (options) => {
        served = options;
        return netbootInMemory(addresses);
      },
    },
  });
  const options = await until(
    async () => served,
    (found) => found !== null,
  );
  await until(
    () => product.staff.get('/staff/enrolment'),
    ({ body }) => body.data.enrolment.networks[0]?.is_served === true,
  );
  return {
    ...{ product, addresses, switches, greets },
    bmcAt: (address) => rack.put(address, { power: 'on' }),
    starts: (mac, remote = addressOf(mac)) => textFrom(remote, `${options?.script}?mac=${mac}`),
    installer,
  };
}

function netbootInMemory(addresses: ArrivingProduct['addresses']): Netboot {
  return {
    reserve: async (mac) => void addresses.reserved.add(mac),
    release: async (mac) => void addresses.reserved.delete(mac),
    reserved: async () => [...addresses.reserved],
    admitStrangers: async (are) => {
      addresses.strangers = are;
    },
    close: async () => undefined,
  };
}

/** On loopback, one for each machine. */
function addressOf(mac: string): string {
  const own = mac.split(':').slice(-3);
  return ['127', ...own.map((byte) => Number.parseInt(byte, 16))].join('.');
}

async function textFrom(localAddress: string, url: string): Promise<string> {
  const sent = get(url, { localAddress, agent: false });
  const [answer] = await once(sent, 'response');
  return text(answer);
}

let started = 0;

function installer(script: string): Installer {
  const said = (name: string) => script.match(new RegExp(`innkeeper\\.${name}=(\\S+)`))?.[1] ?? '';
  started += 1;
  const it: Installer = {
    token: said('token'),
    secret: String(started).padStart(64, '0'),
    nonce: null,
    call: (method, path, body, as = it.secret) => send(`${said('url')}/${path}`, method, as, body),
    async claim() {
      const { status, body } = await it.call('POST', 'claim', { secret: it.secret }, it.token);
      it.nonce = body?.nonce ?? null;
      return status;
    },
    tells: async (what) => (await it.call('POST', 'report', inventoryOf(what))).status,
    plan: async () => (await it.call('GET', 'plan')).body,
  };
  return it;
}

/** The key is what servers pin, and not a name. */
function send(
  url: string,
  method: string,
  as: string,
  body: unknown,
): Promise<{ status: number; body: Answer }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${as}`, 'content-type': 'application/json' };
    const sent = request(url, { method, headers, rejectUnauthorized: false, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, body: text === '' ? null : bodyOf(answer.headers, text) }),
      );
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function bodyOf(headers: IncomingHttpHeaders, text: string): unknown {
  return headers['content-type'] === 'application/json' ? JSON.parse(text) : text;
}

function inventoryOf({
  mac = '',
  macs = [mac],
  serial = '',
  uuid = serial,
  disks = [],
  bmcAddress = null,
}: Partial<Told>) {
  const bmc = `Device ID : 32\nFirmware Revision : 2.10\nIP Address : ${bmcAddress}\nMAC Address : 52:54:00:00:00:09\n`;
  return {
    kind: 'inventory',
    system: { uuid, vendor: 'Example', product: 'R1', serial, firmware: '1.2', boot: 'uefi' },
    memory_kib: 65_843_200,
    memory: 'Memory Device\n\tSize: 32 GB\n\tLocator: DIMM_A1\n\tType: DDR4\n',
    lscpu: [
      { field: 'CPU(s):', data: '16' },
      { field: 'Model name:', data: 'Processor' },
      { field: 'Core(s) per socket:', data: '8' },
      { field: 'Socket(s):', data: '1' },
    ],
    links: macs.map((address, at) => ({ ifname: `eth${at}`, link_type: 'ether', address, operstate: 'UP' })),
    disks: disks.map((disk, at) => ({
      ...{ name: `nvme${at}n1`, size: 960_197_124_096, rota: false, tran: 'nvme', 'log-sec': 512 },
      smart: { model_name: 'M', serial_number: disk, firmware_version: '1', smart_status: { passed: true } },
    })),
    bmc: bmcAddress === null ? '' : bmc,
  };
}
