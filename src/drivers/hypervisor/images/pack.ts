import { rm, writeFile } from 'node:fs/promises';
import { runAsRoot, runProgram } from '../../../platform/host/program.ts';

/**
 * Packs the folder `root` into an ext4 disk without mounting anything, and removes the folder. The guest takes
 * the files' owners over from it, so work on what belongs to root is root's. However small it is, it is laid out
 * as a disk of usual size (`-T default`), which it grows to.
 */
export async function packDisk(root: string, target: string, sizeMib: number): Promise<void> {
  const raw = `${target}.raw`;
  await writeFile(raw, '');
  const options = 'lazy_itable_init=1,lazy_journal_init=1';
  const layout = ['-t', 'ext4', '-T', 'default', '-L', 'root', '-E', options];
  await runAsRoot(['mke2fs', '-q', ...layout, '-d', root, raw, `${sizeMib}M`], { timeoutMs: 600_000 });
  await runAsRoot(['rm', '-r', root]);
  await runProgram(['qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', raw, target], { timeoutMs: 600_000 });
  await rm(raw);
}
