import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kept } from '../../debian/index.ts';
import { tinyTree } from './tiny.ts';

/** A system that servers are installed with: its file tree, packed, and the SHA-256 of these bytes in hexadecimal. */
export interface Tree {
  file: string;
  sha256: string;
}

/** The trees that we build ourselves: what makes each, and from which programs. */
const recipes = { tiny: tinyTree };
export type TreeName = keyof typeof recipes;

/** A tree in `dir`, built when it is first wanted and kept. */
export async function ensureTree(
  dir: string,
  name: TreeName,
  progress: (line: string) => void,
): Promise<Tree> {
  const folder = await kept(dir, `tree-${name}`, async (partial) => {
    const { archive, unpacked } = await recipes[name](join(partial, 'work'), progress);
    const [plain, packed] = [join(partial, 'work/tree.tar'), join(partial, 'tree.tar.zst')];
    await writeFile(plain, archive);
    await unpacked.run('usr/bin/zstd', ['-q', '-T0', '-9', '-o', packed, plain], { timeoutMs: 600_000 });
    const sha256 = createHash('sha256')
      .update(await readFile(packed))
      .digest('hex');
    await writeFile(join(partial, 'sha256'), sha256);
  });
  return { file: join(folder, 'tree.tar.zst'), sha256: await readFile(join(folder, 'sha256'), 'utf8') };
}
