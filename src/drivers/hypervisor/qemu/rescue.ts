import { rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { readQcow2 } from '../formats/qcow2.ts';
import { makeQcow2 } from './diskTool.ts';
import { exists, giveTo, lendTo, type MachineFiles, type Owner } from './files.ts';
import { writeRescueSeed } from './identity.ts';

/** The recipe whose image is the rescue system, and the name it is kept under. */
export const rescueImage = 'tiny';

/**
 * Lays out what a machine needs to start from the rescue system: a throw-away layer over the tiny image, and a
 * seed with the machine's name, network and, unless `writeIdentity` brought others, its own sign-in. Both stay
 * until the machine starts from its disk again, so that rescue survives a power cut.
 */
export async function enterRescue(files: MachineFiles, imageDir: string, owner: Owner | null): Promise<void> {
  if (!(await exists(files.rescueSeed))) await writeRescueSeed(files, null, owner);
  await lendTo(owner, files.rescueSeed); // it may have had another account until now
  if (await exists(files.rescueDisk)) return giveTo(owner, files.rescueDisk);
  const partial = `${files.rescueDisk}.partial`;
  await rm(partial, { force: true });
  const backing = relative(dirname(partial), join(imageDir, 'disk.qcow2'));
  const image = await readQcow2(join(imageDir, 'disk.qcow2'));
  await makeQcow2(owner, partial, image?.virtualBytes ?? 0, backing);
  await rename(partial, files.rescueDisk);
}

/** Takes away what {@link enterRescue} laid out. Of a stopped machine. */
export async function leaveRescue(files: MachineFiles): Promise<void> {
  await rm(files.rescueSeed, { force: true });
  await rm(files.rescueDisk, { force: true });
}
