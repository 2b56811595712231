import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFile } from '../../../platform/host/durable.ts';
import { fetchKernel, kernelPackages, writeUnpackedKernel } from '../../debian/index.ts';

/** A kernel to try the host's virtualization with, for nodes whose images bring none. Returns its file. */
export async function probeKernel(dir: string): Promise<string> {
  const target = join(dir, 'probe-kernel');
  if (
    await readFile(target).then(
      () => true,
      () => false,
    )
  )
    return target;
  const work = join(dir, `probe-kernel.${process.pid}`);
  const { image } = await fetchKernel(work, kernelPackages.machines);
  await writeUnpackedKernel(image, join(work, 'unpacked'));
  await syncFile(join(work, 'unpacked'));
  await rename(join(work, 'unpacked'), target);
  await rm(work, { recursive: true });
  return target;
}
