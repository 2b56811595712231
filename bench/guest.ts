import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tarArchive } from '../src/drivers/debian/index.ts';
import { imageStore } from '../src/drivers/hypervisor/images/store.ts';
import { type Acceleration, acceleratorArguments } from '../src/drivers/hypervisor/qemu/acceleration.ts';
import { connectQmp } from '../src/drivers/hypervisor/qemu/qmp.ts';
import { runProgram } from '../src/platform/host/program.ts';
import { undo } from './house.ts';
import { nowMs } from './measure.ts';

export const size = { memoryMib: 1024, diskGib: 10, cpuCores: 1 };
const bridge = 'bench0';
const tap = 'bench0t';
const guestAddress = '10.99.0.2';
const hostAddress = '10.99.0.1';
const patienceMs = 120_000;

/** A pair of keys to sign in with, in a folder that goes when the bench ends. */
export async function makeKey(): Promise<{ dir: string; file: string; publicKey: string }> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'innkeeper-bench-guest-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'key');
  await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', file]);
  return { dir, file, publicKey: readFileSync(`${file}.pub`, 'utf8').trim() };
}

/** Waits for the greeting of the SSH server, then signs in. */
export async function signIn(address: string, key: string): Promise<void> {
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
      (await runProgram(argv).then(
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

/** The guest of the product as somebody would start it in a shell, on a bridge of its own. */
export interface HandGuest {
  /** Starts a new one from its image and takes it away again; milliseconds to the first login. */
  cold(): Promise<number>;
  /** Boots one and saves it, memory and all, once somebody could sign in. */
  save(): Promise<void>;
  /** Goes on with a copy of the saved one; milliseconds to the first login. */
  warm(): Promise<number>;
}

export async function handGuest(
  { dir, file: key, publicKey }: { dir: string; file: string; publicKey: string },
  imagesDir: string,
  acceleration: Acceleration,
): Promise<HandGuest> {
  const image = await imageStore(imagesDir).find('tiny');
  if (!image.boot) throw new Error('the image tiny boots by its kernel');
  const disk = path.join(dir, 'disk.qcow2');
  const seed = path.join(dir, 'seed');
  const qmpSocket = path.join(dir, 'qmp');
  const identity = {
    hostname: 'byhand',
    network: `4 ${guestAddress} 24 ${hostAddress}\n`,
    'resolv.conf': '',
    authorized_keys: `${publicKey}\n`,
  };
  const archive = tarArchive(Object.entries(identity).map(([name, content]) => ({ path: name, content })));
  writeFileSync(seed, Buffer.concat([archive, Buffer.alloc(256 * 1024 - archive.length)]));
  chmodSync(seed, 0o600);
  await runProgram(['ip', 'link', 'add', bridge, 'type', 'bridge', 'forward_delay', '0']);
  await runProgram(['ip', 'address', 'add', `${hostAddress}/24`, 'dev', bridge]);
  await runProgram(['ip', 'link', 'set', bridge, 'up']);
  await runProgram(['ip', 'tuntap', 'add', 'dev', tap, 'mode', 'tap']);
  await runProgram(['ip', 'link', 'set', tap, 'master', bridge, 'up']);
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
    ['-qmp', `unix:${qmpSocket},server=on,wait=off`],
  ].flat();
  const state = path.join(dir, 'state');
  const savedDisk = path.join(dir, 'saved.qcow2');

  async function begin(extra: string[]): Promise<{ guest: ChildProcess; ms: number }> {
    await runProgram(['ip', 'neigh', 'flush', 'dev', bridge]);
    const began = nowMs();
    const guest = startGuest([...argv, ...extra], path.join(dir, 'qemu.log'));
    await signIn(guestAddress, key).catch(async (error) => {
      await endGuest(guest);
      throw error;
    });
    return { guest, ms: nowMs() - began };
  }

  async function timed(backing: string, extra: string[] = []): Promise<number> {
    rmSync(disk, { force: true });
    const overlay = ['qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', backing];
    await runProgram([...overlay, disk, `${size.diskGib}G`]);
    const { guest, ms } = await begin(extra);
    await endGuest(guest);
    return ms;
  }

  return {
    cold: () => timed(path.join(image.dir, 'disk.qcow2')),
    warm: () => timed(savedDisk, ['-incoming', `exec:cat ${state}`]),
    async save() {
      rmSync(disk, { force: true });
      await runProgram(['qemu-img', 'convert', '-O', 'qcow2', path.join(image.dir, 'disk.qcow2'), disk]);
      await runProgram(['qemu-img', 'resize', '-q', disk, `${size.diskGib}G`]);
      const { guest } = await begin([]);
      const qmp = await connectQmp(qmpSocket);
      await qmp.command('migrate', { uri: `exec:cat > ${state}` });
      while (((await qmp.command('query-migrate')) as { status: string }).status !== 'completed')
        await sleep(50);
      qmp.close();
      await endGuest(guest);
      renameSync(disk, savedDisk);
    },
  };
}

async function endGuest(guest: ChildProcess): Promise<void> {
  if (guest.exitCode !== null || guest.signalCode !== null) return;
  const gone = new Promise((resolve) => guest.once('exit', resolve));
  guest.kill('SIGKILL');
  await gone;
}

function startGuest(argv: string[], logFile: string): ChildProcess {
  const [program = '', ...args] = argv;
  const log = openSync(logFile, 'w');
  const guest = spawn(program, args, { stdio: ['ignore', log, log] });
  undo.push(() => void guest.kill('SIGKILL'));
  return guest;
}
