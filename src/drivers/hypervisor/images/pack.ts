import { rm, writeFile } from 'node:fs/promises';
import { run, runAsRoot } from '../../../platform/host/run.ts';

/**
 * Packs the folder `root` into an ext4 disk without mounting anything, and removes the folder. The guest takes
 * the files' owners over from it, so work on what belongs to root is root's.
 */
export async function packDisk(root: string, target: string, sizeMib: number): Promise<void> {
  const raw = `${target}.raw`;
  await writeFile(raw, '');
  const options = 'lazy_itable_init=1,lazy_journal_init=1';
  const argv = ['mke2fs', '-q', '-t', 'ext4', '-L', 'root', '-E', options, '-d', root, raw, `${sizeMib}M`];
  await runAsRoot(argv, { timeoutMs: 600_000 });
  await runAsRoot(['rm', '-r', root]);
  await run(['qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', raw, target], { timeoutMs: 600_000 });
  await rm(raw);
}
