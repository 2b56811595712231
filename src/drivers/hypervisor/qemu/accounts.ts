import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { MachineFiles, Owner } from './files.ts';
import { findProcess } from './process.ts';

/**
 * Machines' accounts are 2^28 ids from here on, which nothing else has a use for and which need no entry in
 * `/etc/passwd`. Source: systemd, "Users, Groups, UIDs and GIDs on systemd Systems".
 */
const firstId = 0x7000_0000;
const idCount = 0x1000_0000;
/** In a container that has no ids so high, machines share the one of `nobody`. */
const nobody = 65_534;

/**
 * Whom the machine's process and its files belong to: an account of its own when we are root, so that a QEMU that
 * was taken over has nobody else's disk; null when we are not, and it keeps the user we are. One that runs already
 * keeps the account that it was started with.
 */
export async function findOwner(files: MachineFiles): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null;
  const pid = await findProcess(files);
  return (pid === null ? null : await ownerOf(pid)) ?? ownAccount(files);
}

/** The account that the machine gets when it starts the next time. */
export async function ownAccount(files: MachineFiles): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null;
  // The tap's name differs between machines of one host, also where two installations have the same ids.
  const digest = createHash('sha256').update(files.tap).digest();
  const id = (await mapsIds()) ? firstId + (digest.readUInt32BE() % idCount) : nobody;
  return { uid: id, gid: id };
}

/** Effective ids (proc(5), status); the folder in /proc says root for a process that has changed its user. */
async function ownerOf(pid: number): Promise<Owner | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const id = (name: string) => Number(new RegExp(`^${name}:\\t\\d+\\t(\\d+)`, 'm').exec(status)?.[1]);
  const owner = { uid: id('Uid'), gid: id('Gid') };
  return Number.isNaN(owner.uid + owner.gid) ? null : owner;
}

/** Whether this host's user namespace has our ids (user_namespaces(7)). */
async function mapsIds(): Promise<boolean> {
  const ranges = (await readFile('/proc/self/uid_map', 'utf8')).trim().split('\n');
  return ranges.some((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return first <= firstId && firstId + idCount <= first + count;
  });
}
