import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { kept } from '../../debian/index.ts';
import { debianTree } from './debian.ts';
import { tinyTree } from './tiny.ts';

/** A system that servers are installed with, packed, and the SHA-256 of these bytes in hexadecimal. */
export interface PackedSystem {
  file: string;
  sha256: string;
  /** Of a system that comes as the image of a disk: how long that is, and its own checksum. Null: it is a file tree. */
  disk: { sha256: string; bytes: number } | null;
}

export type Tree = PackedSystem & { disk: null };

/** The trees that we build ourselves: each writes a tar archive, and gives what packs it. */
const recipes = { tiny: tinyTree, 'debian-12': debianTree };
export type TreeName = keyof typeof recipes;
/** Counted up whenever a tree's recipe changes: an installation goes on with what it has built. */
export const treeFolders: Readonly<Record<TreeName, string>> = {
  tiny: 'tree-tiny-2',
  'debian-12': 'tree-debian-12-3',
};
/** Those that do at their first start what their customer's user data says, by cloud-init. */
const readingUserData: ReadonlySet<TreeName> = new Set(['debian-12']);

export function readsUserData(name: TreeName): boolean {
  return readingUserData.has(name);
}

/** A tree in `dir`, built when it is first wanted and kept. */
export async function ensureTree(
  dir: string,
  name: TreeName,
  progress: (line: string) => void,
): Promise<Tree> {
  const folder = await kept(dir, treeFolders[name], async (partial) => {
    const work = join(partial, 'work');
    const [plain, packed] = [join(work, 'tree.tar'), join(partial, 'tree.tar.zst')];
    await mkdir(work);
    const unpacked = await recipes[name](work, plain, progress);
    await unpacked.run('usr/bin/zstd', ['-q', '-T0', '-9', '-o', packed, plain], { timeoutMs: 1_800_000 });
    const hash = createHash('sha256');
    await pipeline(createReadStream(packed), hash);
    await writeFile(join(partial, 'sha256'), hash.digest('hex'));
  });
  return {
    file: join(folder, 'tree.tar.zst'),
    sha256: await readFile(join(folder, 'sha256'), 'utf8'),
    disk: null,
  };
}
