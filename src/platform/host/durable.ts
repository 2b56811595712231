import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Puts a small file in place as a whole: after a power cut there is this one, or what was there before. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const partial = await open(`${file}.partial`, 'w', 0o600);
  try {
    await partial.writeFile(text);
    await partial.sync();
  } finally {
    await partial.close();
  }
  await rename(`${file}.partial`, file);
  await syncFolder(dirname(file));
}

/** Has the names in a folder on the disk, as `sync` of a file has its contents there. */
export async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  await folder.sync().finally(() => folder.close());
}
