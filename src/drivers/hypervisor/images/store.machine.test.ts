import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runAsRoot } from '../../../platform/host/program.ts';
import { buildImage } from './store.ts';

const dir = mkdtempSync(join(tmpdir(), 'innkeeper-store-'));
afterAll(() => rmSync(dir, { recursive: true }));

it('an image is made although a build that was cut off left something mounted', async () => {
  const left = join(dir, 'tiny.partial/root/dev');
  mkdirSync(left, { recursive: true });
  await runAsRoot(['mount', '-t', 'tmpfs', 'none', left]);
  const within = join(left, 'shm');
  mkdirSync(within);
  await runAsRoot(['mount', '-t', 'tmpfs', 'none', within]);
  await buildImage(dir, 'tiny', () => undefined);
  expect(existsSync(join(dir, 'tiny/image.json'))).toBe(true);
  expect(existsSync(join(dir, 'tiny/root/dev'))).toBe(false);
}, 120_000);
