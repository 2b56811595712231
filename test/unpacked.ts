import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAsRoot, runProgram } from '../src/platform/host/program.ts';

/**
 * A folder with what this host lacks of these Debian packages and of what they need, unpacked and not installed: nothing is started by it.
 * Kept from run to run, under a name that changes with the list and with this file. Fetched the first time it is asked for.
 */
export async function ensureUnpacked(name: string, packages: readonly string[]): Promise<string> {
  const dir = await treeDir(name, packages);
  if (existsSync(dir)) return dir;
  const partial = await mkdtemp(join(tmpdir(), `innkeeper-${name}-`));
  try {
    await download(join(partial, 'packages'), packages);
    await mkdir(join(partial, 'tree'));
    for (const file of await readdir(join(partial, 'packages')))
      if (file.endsWith('.deb'))
        await runProgram(['dpkg-deb', '-x', join(partial, 'packages', file), join(partial, 'tree')]);
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

async function download(folder: string, packages: readonly string[]): Promise<void> {
  await mkdir(join(folder, 'partial'), { recursive: true });
  const settings = { 'Debug::NoLocking': '1', 'APT::Sandbox::User': 'root', 'Dir::Cache::archives': folder };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const argv = ['apt-get', 'install', '-y', '--download-only', '--no-install-recommends', ...options];
  const get = () => runProgram([...argv, ...packages], { timeoutMs: 300_000 });
  await get().catch(async () => {
    // Lists that are a few days old name versions that the servers no longer have.
    await runAsRoot(['apt-get', 'update'], { timeoutMs: 300_000 });
    await get();
  });
}

/** Where a file or a folder is, named from the root: in the tree, or on this host, which then needed no package for it. */
export function pathIn(tree: string, path: string): string {
  const found = [join(tree, path), join('/', path)].find((each) => existsSync(each));
  if (found === undefined) throw new Error(`there is no ${path} in ${tree} nor on this host`);
  return found;
}

/** Where a program is: in the tree, or on this host. */
export function programIn(tree: string, name: string): string {
  const folders = ['usr/bin', 'usr/sbin', 'bin', 'sbin'];
  const found = [
    ...folders.map((each) => join(tree, each, name)),
    ...folders.map((each) => join('/', each, name)),
  ].find((each) => existsSync(each));
  if (found === undefined) throw new Error(`there is no ${name} in ${tree} nor on this host`);
  return found;
}

/** What programs of the tree are told to find the rest of it. */
export function surroundings(tree: string): Record<string, string> {
  return {
    PATH: ['usr/bin', 'usr/sbin', 'bin', 'sbin']
      .map((each) => join(tree, each))
      .join(':')
      .concat(':/usr/bin:/bin:/usr/sbin:/sbin'),
    PYTHONPATH: join(tree, 'usr/lib/python3/dist-packages'),
    LD_LIBRARY_PATH: ['usr/lib', 'lib'].map((each) => join(tree, each, 'x86_64-linux-gnu')).join(':'),
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
  };
}
