import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tarArchive } from '../src/drivers/hypervisor/formats/tar.ts';
import { imageStore } from '../src/drivers/hypervisor/images/store.ts';
import type { Acceleration } from '../src/drivers/hypervisor/qemu/acceleration.ts';
import { acceleratorArguments } from '../src/drivers/hypervisor/qemu/arguments.ts';
import { run } from '../src/platform/host/run.ts';
import { apiClient, type Client } from '../test/client.ts';
import { vpsCart } from '../test/orders.ts';
import { type House, undo } from './house.ts';
import { interleave, nowMs, ratiosOf, spreadOf } from './measure.ts';
import { openAccess } from './people.ts';
import type { Figure } from './table.ts';

export interface SshOptions {
  rounds: number;
  imagesDir: string;
}

const size = { memoryMib: 1024, diskGib: 10, cpuCores: 1 };
const bridge = 'bench0';
const tap = 'bench0t';
const guestAddress = '10.99.0.2';
const hostAddress = '10.99.0.1';
const patienceMs = 120_000;

/** From paying to the first login that is accepted, against the same guest started by hand. */
export async function measureSsh(house: House, options: SshOptions): Promise<Figure[]> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'innkeeper-bench-guest-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  const key = path.join(dir, 'key');
  await run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const { customer } = house.demo;
  const client = apiClient(`${house.url}/api`, {
    token: customer.api_key,
    organizationId: customer.organization_id,
  });
  const publicKey = readFileSync(`${key}.pub`, 'utf8').trim();
  const added = await client.post('/dashboard/account/ssh-keys', { name: 'bench', public_key: publicKey });
  if (added.status !== 200) throw new Error(`the key was refused: ${JSON.stringify(added.body)}`);

  const order = ordering(house, client, key);
  await order(); // the first machine of a host tries out the hardware, once and for all
  const acceleration = accelerationOf(house);
  const byHand = await handGuest(dir, key, publicKey, options.imagesDir, acceleration);
  const pairs = await interleave(options.rounds, order, byHand);
  const median = (side: 'ours' | 'theirs') =>
    (spreadOf(pairs.map((pair) => pair[side])).median / 1000).toFixed(2);
  return [
    {
      name: 'Invoice paid → SSH login accepted',
      against: `the same guest (tiny, ${size.memoryMib} MiB, ${size.diskGib} GiB, tap on a bridge) by the bare QEMU command line, its disk, seed and tap made before`,
      value: ratiosOf(pairs),
      unit: 'ratio',
      target: { atMost: 1.15 },
      amounts: `${median('ours')} s against ${median('theirs')} s (${acceleration})`,
      limit: 'the guest’s own boot; ours is the job’s steps, the disk, and packet rules before it',
    },
  ];
}

function accelerationOf({ dataDir }: House): Acceleration {
  const file = path.join(dataDir, 'hypervisor/acceleration.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { acceleration: Acceleration }).acceleration;
}

/** Orders, pays, signs in; the clock runs from the payment's request. Then the machine is switched off. */
function ordering(house: House, client: Client, key: string): () => Promise<number> {
  return async () => {
    const ordered = await client.post(
      '/cart/checkout/invoice',
      vpsCart(house.demo, { password: 'Correct-Horse-1' }),
    );
    if (ordered.status !== 200) throw new Error(`the order was refused: ${JSON.stringify(ordered.body)}`);
    const {
      invoice_id: invoiceId,
      service_ids: [serviceId],
    } = ordered.body.data;
    const address = await addressOf(house, serviceId);
    const began = nowMs();
    const paid = await client.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
    if (paid.status !== 200) throw new Error(`the payment was refused: ${JSON.stringify(paid.body)}`);
    await signIn(address, key);
    const took = nowMs() - began;
    await switchOff(client, serviceId);
    return took;
  };
}

async function addressOf(house: House, serviceId: number): Promise<string> {
  const access = await openAccess(house);
  const { rows } = await access.sql('select host(address) as address from addresses where service_id = $1', [
    serviceId,
  ]);
  await access.close();
  return (rows[0] as { address: string }).address;
}

/** Until the action that made the machine has ended, nothing else is allowed. */
async function switchOff(client: Client, serviceId: number): Promise<void> {
  const deadline = nowMs() + patienceMs;
  for (;;) {
    const { body } = await client.get(`/dashboard/service/${serviceId}/vps/overview`);
    const state = body.data?.vps.state;
    if (state === 'stopped') return;
    if (state === 'running' && !body.data.vps.locked)
      await client.post(`/dashboard/service/${serviceId}/vps/stop`, { force: true });
    if (nowMs() > deadline) throw new Error(`the machine is ${state} and stays it`);
    await sleep(100);
  }
}

/** Waits for the greeting of the SSH server, then signs in. */
async function signIn(address: string, key: string): Promise<void> {
  const deadline = nowMs() + patienceMs;
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'BatchMode=yes',
  ];
  const argv = [
    'ssh',
    '-F',
    'none',
    ...options.flatMap((each) => ['-o', each]),
    '-i',
    key,
    `root@${address}`,
    'true',
  ];
  for (;;) {
    if (nowMs() > deadline) throw new Error(`no login at ${address}`);
    const isIn =
      (await greets(address)) &&
      (await run(argv).then(
        () => true,
        () => false,
      ));
    if (isIn) return;
    await sleep(20);
  }
}

