import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder, syncTree } from '../../platform/host/durable.ts';
import { withFileLock } from './fileLock.ts';

/**
 * A folder `name` in `dir` that `build` makes when it is first wanted; what is there is whole. Whatever it leaves in `work` is
 * thrown away.
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
      await rm(partial, { recursive: true, force: true });
      await mkdir(partial);
      await build(partial);
      await rm(join(partial, 'work'), { recursive: true });
      await syncTree(partial);
      await rename(partial, made);
      await syncFolder(dir);
    });
  return made;
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
