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
  disks: string[];
  bmcAddress: string | null;
}

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
