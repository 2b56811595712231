import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The commit that a working copy stands at, read from its files; null where the program did not come with Git. */
export function commitOf(root: string): string | null {
  try {
    const git = gitDirOf(root);
    const head = readFileSync(path.join(git, 'HEAD'), 'utf8').trim();
    const ref = /^ref: (.+)$/.exec(head)?.[1];
    const commit = ref === undefined ? head : readRef(git, ref);
    return commit !== null && /^[0-9a-f]{40,64}$/.test(commit) ? commit : null;
  } catch {
    return null; // nothing depends on it
  }
}

/** `.git` is a folder, or in a second working copy a file that names one. */
function gitDirOf(root: string): string {
  const dotGit = path.join(root, '.git');
  const named = readIfThere(dotGit);
  const elsewhere = named === null ? null : /^gitdir: (.+)$/m.exec(named)?.[1];
  return elsewhere ? path.resolve(root, elsewhere) : dotGit;
}

function readRef(git: string, ref: string): string | null {
  const shared = path.resolve(git, readIfThere(path.join(git, 'commondir'))?.trim() ?? '.');
  const loose = readIfThere(path.join(shared, ref));
  if (loose !== null) return loose.trim();
  const packed = readIfThere(path.join(shared, 'packed-refs'))?.split('\n') ?? [];
  return packed.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0] ?? null;
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
