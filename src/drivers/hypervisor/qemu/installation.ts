import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../../../platform/host/durable.ts';

/** What tells this installation's things on the host from those of another one; chosen once, kept beside its machines. */
export async function installationId(dir: string): Promise<string> {
  const file = join(dir, 'installation');
  const known = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (/^[0-9a-f-]{36}$/.test(known)) return known;
  const id = randomUUID();
  await writeDurably(file, `${id}\n`);
  return id;
}