function greets(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port: 22, timeout: 1_000 });
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket
      .on('timeout', () => finish(false))
      .on('error', () => finish(false))
      .on('close', () => finish(false));
    socket.once('data', () => finish(true));
  });
}

/** The same guest as somebody would start it in a shell, on a bridge of its own. */
async function handGuest(
  dir: string,
  key: string,
  publicKey: string,
  imagesDir: string,
  acceleration: Acceleration,
): Promise<() => Promise<number>> {
  const image = await imageStore(imagesDir).find('tiny');
  if (!image.boot) throw new Error('the image tiny boots by its kernel');
  const disk = path.join(dir, 'disk.qcow2');
  const seed = path.join(dir, 'seed');
  const identity = {
    hostname: 'byhand',
    network: `4 ${guestAddress} 24 ${hostAddress}\n`,
    'resolv.conf': '',
    authorized_keys: `${publicKey}\n`,
  };
  const archive = tarArchive(Object.entries(identity).map(([name, content]) => ({ path: name, content })));
  writeFileSync(seed, Buffer.concat([archive, Buffer.alloc(256 * 1024 - archive.length)]));
  chmodSync(seed, 0o600);
  await run(['ip', 'link', 'add', bridge, 'type', 'bridge', 'forward_delay', '0']);
  await run(['ip', 'address', 'add', `${hostAddress}/24`, 'dev', bridge]);
  await run(['ip', 'link', 'set', bridge, 'up']);
  await run(['ip', 'tuntap', 'add', 'dev', tap, 'mode', 'tap']);
  await run(['ip', 'link', 'set', tap, 'master', bridge, 'up']);
  const fast =
    acceleration === 'emulation'
      ? ' mitigations=off nokaslr tsc=reliable random.trust_cpu=on cryptomgr.notests audit=0'
      : '';
  const argv = [
    [
      'qemu-system-x86_64',
      '-nodefaults',
      '-display',
      'none',
      '-machine',
      'q35',
      ...acceleratorArguments(acceleration),
    ],
    ['-smp', String(size.cpuCores), '-m', `${size.memoryMib}M`],
    ['-kernel', path.join(image.dir, image.boot.kernel), '-initrd', path.join(image.dir, image.boot.initrd)],
    ['-append', image.boot.commandLine + fast],
    [
      '-drive',
      `file=${disk},format=qcow2,if=virtio`,
      '-drive',
      `file=${seed},format=raw,if=virtio,readonly=on`,
    ],
    [
      '-netdev',
      `tap,id=n,ifname=${tap},script=no,downscript=no`,
      '-device',
      'virtio-net-pci,netdev=n,romfile=',
    ],
    ['-device', 'virtio-rng-pci'],
  ].flat();
  return async () => {
    rmSync(disk, { force: true });
    await run([
      'qemu-img',
      'create',
      '-q',
      '-f',
      'qcow2',
      '-F',
      'qcow2',
      '-b',
      path.join(image.dir, 'disk.qcow2'),
      disk,
      `${size.diskGib}G`,
    ]);
    await run(['ip', 'neigh', 'flush', 'dev', bridge]);
    const began = nowMs();
    const guest = startGuest(argv, path.join(dir, 'qemu.log'));
    try {
      await signIn(guestAddress, key);
      return nowMs() - began;
    } finally {
      const gone = new Promise((resolve) => guest.once('exit', resolve));
      guest.kill('SIGKILL');
      await gone;
    }
  };
}

function startGuest(argv: string[], logFile: string): ChildProcess {
  const [program = '', ...args] = argv;
  const log = openSync(logFile, 'w');
  const guest = spawn(program, args, { stdio: ['ignore', log, log] });
  undo.push(() => void guest.kill('SIGKILL'));
  return guest;
}
