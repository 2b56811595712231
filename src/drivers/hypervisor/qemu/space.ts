import { statfs } from 'node:fs/promises';
import { HypervisorError } from '../contract.ts';

const gib = 2 ** 30;

/**
 * What copies of disks leave free on a file system of so many bytes, since a node without space makes all of its
 * machines stand still: a twentieth and at least 10 GiB, but never more than a quarter.
 */
export function keptFree(totalBytes: number): number {
  return Math.min(Math.max(10 * gib, totalBytes / 20), totalBytes / 4);
}

/**
 * Says what is wrong when less than half of what copies leave free is left, as when something else than machines fills
 * the disk; null until then, and again once there are three quarters of it.
 */
export function diskRoomWatch(dir: string, read: typeof statfs = statfs): () => Promise<string | null> {
  let isShort = false;
  return async () => {
    const { blocks, bavail, bsize } = await read(dir);
    const kept = keptFree(blocks * bsize);
    isShort = bavail * bsize < kept * (isShort ? 0.75 : 0.5);
    if (!isShort) return null;
    return `The disk of the host is nearly full: less than ${inGib(kept * 0.75)} are free in ${dir}. Make space, or all machines that write will stand still`;
  };
}

/**
 * Runs `work`, which may write so many bytes below `dir`; `no_space` when it would take what is kept free. The
 * copies under way count with all that they may take, so that several that fit one by one are not begun together.
 */
export type WithinSpace = <T>(dir: string, bytes: number, work: () => Promise<T>) => Promise<T>;

/** `unwritten` tells what the copies that are there may still come to take. */
export function copySpace(unwritten: () => Promise<number> = async () => 0): WithinSpace {
  let promised = 0;
  return async (dir, bytes, work) => {
    const { blocks, bavail, bsize } = await statfs(dir);
    const kept = keptFree(blocks * bsize);
    const free = bavail * bsize - (await unwritten());
    if (free - promised - bytes < kept) {
      const message = `There is no space for a copy now: it may need ${inGib(bytes)}, and the node keeps ${inGib(kept)} free for its machines. Delete copies that nobody needs, or try again later`;
      throw new HypervisorError('no_space', message, { permanent: true });
    }
    promised += bytes;
    try {
      return await work();
    } finally {
      promised -= bytes;
    }
  };
}

function inGib(bytes: number): string {
  return `${(bytes / gib).toFixed(1)} GiB`;
}
