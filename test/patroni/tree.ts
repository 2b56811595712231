import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAsRoot, runProgram } from '../../src/platform/host/program.ts';

/** A PostgreSQL that fails over: Patroni with etcd, and HAProxy as the one address in front. */
const packages = ['postgresql', 'patroni', 'etcd-server', 'haproxy'];

/**
 * A folder with what of them this host lacks, unpacked and not installed: nothing is started by it. Kept from run to run, under a name that
 * changes with this file. The first time takes some seconds and 12 MB.
 */
export async function ensurePatroniTree(): Promise<string> {
  const dir = await treeDir();
  if (existsSync(dir)) return dir;
  const partial = await mkdtemp(join(tmpdir(), 'innkeeper-patroni-'));
  try {
    await download(join(partial, 'packages'));
    for (const name of await readdir(join(partial, 'packages')))
      if (name.endsWith('.deb'))
        await runProgram(['dpkg-deb', '-x', join(partial, 'packages', name), join(partial, 'tree')]);
    await runProgram(['chmod', '-R', 'go+rX', join(partial, 'tree')]);
    if (!existsSync(dir)) await rename(join(partial, 'tree'), dir);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return dir;
}

async function treeDir(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(import.meta.dirname, 'tree.ts')));
  const user = process.getuid?.() ?? 0;
  return join(tmpdir(), `innkeeper-test-patroni-${user}-${hash.digest('hex').slice(0, 8)}`);
}

async function download(folder: string): Promise<void> {
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

/** Where a program is: in the tree, or on this host, which then needed no package for it. */
export function programIn(tree: string, name: string): string {
  const folders = ['usr/bin', 'usr/sbin'];
  const found = [
    ...folders.map((each) => join(tree, each, name)),
    ...folders.map((each) => join('/', each, name)),
  ];
  const program = found.find((each) => existsSync(each));
  if (program === undefined) throw new Error(`there is no ${name} in ${tree} nor on this host`);
  return program;
}

/** The folder of PostgreSQL's own programs, which stand apart from all others. */
export async function postgresIn(tree: string): Promise<string> {
  for (const root of [tree, '/']) {
    const versions = await readdir(join(root, 'usr/lib/postgresql')).catch(() => []);
    const newest = versions.map(Number).sort((a, b) => b - a)[0];
    if (newest !== undefined) return join(root, 'usr/lib/postgresql', String(newest), 'bin');
  }
  throw new Error('there is no PostgreSQL of Debian');
}

/** What programs of the tree are told to find the rest of it. */
export function surroundings(tree: string): Record<string, string> {
  return {
    PATH: ['usr/bin', 'usr/sbin']
      .map((each) => join(tree, each))
      .join(':')
      .concat(':/usr/bin:/bin:/usr/sbin:/sbin'),
    PYTHONPATH: join(tree, 'usr/lib/python3/dist-packages'),
    LD_LIBRARY_PATH: join(tree, 'usr/lib/x86_64-linux-gnu'),
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
  };
}
