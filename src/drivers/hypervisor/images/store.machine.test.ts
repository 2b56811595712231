import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runAsRoot } from '../../../platform/host/program.ts';
import { imageStore } from './store.ts';

const dir = mkdtempSync(join(tmpdir(), 'innkeeper-store-'));
afterAll(() => rmSync(dir, { recursive: true }));

it('a build begins in an empty folder, also after one that was cut off with parts of the host mounted in it', async () => {
  const left = join(dir, 'image.partial/root/dev');
  mkdirSync(left, { recursive: true });
  await runAsRoot(['mount', '-t', 'tmpfs', 'none', left]);
  const within = join(left, 'shm');
  mkdirSync(within);
  await runAsRoot(['mount', '-t', 'tmpfs', 'none', within]);
  // A recipe that nobody has: it fails once the folder is ready, and needs no network.
  const image = { slug: 'image', kind: 'build' as const, recipe: 'nobodys' };
  const made = imageStore(dir).ensure(image, () => undefined);
  await expect(made).rejects.toMatchObject({ code: 'image_unknown' });
  expect(readdirSync(join(dir, 'image.partial'))).toEqual([]);
  expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(dir);
});
