import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from './durable.ts';

/** What tells this DATA_DIR from every other one. It is chosen at the first start, lies in it, and moves with it. */
export async function dataDirId(dir: string): Promise<string> {
  const file = join(dir, 'data-dir.id');
  const known = (await readFile(file, 'utf8').catch(ifMissing)).trim();
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(known)) return known;
  if (known !== '') throw new Error(`${file} holds no id. Put the file of your backup back.`);
  const id = randomUUID();
  await writeDurably(file, `${id}\n`);
  return id;
}

function ifMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
