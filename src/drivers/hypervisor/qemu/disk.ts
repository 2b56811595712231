import { rename, rm } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { syncFolder } from '../../../platform/host/durable.ts';
import { HypervisorError, type MachineSpec } from '../contract.ts';
import { readBeginning } from '../formats/qcow2.ts';
import type { ImageDescription } from '../images/recipe.ts';
import { makeQcow2 } from './diskTool.ts';
import { exists, type MachineFiles, makeMachineDir, type Owner } from './files.ts';
import { allowBase, imageDisk } from './layers.ts';

const sectorBytes = 512;

/**
 * Makes the machine's disk as a layer over its image: instant, and the image itself is never written. The path
 * to the image is relative, so that the data folder can move. A crash leaves at most a `.partial` file.
 */
export async function createDisk(
  spec: MachineSpec,
  files: MachineFiles,
  image: ImageDescription & { dir: string },
  owner: Owner | null,
): Promise<void> {
  if (await exists(files.disk)) return;
  if (spec.diskGib * 2 ** 30 < image.diskBytes) {
    const message = `${spec.diskGib} GiB are too small for the image ${spec.image}`;
    throw new HypervisorError('disk_failed', message, { permanent: true });
  }
  await makeMachineDir(files, owner);
  await allowBase(files, spec.image);
  const below = relative(dirname(files.disk), imageDisk(files, spec.image));
  const partial = `${files.disk}.partial`;
  await rm(partial, { force: true });
  try {
    await makeQcow2(owner, partial, spec.diskGib * 2 ** 30, below);
    await rename(partial, files.disk);
    await syncFolder(files.dir);
    await syncFolder(dirname(files.dir));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HypervisorError('disk_failed', `the disk of ${spec.id}: ${reason}`, { cause });
  }
}

/**
 * Whether the disk of a stopped machine starts by itself: our own images have no boot sector and are started with
 * their kernel, what an installer has put over them brings one (its signature is the last two bytes of the first 512).
 */
export async function hasBootSector(files: MachineFiles): Promise<boolean> {
  const sector = await readBeginning(files.disk, sectorBytes);
  return sector?.readUInt16BE(sectorBytes - 2) === 0x55aa; // null: as in the image, which has none
}
