import { readFile, rename, rm } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { run } from '../../../platform/host/run.ts';
import { HypervisorError, type MachineSpec } from '../contract.ts';
import { holdsBeginning } from '../formats/qcow2.ts';
import type { ImageDescription } from '../images/recipe.ts';
import { exists, giveTo, type MachineFiles, makeMachineDir, type Owner } from './files.ts';

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
  const partial = `${files.disk}.partial`;
  await rm(partial, { force: true });
  const backing = relative(dirname(files.disk), `${image.dir}/disk.qcow2`);
  try {
    await run([
      'qemu-img',
      'create',
      '-q',
      '-f',
      'qcow2',
      '-F',
      'qcow2',
      '-b',
      backing,
      partial,
      `${spec.diskGib}G`,
    ]);
    await giveTo(owner, partial);
    await rename(partial, files.disk);
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
  if (!(await holdsBeginning(files.disk))) return false; // as in the image, which has none
  const copy = `${files.disk}.sector`;
  await rm(copy, { force: true });
  const dd = ['qemu-img', 'dd', '-f', 'qcow2', '-O', 'raw', 'bs=512', 'count=1'];
  await run([...dd, `if=${files.disk}`, `of=${copy}`]);
  const sector = await readFile(copy);
  await rm(copy);
  return sector.readUInt16BE(510) === 0x55aa;
}
