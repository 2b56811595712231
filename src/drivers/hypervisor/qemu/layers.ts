import { open, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeDurably } from '../../../platform/host/durable.ts';
import { HypervisorError } from '../contract.ts';
import { readQcow2 } from '../formats/qcow2.ts';
import { checkImageSlug } from '../imageSource.ts';
import type { MachineFiles } from './files.ts';

/*
 * A machine's account owns its disk file, and whoever breaks out of its guest writes what he likes into the header:
 * which file lies below, which one holds the data. So we keep our own account of what the disk was made from, and
 * tell every program the whole chain. The header is read to refuse what does not fit, never to be followed.
 */

/** How programs are told of a disk: QEMU's block nodes, from the top layer down. */
export interface Layer {
  driver: 'qcow2';
  file: { driver: 'file'; filename: string };
  backing: Layer | null;
}

/** The disk of an image, which machines' disks are layered on. */
export function imageDisk(files: MachineFiles, image: string): string {
  return join(files.imagesDir, image, 'disk.qcow2');
}

/**
 * The image that the machine's disk is a layer of. Fails for good on a disk that is not as we made it: it names
 * another file below itself, or keeps its data elsewhere.
 */
export async function baseImage(files: MachineFiles, disk = files.disk): Promise<string> {
  const header = await checkedHeader(files, disk);
  const image = basename(dirname(header.backingFile ?? ''));
  const known = await readBases(files);
  if (header.backingFile && basename(header.backingFile) === 'disk.qcow2') {
    if (known?.includes(image)) return image;
    // Of a machine that was made before we kept account: any image of this node, and that one from here on.
    if (known === null && (await isImage(files, image))) {
      await writeBases(files, [image]);
      return image;
    }
  }
  throw refused(files, 'it names a file below itself that is not its image');
}

/** Reads the header of a disk or a backup, and refuses one that would lead a program to other files. */
export async function checkedHeader(files: MachineFiles, disk: string) {
  const header = await readQcow2(disk).catch((error) => {
    throw refused(files, error instanceof Error ? error.message : 'it cannot be read');
  });
  if (!header) throw refused(files, 'it is no qcow2');
  if (header.hasDataFile) throw refused(files, 'it names a file that holds its data');
  if (header.encrypted) throw refused(files, 'it is encrypted');
  return header;
}

/** Adds an image to those that the disk may be a layer of, as long as it is being exchanged. */
export async function allowBase(files: MachineFiles, image: string): Promise<void> {
  const known = (await readBases(files)) ?? [];
  if (!known.includes(image)) await writeBases(files, [...known, image]);
}

/** From here on the disk is a layer of this image and no other. */
export async function settleBase(files: MachineFiles, image: string): Promise<void> {
  await writeBases(files, [image]);
}

/** Runs `work` with an image's disk open for a program to inherit, which may not be able to walk there itself. */
export async function withImage<T>(
  files: MachineFiles,
  image: string,
  work: (descriptor: number) => Promise<T>,
): Promise<T> {
  const handle = await open(imageDisk(files, image), 'r');
  try {
    return await work(handle.fd);
  } finally {
    await handle.close();
  }
}

async function readBases(files: MachineFiles): Promise<string[] | null> {
  const text = await readFile(files.base, 'utf8').catch(() => null);
  return text === null ? null : JSON.parse(text);
}

async function writeBases(files: MachineFiles, images: string[]): Promise<void> {
  await writeDurably(files.base, JSON.stringify(images));
}

async function isImage(files: MachineFiles, image: string): Promise<boolean> {
  try {
    checkImageSlug(image);
    return (await stat(imageDisk(files, image))).isFile();
  } catch {
    return false;
  }
}

function refused({ id }: MachineFiles, reason: string): HypervisorError {
  return new HypervisorError('disk_failed', `the disk of ${id} is refused: ${reason}`, { permanent: true });
}
