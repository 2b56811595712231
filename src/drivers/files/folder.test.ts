import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../../platform/host/program.ts';
import { describeFiles } from './conformance.ts';
import { folderFiles } from './index.ts';

const dirs: string[] = [];
const newDir = () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-files-'));
  dirs.push(dir);
  return dir;
};
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

describeFiles('a folder', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-files-'));
  return {
    files: folderFiles({ dir: path.join(dir, 'files') }),
    other: folderFiles({ dir: path.join(dir, 'files') }),
    close: async () => rmSync(dir, { recursive: true, force: true }),
  };
});

/** What lies in a folder, whoever hid it. */
const all = (dir: string) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)))
    .toSorted();

describe('a folder of files', () => {
  it('is made with its first file, and is for nobody else to look into', async () => {
    const dir = path.join(newDir(), 'deep', 'files');
    await folderFiles({ dir }).put('a/b.txt', Buffer.from('x'));
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(dir, 'a/b.txt')).mode & 0o777).toBe(0o600);
    expect(all(dir)).toEqual(['a/b.txt']);
  });

  it('forgets what a process left that died while it wrote, and not what is being written', async () => {
    const dir = newDir();
    mkdirSync(path.join(dir, '.unfinished'));
    for (const name of ['old', 'new']) writeFileSync(path.join(dir, '.unfinished', name), 'half');
    const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
    utimesSync(path.join(dir, '.unfinished/old'), twoDaysAgo, twoDaysAgo);
    await folderFiles({ dir }).put('a.txt', Buffer.from('x'));
    expect(all(dir)).toEqual(['.unfinished/new', 'a.txt']);
  });

  it('says when one name would have to be a file and a folder, and keeps what was there', async () => {
    const dir = newDir();
    const files = folderFiles({ dir });
    await files.put('a', Buffer.from('file'));
    const refused = expect.objectContaining({ code: 'name_invalid', permanent: true });
    await expect(files.put('a/b', Buffer.from('x'))).rejects.toEqual(refused);
    await files.put('c/d', Buffer.from('x'));
    await expect(files.put('c', Buffer.from('x'))).rejects.toEqual(refused);
    expect(all(dir)).toEqual(['a', 'c/d']);
  });

  it('that cannot be written to says so, and that trying again may help', async () => {
    const put = folderFiles({ dir: '/sys/innkeeper-files' }).put('a', Buffer.from('x'));
    const refused = expect.objectContaining({ code: 'files_unreachable', permanent: false });
    await expect(put).rejects.toEqual(refused);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'that is full says so, keeps the file before and nothing half',
    async () => {
      const dir = newDir();
      await runProgram(['mount', '-t', 'tmpfs', '-o', 'size=256k', 'innkeeper-test', dir]);
      try {
        const files = folderFiles({ dir });
        await files.put('small', Buffer.from('fits'));
        await files.put('large', Buffer.alloc(10_000, 1));
        const full = expect.objectContaining({ code: 'files_full', permanent: false });
        await expect(files.put('large', Buffer.alloc(1_000_000))).rejects.toEqual(full);
        await expect(files.put('another', Buffer.alloc(1_000_000))).rejects.toEqual(full);
        expect((await files.get('large')).length).toBe(10_000);
        expect(all(dir)).toEqual(['large', 'small']);
        await files.put('another', Buffer.from('fits'));
      } finally {
        await runProgram(['umount', dir]);
      }
    },
  );
});
