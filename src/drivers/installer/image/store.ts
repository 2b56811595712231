import { join } from 'node:path';
import { kept } from '../../debian/index.ts';
import { buildInstaller } from './build.ts';

/** The installer's two files, as a server starts them from the network. */
export interface InstallerImage {
  kernel: string;
  initrd: string;
}

/** Counted up whenever anything in it changes: an installation goes on with what it has built. */
export const installerFolder = 'installer-6';

/** The installer in `dir`, built when it is first wanted and kept. */
export async function ensureInstaller(
  dir: string,
  progress: (line: string) => void,
): Promise<InstallerImage> {
  const image = await kept(dir, installerFolder, (partial) => buildInstaller(partial, progress));
  return { kernel: join(image, 'vmlinuz'), initrd: join(image, 'initrd') };
}
