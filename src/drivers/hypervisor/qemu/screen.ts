import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { HypervisorError } from '../contract.ts';
import { checkedPng } from '../png.ts';
import type { Owner } from './files.ts';
import type { Monitor } from './monitor.ts';

/** QEMU draws it between two doings of the guest: well within a second. */
const drawnWithinMs = 3_000;
/** The screen's memory is 8 MiB, and a picture of that is smaller. */
const largestBytes = 8 * 2 ** 20;

/** Pictures of machines' screens. */
export interface Screens {
  /** What is on the screen now. `findOwner` tells the account that QEMU runs as. */
  read(monitor: Monitor, findOwner: () => Promise<Owner | null>): Promise<Buffer>;
}

/** Who asks while a picture of the machine is being taken gets that one: each stops the guest for a moment. */
export function machineScreens(): Screens {
  const taking = new Map<string, Promise<Buffer>>();
  return {
    read(monitor, findOwner) {
      const { id } = monitor.files;
      const known = taking.get(id);
      if (known) return known;
      const picture = findOwner()
        .then((owner) => takePicture(monitor, owner))
        .catch((cause: unknown) => {
          throw new HypervisorError('screen_failed', `no picture of the screen of ${id}`, { cause });
        })
        .finally(() => taking.delete(id));
      taking.set(id, picture);
      return picture;
    },
  };
}

/**
 * QEMU writes the picture into a file that we have made for it, in a folder where its account can make none: a QEMU that was
 * taken over has no other to offer, neither by a link nor by a name. What we read is the file that we hold open.
 */
async function takePicture(monitor: Monitor, owner: Owner | null): Promise<Buffer> {
  const { screen } = monitor.files;
  await rm(screen, { force: true }); // a crash of ours may have left one
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = await open(screen, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    if (owner) await file.chown(owner.uid, owner.gid);
    // It runs in that folder, and may not be able to walk to it.
    await monitor.command('screendump', { filename: basename(screen), format: 'png' }, drawnWithinMs);
    const picture = await readWhole(file);
    if (checkedPng(picture) === null) throw new Error('QEMU has written something else than a picture');
    return picture;
  } finally {
    await file.close();
    await rm(screen, { force: true });
  }
}

/** Reads so much at most, whatever the file becomes meanwhile. */
async function readWhole(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  if (size > largestBytes) throw new Error(`the picture has ${size} bytes, and ${largestBytes} is the most`);
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(bytes, length, size - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}
