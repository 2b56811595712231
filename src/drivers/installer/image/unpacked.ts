import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Output, type RunOptions, runProgram } from '../../../platform/host/program.ts';
import { downloadPackages, librariesOf, unpackPackage } from '../../debian/index.ts';

/** Packages that were unpacked with the libraries they need: a folder that programs can be run from as they are. */
export interface Unpacked {
  dir: string;
  /** Runs one of its programs with its own libraries. `path` is that of its package. */
  run(path: string, args: readonly string[], options?: RunOptions & { argv0?: string }): Promise<Output>;
  /** The libraries that a program needs, by the name that it asks for: files of the folder. */
  librariesOf(path: string): Promise<Map<string, string>>;
}

const loader = 'lib64/ld-linux-x86-64.so.2';

/** Fetches and unpacks packages and their libraries below `work`. */
export async function unpack(names: readonly string[], work: string): Promise<Unpacked> {
  const dir = join(work, 'unpacked');
  const all = [...names, ...(await librariesOf(names))];
  for (const file of await downloadPackages(all, join(work, 'packages'))) await unpackPackage(file, dir);
  const paths = ['lib', 'usr/lib'].map((lib) => join(dir, lib, 'x86_64-linux-gnu')).join(':');
  const start = [join(dir, loader), '--library-path', paths];
  return {
    dir,
    run: (path, args, { argv0 = basename(path), ...options } = {}) =>
      // Some are several programs in one, and look at the name that they were called by.
      runProgram([...start, '--argv0', argv0, join(dir, path), ...args], options),
    async librariesOf(path) {
      if (await isStatic(join(dir, path))) return new Map();
      const { stdout } = await runProgram([...start, '--list', join(dir, path)]);
      const found = [...stdout.matchAll(/^\s+(\S+) => (\S+) \(/gm)].map(([, name = '', file = '']) => {
        if (!file.startsWith(`${dir}/`))
          throw new Error(`no package that was fetched has ${name} for ${path}`);
        return [name, file] as const;
      });
      return new Map(found);
    },
  };
}

/** A program that names no loader needs none, and no libraries. */
async function isStatic(file: string): Promise<boolean> {
  return !(await readFile(file)).subarray(0, 4096).includes('ld-linux');
}
