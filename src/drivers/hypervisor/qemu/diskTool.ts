import { open } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Output } from '../../../platform/host/program.ts';
import { runConfined } from '../confined.ts';
import { writeEmptyQcow2 } from '../formats/emptyQcow2.ts';
import { findOwner } from './accounts.ts';
import { giveTo, type MachineFiles, type Owner } from './files.ts';
import { baseImage, checkedHeader, type Layer, withImage } from './layers.ts';

const imageDescriptor = 3;

/** What {@link diskTool} sees besides the machine's disk: a backup that it reads or writes. */
interface Beside {
  reads?: readonly string[];
  writes?: readonly string[];
  timeoutMs?: number;
}

/**
 * Runs `qemu-img` on the machine's disk, confined and as the machine's account: what a hostile disk makes of the
 * program can reach nothing but these files. `argv` gets the disk's name, with all that lies below it. Paths of the
 * machine's files are relative to its folder, since its account may not walk there from the root.
 */
export async function diskTool(
  files: MachineFiles,
  argv: (disk: string) => readonly string[],
  { reads = [], writes = [], timeoutMs }: Beside = {},
): Promise<Output> {
  const image = await baseImage(files);
  const owner = await findOwner(files);
  await giveTo(owner, files.disk); // it may have had another account until now
  return withImage(files, image, (descriptor) => {
    const below = layer(`/proc/self/fd/${imageDescriptor}`, null);
    const disk = layer(relative(files.dir, files.disk), below);
    return runConfined(['qemu-img', ...argv(named(disk))], {
      ...{ owner, cwd: files.dir, descriptors: [descriptor] },
      ...{ reads, writes: [files.disk, ...writes] },
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  });
}

/** The name of a backup of the machine, for {@link diskTool}; it has nothing below it. */
export async function backupName(files: MachineFiles, backup: string): Promise<string> {
  await checkedHeader(files, backup);
  return named(layer(relative(files.dir, backup), null));
}

/** Makes an empty file that the account may write, in a folder where it can make none itself. */
export async function makeFileFor(owner: Owner | null, path: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  await handle.close();
  await giveTo(owner, path);
}

/** Makes a qcow2 of the account's; `below` is written down in it, and not opened. */
export async function makeQcow2(
  owner: Owner | null,
  path: string,
  bytes: number,
  below: string | null,
): Promise<void> {
  await writeEmptyQcow2(path, bytes, below);
  await giveTo(owner, path);
}

function layer(filename: string, backing: Layer | null): Layer {
  return { driver: 'qcow2', file: { driver: 'file', filename }, backing };
}

function named(top: Layer): string {
  return `json:${JSON.stringify(top)}`;
}
