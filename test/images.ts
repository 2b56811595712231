import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TreeName } from '../src/drivers/installer/index.ts';

/**
 * Builds the operating-system images that machine tests boot, before the run goes to a network from which
 * Debian's packages cannot be fetched. Kept from run to run, under a name that changes with the recipes.
 * Returns the folder, for `INNKEEPER_TEST_IMAGES`. The first time takes a while; `say` tells how far it is.
 */
export async function ensureTestImages(
  slugs: readonly string[],
  say: (line: string) => void,
): Promise<string> {
  const { imageStore } = await import('../src/drivers/hypervisor/images/store.ts');
  const dir = await keptFolder('images', ['debian', 'hypervisor/images']);
  const store = imageStore(dir);
  const { ensureNetboot } = await import('../src/drivers/hypervisor/images/netboot.ts');
  await ensureNetboot(dir, say);
  for (const slug of slugs) await store.ensure({ slug, kind: 'build', recipe: slug }, say);
  return dir;
}

/** The same for the system that installs servers, those that it installs, and what servers start from the network. Returns its folder, for `INNKEEPER_TEST_INSTALLER`. */
export async function ensureTestInstaller(
  trees: readonly TreeName[],
  say: (line: string) => void,
): Promise<string> {
  const { ensureInstaller, ensureTree } = await import('../src/drivers/installer/index.ts');
  const rooms = ['image', 'scripts', 'trees'].map((part) => `installer/${part}`);
  const dir = await keptFolder('installer', ['debian', ...rooms]);
  await ensureInstaller(dir, say);
  for (const tree of trees) await ensureTree(dir, tree, say);
  const { ensureBootPrograms } = await import('../src/drivers/netboot/index.ts');
  await ensureBootPrograms(dir);
  return dir;
}

/** A folder of ours whose name changes with the files of these rooms of drivers. */
async function keptFolder(name: string, rooms: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const room of rooms) {
    const folder = path.join(import.meta.dirname, '../src/drivers', room);
    for (const file of (await fs.readdir(folder)).sort())
      hash.update(await fs.readFile(path.join(folder, file)));
  }
  const uid = process.getuid?.() ?? 0;
  const dir = path.join(os.tmpdir(), `innkeeper-test-${name}-${uid}-${hash.digest('hex').slice(0, 8)}`);
  await fs.mkdir(dir, { recursive: true, mode: 0o755 });
  const found = await fs.lstat(dir);
  if (!found.isDirectory() || found.uid !== uid)
    throw new Error(`${dir} belongs to somebody else; remove it`);
  return dir;
}
