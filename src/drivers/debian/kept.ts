import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder, syncTree } from '../../platform/host/durable.ts';
import { runAsRoot } from '../../platform/host/program.ts';
import { withFileLock } from './fileLock.ts';

/**
 * A folder `name` in `dir` that `build` makes when it is first wanted; what is there is whole. Whatever it leaves in `work` is
 * thrown away, and everything when it fails.
 */
export async function kept(
  dir: string,
  name: string,
  build: (partial: string) => Promise<void>,
): Promise<string> {
  const made = join(dir, name);
  await mkdir(dir, { recursive: true });
  if (!(await isThere(made)))
    await withFileLock(join(dir, `${name}.lock`), async () => {
      if (await isThere(made)) return; // another process built it while we waited
      const partial = join(dir, `${name}.partial`);
      await removeAll(partial);
      await mkdir(partial);
      await build(partial).catch(async (error: unknown) => {
        await removeAll(partial);
        throw error;
      });
      await removeAll(join(partial, 'work'));
      await syncTree(partial);
      await rename(partial, made);
      await syncFolder(dir);
    });
  return made;
}

/** What was built with the rights of root, or broke off in the middle of that, we may be too little to remove. */
async function removeAll(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
    await runAsRoot(['rm', '-rf', '--one-file-system', path]);
  });
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
