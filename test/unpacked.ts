import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathsOf, unpackMissing } from '../src/drivers/debian/index.ts';
import { runProgram } from '../src/platform/host/program.ts';

export { programIn } from '../src/drivers/debian/index.ts';

/**
 * A folder with what this host lacks of these Debian packages and of what they need, unpacked and not installed: nothing is started by it.
 * Kept from run to run, under a name that changes with the list and with this file. Fetched the first time it is asked for.
 */
export async function ensureUnpacked(name: string, packages: readonly string[]): Promise<string> {
  const dir = await treeDir(name, packages);
  if (existsSync(dir)) return dir;
  const partial = await mkdtemp(join(tmpdir(), `innkeeper-${name}-`));
  try {
    await unpackMissing(packages, join(partial, 'tree'), join(partial, 'packages'));
    await runProgram(['chmod', '-R', 'go+rX', join(partial, 'tree')]);
    if (!existsSync(dir)) await rename(join(partial, 'tree'), dir);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return dir;
}

async function treeDir(name: string, packages: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(import.meta.dirname, 'unpacked.ts')));
  hash.update(packages.join(' '));
  const user = process.getuid?.() ?? 0;
  return join(tmpdir(), `innkeeper-test-${name}-${user}-${hash.digest('hex').slice(0, 8)}`);
}

/** Where a file or a folder is, named from the root: in the tree, or on this host, which then needed no package for it. */
export function pathIn(tree: string, path: string): string {
  const found = [join(tree, path), join('/', path)].find((each) => existsSync(each));
  if (found === undefined) throw new Error(`there is no ${path} in ${tree} nor on this host`);
  return found;
}

/** What programs of the tree are told to find the rest of it. */
export function surroundings(tree: string): Record<string, string> {
  return {
    ...pathsOf(tree),
    PYTHONPATH: join(tree, 'usr/lib/python3/dist-packages'),
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
  };
}
