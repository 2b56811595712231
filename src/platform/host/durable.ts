import { open, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Puts a small file in place as a whole: after a power cut there is this one, or what was there before. `prepare` does what has
 * to be done to it before it has its name.
 */
export async function writeDurably(
  file: string,
  content: string | Buffer,
  prepare: (partial: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const partial = `${file}.partial`;
  await writeSynced(partial, content);
  await prepare(partial);
  await rename(partial, file);
  await syncFolder(dirname(file));
}

/** Writes a file whose contents are on the disk afterwards; its name is there for good after {@link syncFolder}. */
export async function writeSynced(file: string, content: string | Buffer): Promise<void> {
  const opened = await open(file, 'w', 0o600);
  try {
    await opened.writeFile(content);
    await opened.sync();
  } finally {
    await opened.close();
  }
}

/**
 * Has on the disk what a program has written into a file. Before it gets its name: a file system may keep the name first, and a power
 * cut then leaves an empty file under it.
 */
export async function syncFile(file: string): Promise<void> {
  const opened = await open(file, 'r');
  await opened.sync().finally(() => opened.close());
}

/** Has the names in a folder on the disk, as {@link syncFile} has the contents of a file there. */
export async function syncFolder(dir: string): Promise<void> {
  await syncFile(dir);
}

/** Has everything below a folder on the disk, and the folder itself. */
export async function syncTree(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncTree(join(dir, entry.name));
    else if (entry.isFile()) await syncFile(join(dir, entry.name));
  }
  await syncFolder(dir);
}
