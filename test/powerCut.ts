import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAsRoot, runProgram } from '../src/platform/host/program.ts';

/** A file system of its own, of which can be seen what a power cut at this moment would leave. */
export interface Disk {
  /** What of its files a power cut at this moment leaves different: each path below `dir`, and what became of it. */
  lost(): Promise<string[]>;
  /** Remembers what a power cut at this moment would leave. */
  remember(): Promise<void>;
  /** Puts what was remembered last in the place of the file system, as after such a cut. Nobody uses it by then. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Puts a file system at `dir`, which is empty. Names that were given a moment ago are on it, as after the commit of a
 * database beside them; of contents only what somebody had written to it for good.
 */
export async function openDisk(dir: string, mib: number): Promise<Disk> {
  const work = await mkdtemp(join(tmpdir(), 'innkeeper-power-'));
  const image = join(work, 'disk');
  await writeFile(image, '');
  await runProgram(['truncate', '-s', `${mib}M`, image]);
  await runProgram(['mkfs.ext4', '-q', image]);
  await mkdir(dir, { recursive: true });
  await runAsRoot(['mount', '-o', 'loop', image, dir]);
  await runAsRoot(['rmdir', join(dir, 'lost+found')]);
  await runAsRoot(['chown', `${process.getuid?.()}:${process.getgid?.()}`, dir]);
  const [copy, after] = [join(work, 'copy'), join(work, 'after')];
  const remember = async (): Promise<void> => {
    const commit = await open(join(dir, 'commit'), 'w');
    await commit.writeFile('.');
    await commit.sync().finally(() => commit.close());
    await runProgram(['cp', '--sparse=always', image, copy]);
  };
  return {
    remember,
    comeBack: async () => {
      await runAsRoot(['umount', dir]);
      await rename(copy, image);
      await runAsRoot(['mount', '-o', 'loop', image, dir]);
    },
    lost: async () => {
      await remember();
      await mkdir(after, { recursive: true });
      await runAsRoot(['mount', '-o', 'loop', copy, after]);
      try {
        return await differences(dir, after);
      } finally {
        await runAsRoot(['umount', after]);
        await rm(copy);
      }
    },
    close: async () => {
      await runAsRoot(['umount', dir]);
      await rm(work, { recursive: true });
    },
  };
}

async function differences(before: string, after: string): Promise<string[]> {
  const [had, has] = [await contentsOf(before), await contentsOf(after)];
  const gone = [...had].filter(([name, digest]) => has.get(name) !== digest);
  const left = [...has.keys()].filter((name) => !had.has(name));
  return [
    ...gone.map(([name]) => `${name} is ${has.has(name) ? 'another' : 'gone'}`),
    ...left.map((name) => `${name} is there again`),
  ].toSorted();
}

/** Each file below a folder, by its path, as a digest of what is in it. */
async function contentsOf(dir: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(dir.length + 1);
    if (entry.isDirectory()) found.set(name, '');
    else if (entry.isSymbolicLink()) found.set(name, await readlink(path));
    else
      found.set(
        name,
        createHash('sha256')
          .update(await readFile(path))
          .digest('hex'),
      );
  }
  return found;
}
