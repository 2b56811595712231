import { createHash } from 'node:crypto';
import { chmod, chown, lchown, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HypervisorError } from '../contract.ts';
import { checkMachineId } from '../spec.ts';
import type { QemuOptions } from './options.ts';

/** Every path and name that belongs to one machine; all of them follow from its id. */
export interface MachineFiles {
  id: string;
  dir: string;
  disk: string;
  /** What the disk is a layer of, by our own account: a list of images; see `layers.ts`. */
  base: string;
  /** The hardware that its guest knows, there once the machine was started; see `hardware.ts`. */
  machineType: string;
  imagesDir: string;
  /** What the guest reads at boot, and without secrets what it was made from. */
  seed: string;
  identity: string;
  /** While it runs from the rescue system: that system's disk, a layer to throw away, and its seed. */
  rescueDisk: string;
  rescueSeed: string;
  /** What iPXE does when it starts from the network. */
  netbootScript: string;
  runDir: string;
  pidFile: string;
  /** Our own note of which process it is. */
  process: string;
  qmpSocket: string;
  agentSocket: string;
  serialSocket: string;
  vncSocket: string;
  /** There while a picture of its screen is taken. */
  screen: string;
  /** What QEMU prints; see `log.ts`. */
  log: string;
  /** Name of its network device on the host. */
  tap: string;
}

const socketPathBytes = 107;

/** The files of a machine. A malformed id is refused, since it becomes part of paths and rules. */
export function machineFiles(options: QemuOptions, id: string): MachineFiles {
  checkMachineId(id);
  const dir = join(options.dir, 'machines', id);
  const runDir = join(options.runDir, id);
  if (Buffer.byteLength(`${runDir}/serial`) > socketPathBytes) {
    throw new HypervisorError('host_not_ready', `socket paths in ${options.runDir} are too long`, {
      permanent: true,
    });
  }
  return {
    id,
    dir,
    disk: join(dir, 'disk.qcow2'),
    base: join(dir, 'base.json'),
    machineType: join(dir, 'machine-type'),
    imagesDir: options.imagesDir ?? join(options.dir, 'images'),
    seed: join(dir, 'seed.img'),
    identity: join(dir, 'identity.json'),
    rescueDisk: join(dir, 'rescue.qcow2'),
    rescueSeed: join(dir, 'rescue-seed.img'),
    netbootScript: join(dir, 'netboot.ipxe'),
    runDir,
    pidFile: join(runDir, 'pid'),
    process: join(runDir, 'process'),
    qmpSocket: join(runDir, 'qmp'),
    agentSocket: join(runDir, 'agent'),
    serialSocket: join(runDir, 'serial'),
    vncSocket: join(runDir, 'vnc'),
    screen: join(dir, 'screen.png'),
    log: join(dir, 'qemu.log'),
    tap: tapName(options.bridge.name, id),
  };
}

/** How the names of all taps on this bridge begin, so that products with bridges of their own do not collide. */
export function tapPrefix(bridge: string): string {
  return `vm-${hashed(bridge, 3)}`;
}

/** A device name has at most 15 characters, an id 40: nine characters of its hash keep names apart. */
function tapName(bridge: string, id: string): string {
  return tapPrefix(bridge) + hashed(`${bridge}/${id}`, 9);
}

/** Five bits a character. */
function hashed(text: string, length: number): string {
  const digest = createHash('sha256').update(text).digest('hex');
  return BigInt(`0x${digest}`).toString(32).padStart(52, '0').slice(-length);
}

/** Ids of all machines this node has files of. */
export async function machineIds(options: QemuOptions): Promise<string[]> {
  return (await readdir(join(options.dir, 'machines')).catch(() => [])).sort();
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Makes the machine's folder; see {@link makeOwnDir}. */
export async function makeMachineDir(files: MachineFiles, owner: Owner | null): Promise<void> {
  await makeOwnDir(files.dir, owner);
}

/**
 * Makes a folder that is ours. The account that QEMU runs as may pass through it to its files and no more: a QEMU that
 * was taken over must not put links where we, as root, write next.
 */
export async function makeOwnDir(dir: string, owner: Owner | null): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (!owner) return;
  await chown(dir, 0, owner.gid);
  await chmod(dir, 0o710);
}

/** The account that a machine's programs run under. */
export interface Owner {
  uid: number;
  gid: number;
}

export async function giveTo(owner: Owner | null, ...paths: string[]): Promise<void> {
  if (owner) for (const path of paths) await lchown(path, owner.uid, owner.gid);
}

/** The account reads it and no more: what we, as root, read of it later is what we have written. */
export async function lendTo(owner: Owner | null, path: string): Promise<void> {
  if (!owner) return;
  await chown(path, 0, owner.gid);
  await chmod(path, 0o640);
}
