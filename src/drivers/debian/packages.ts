import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../platform/host/program.ts';

/** Downloads packages with the host's own apt and signature checks, without installing anything. */
export async function downloadPackages(names: readonly string[], dir: string): Promise<string[]> {
  await mkdir(dir, { recursive: true });
  // The sandbox user cannot write into our folder; downloads are verified all the same.
  const options = ['-q', '-o', 'APT::Sandbox::User=root', '-o', 'Acquire::Retries=3'];
  await runProgram(['apt-get', ...options, 'download', ...names], { cwd: dir, timeoutMs: 600_000 });
  const files = await readdir(dir);
  return names.map((name) => {
    const file = files.find((each) => each.startsWith(`${name}_`) && each.endsWith('.deb'));
    if (file === undefined) throw new Error(`apt-get downloaded no package file for ${name}`);
    return join(dir, file);
  });
}

/** Unpacks a package's files below `root`; its maintainer scripts do not run. */
export async function unpackPackage(file: string, root: string): Promise<void> {
  await mkdir(root, { recursive: true });
  await runProgram(['dpkg-deb', '-x', file, root]);
}

/** Names of the packages that `name` needs directly. */
export async function dependenciesOf(name: string): Promise<string[]> {
  const { stdout } = await runProgram(['apt-cache', 'depends', '--important', name]);
  return [...stdout.matchAll(/^\s+\|?(?:Pre)?Depends: ([a-z0-9.+-]+)$/gm)].map((match) => match[1] ?? '');
}

/** The shared libraries that these packages need, as package names, all the way down. */
export async function librariesOf(names: readonly string[]): Promise<string[]> {
  const { stdout } = await runProgram(['apt-cache', 'depends', '--recurse', '--important', ...names]);
  const all = new Set(stdout.split('\n').filter((line) => /^(lib|zlib)[a-z0-9.+-]+$/.test(line)));
  // Perl comes in through maintainer scripts, which never run here.
  return [...all].filter((name) => !/perl|gdbm|^libdb\d/.test(name) && !names.includes(name));
}
