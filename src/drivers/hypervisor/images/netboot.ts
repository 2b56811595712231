import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFile } from '../../../platform/host/durable.ts';
import { downloadPackages, unpackPackage, withFileLock } from '../../debian/index.ts';
import { HypervisorError, type Progress } from '../contract.ts';

/**
 * The program that machines start from the network with: iPXE, as a kernel, from Debian's package. Fetched when a
 * machine first wants it, and kept beside the images under a name that none of them can have. Returns its path.
 */
export async function ensureNetboot(imagesDir: string, progress: Progress): Promise<string> {
  const dir = join(imagesDir, '.netboot');
  const program = join(dir, 'ipxe.lkrn');
  const isThere = () =>
    access(program).then(
      () => true,
      () => false,
    );
  if (await isThere()) return program;
  await mkdir(dir, { recursive: true });
  await withFileLock(join(dir, 'lock'), async () => {
    if (await isThere()) return; // another process fetched it while we waited
    progress('Fetching iPXE, which machines start from the network with');
    await fetch(join(dir, 'partial'), program).catch((cause: Error) => {
      throw new HypervisorError('host_not_ready', `iPXE cannot be fetched: ${cause.message}`, { cause });
    });
  });
  return program;
}

async function fetch(work: string, program: string): Promise<void> {
  await rm(work, { recursive: true, force: true });
  for (const file of await downloadPackages(['ipxe'], work)) await unpackPackage(file, work);
  await syncFile(join(work, 'boot/ipxe.lkrn'));
  await rename(join(work, 'boot/ipxe.lkrn'), program);
  await rm(work, { recursive: true });
}
