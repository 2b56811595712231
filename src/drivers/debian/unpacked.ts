import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runAsRoot, runProgram } from '../../platform/host/program.ts';
import { unpackPackage } from './packages.ts';

const folders = ['usr/bin', 'usr/sbin', 'bin', 'sbin'];
const patienceMs = 300_000;

/**
 * Unpacks into `tree` what this host lacks of these packages and of what they need, without installing anything: nothing is started by it.
 * They are fetched through `work`, which may be thrown away afterwards.
 */
export async function unpackMissing(packages: readonly string[], tree: string, work: string): Promise<void> {
  await mkdir(join(work, 'partial'), { recursive: true });
  await mkdir(tree, { recursive: true });
  const settings = { 'Debug::NoLocking': '1', 'APT::Sandbox::User': 'root', 'Dir::Cache::archives': work };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const argv = ['apt-get', 'install', '-y', '--download-only', '--no-install-recommends', ...options];
  const get = () => runProgram([...argv, ...packages], { timeoutMs: patienceMs });
  await get().catch(async () => {
    // Lists that are a few days old name versions that the servers no longer have.
    await runAsRoot(['apt-get', 'update'], { timeoutMs: patienceMs });
    await get();
  });
  for (const file of await readdir(work))
    if (file.endsWith('.deb')) await unpackPackage(join(work, file), tree);
}

/** Where a program is: in a tree of {@link unpackMissing}, or on this host, which then needed no package for it. */
export function programIn(tree: string, name: string): string {
  const found = [tree, '/'].flatMap((root) => folders.map((each) => join(root, each, name))).find(existsSync);
  if (found === undefined) throw new Error(`there is no ${name} in ${tree} nor on this host`);
  return found;
}

/** What programs of such a tree find the rest of it by. */
export function pathsOf(tree: string): { PATH: string; LD_LIBRARY_PATH: string } {
  return {
    PATH: [tree, '/'].flatMap((root) => folders.map((each) => join(root, each))).join(':'),
    LD_LIBRARY_PATH: ['usr/lib', 'lib'].map((each) => join(tree, each, 'x86_64-linux-gnu')).join(':'),
  };
}
