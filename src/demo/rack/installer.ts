import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';

// biome-ignore lint/suspicious/noExplicitAny: whoever plays with it knows what it is told
type Answer = any;

/** The program of our installer, as whoever plays a server runs it. */
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

/** What it says that the server has. */
export interface Told {
  mac: string;
  macs: string[];
  serial: string;
  uuid: string;
  /** By their serial numbers. */
  disks: string[];
  /** What each of them is, by its serial number. Default: an NVMe disk of 960 GB. */
  drives?: Readonly<Record<string, Drive>>;
  bmcAddress: string | null;
  /** The version of its firmware. Default: 1.2. */
  firmware?: string;
  /** Its EFI variables, as our installer's script tells them. Default: none. */
  efi?: string;
  /** What each of its ports and the switch have agreed on. Default: their drivers do not say it. */
  speedsMbps?: readonly number[];
}

export interface Drive {
  kind: 'nvme' | 'ssd' | 'hdd';
  bytes: number;
}

const usualDrive: Drive = { kind: 'nvme', bytes: 960_197_124_096 };
const models = { nvme: 'SAMSUNG MZQL2960HCJR', ssd: 'SAMSUNG MZ7L3960HCJR', hdd: 'ST8000NM000A' } as const;

/** What a machine with this MAC is told to start, at the address `script`. On loopback it asks from an address of its own, or from `remote`. */
export function bootScriptFor(script: string, mac: string, remote = addressOf(mac)): Promise<string> {
  return textFrom(remote, `${script}?mac=${mac}`);
}

/** On loopback, one for each machine. */
function addressOf(mac: string): string {
  const own = mac.split(':').slice(-3);
  return ['127', ...own.map((byte) => Number.parseInt(byte, 16))].join('.');
}

async function textFrom(localAddress: string, url: string): Promise<string> {
  const sent = get(url, { localAddress, agent: false });
  const [answer] = await once(sent, 'response');
  const said = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`no boot script: ${answer.statusCode}`);
  return said;
}

/** The program of our installer, as a machine runs it that started with this script. */
export function installerOf(script: string): Installer {
  const said = (name: string) => script.match(new RegExp(`innkeeper\\.${name}=(\\S+)`))?.[1] ?? '';
  const it: Installer = {
    token: said('token'),
    secret: randomBytes(32).toString('hex'),
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
  drives = {},
  bmcAddress = null,
  firmware = '1.2',
  efi = '',
  speedsMbps = [],
}: Partial<Told>) {
  const bmc = `Device ID : 32\nFirmware Revision : 2.10\nIP Address : ${bmcAddress}\nMAC Address : 52:54:00:00:00:09\n`;
  return {
    kind: 'inventory',
    system: { uuid, vendor: 'Example', product: 'R1', serial, firmware, boot: 'uefi' },
    memory_kib: 65_843_200,
    memory: ['DIMM_A1', 'DIMM_B1']
      .map((slot) => `Memory Device\n\tSize: 32 GB\n\tLocator: ${slot}\n\tType: DDR4\n`)
      .join('\n'),
    lscpu: [
      { field: 'CPU(s):', data: '16' },
      { field: 'Model name:', data: 'Intel(R) Xeon(R) E-2388G CPU @ 3.20GHz' },
      { field: 'Core(s) per socket:', data: '8' },
      { field: 'Socket(s):', data: '1' },
    ],
    links: macs.map((address, at) => ({ ifname: `eth${at}`, link_type: 'ether', address, operstate: 'UP' })),
    speeds: speedsMbps.map((mbps, at) => `eth${at} ${mbps}\n`).join(''),
    disks: disks.map((disk, at) => {
      const { kind, bytes } = drives[disk] ?? usualDrive;
      const isNvme = kind === 'nvme';
      return {
        ...{ name: isNvme ? `nvme${at}n1` : `sd${'abcdefgh'[at]}`, size: bytes, rota: kind === 'hdd' },
        ...{ tran: isNvme ? 'nvme' : 'sata', 'log-sec': 512 },
        smart: {
          ...{ model_name: models[kind], serial_number: disk, firmware_version: 'GDC5602Q' },
          smart_status: { passed: true },
        },
      };
    }),
    bmc: bmcAddress === null ? '' : bmc,
    efi,
  };
}
