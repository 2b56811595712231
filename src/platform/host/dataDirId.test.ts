import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { dataDirId } from './dataDirId.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'innkeeper-id-'));
});
afterAll(() => rm(dir, { recursive: true }));

it('is on the disk, and its name with it, before anybody is told', async () => {
  const handle = await open(dir, 'r');
  const sync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'sync');
  await handle.close();
  const stats: Promise<string>[] = [];
  sync.mockImplementation(async function (this: typeof handle) {
    stats.push(this.stat().then((found) => (found.isDirectory() ? 'folder' : 'file')));
    await this.datasync();
  });
  const id = await dataDirId(dir);
  expect(await Promise.all(stats)).toEqual(['file', 'folder']);
  sync.mockRestore();
  expect(await dataDirId(dir)).toBe(id);
  expect(await readFile(join(dir, 'data-dir.id'), 'utf8')).toBe(`${id}\n`);
});

it('is refused where its file holds something else', async () => {
  await writeFile(join(dir, 'data-dir.id'), 'nonsense');
  await expect(dataDirId(dir)).rejects.toThrow('Put the file of your backup back');
});
