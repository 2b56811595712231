import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { lockDataDir } from '../platform/host/dataDir.ts';
import { withWorkFolder } from './folder.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-work-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** A folder as a backup works in, with something in it, of two minutes ago. */
function left(name: string): string {
  const folder = path.join(dir, name);
  mkdirSync(path.join(folder, 'postgres'), { recursive: true });
  writeFileSync(path.join(folder, 'secret.key'), 'a key');
  old(folder);
  return folder;
}
function old(folder: string): void {
  const at = new Date(Date.now() - 120_000);
  utimesSync(folder, at, at);
}

it('what backups left that were ended in the middle goes with the next one, and what is in use stays', async () => {
  left('.backup-killed');
  left('.verify-killed');
  mkdirSync(path.join(dir, '.backup-recent'));
  left('.backup-of-mine');
  const working = left('.backup-worker');
  const trying = left('.verify-trying');
  const locks = [await lockDataDir(working), await lockDataDir(path.join(trying, 'postgres'))];
  for (const folder of [working, trying]) old(folder);
  const during = await withWorkFolder(dir, async (folder) => {
    old(folder);
    return withWorkFolder(dir, async () => readdirSync(dir).includes(path.basename(folder)));
  });
  expect(during).toBe(true);
  for (const lock of locks) lock.release();
  expect(readdirSync(dir).toSorted()).toEqual([
    '.backup-of-mine',
    '.backup-recent',
    '.backup-worker',
    '.verify-trying',
  ]);
});
