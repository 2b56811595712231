import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = path.join(import.meta.dirname, '../..');
/** So many migrations are missing in the older version: at least, and at most. */
const [least, most] = [3, 12];

/**
 * The product of before its newest migrations, out of the history of this repository, with the packages of today; null where
 * there is no such history. Whoever takes it removes it.
 */
export async function olderVersion(): Promise<{ root: string; commit: string; remove: () => void } | null> {
  const root = mkdtempSync(path.join(tmpdir(), 'innkeeper-older-'));
  const remove = () => rmSync(root, { recursive: true, force: true });
  try {
    const commit = await commitOf();
    if (commit === null) throw new Error('none is old enough');
    const archive = path.join(root, 'older.tar');
    await git('archive', '--output', archive, commit, 'src', 'migrations', 'package.json');
    await run('tar', ['-xf', archive, '-C', root]);
    symlinkSync(path.join(here, 'node_modules'), path.join(root, 'node_modules'));
    return { root, commit: commit.slice(0, 9), remove };
  } catch {
    remove();
    return null;
  }
}

async function git(...args: string[]): Promise<string> {
  return (await run('git', ['-C', here, ...args], { maxBuffer: 2 ** 26 })).stdout.trim();
}

/** The newest commit that lacks enough migrations, and has each of its own as it is today. */
async function commitOf(): Promise<string | null> {
  const today = new Set((await git('ls-tree', 'HEAD', 'migrations/')).split('\n'));
  const names = readdirSync(path.join(here, 'migrations')).toSorted();
  for (const name of names.slice(-most, 1 - least).toReversed()) {
    const added = await git('log', '-1', '--diff-filter=A', '--format=%H', '--', `migrations/${name}`);
    const commit = await git('rev-parse', '--verify', '--quiet', `${added}^`);
    const theirs = (await git('ls-tree', commit, 'migrations/')).split('\n');
    if (theirs.every((line) => today.has(line))) return commit;
  }
  return null;
}
