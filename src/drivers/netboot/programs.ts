import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadPackages, kept, unpackPackage } from '../debian/index.ts';

/** What firmware starts over TFTP: iPXE by BIOS and by UEFI, from Debian's package. Fetched when first wanted, and kept in `dir`. */
export function ensureBootPrograms(dir: string): Promise<string> {
  return kept(dir, 'ipxe', async (partial) => {
    const work = join(partial, 'work');
    for (const file of await downloadPackages(['ipxe'], work)) await unpackPackage(file, work);
    for (const name of ['undionly.kpxe', 'snponly.efi'])
      await cp(join(work, 'usr/lib/ipxe', name), join(partial, name));
  });
}
