import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Cluster } from './cluster.ts';
import { endLeftovers } from './leftovers.ts';

let home = '';
let pidFile = '';
const lingering = spawn('sleep', ['60'], { stdio: 'ignore' });

beforeEach(async () => {
  home = await fs.mkdtemp(path.join(os.tmpdir(), 'innkeeper-pg-'));
  pidFile = path.join(home, 'postmaster.pid');
  await fs.writeFile(pidFile, `${lingering.pid}\nthe other lines\n`);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await fs.rm(home, { recursive: true });
});

/** Does `between` after the recorded process was found alive, and before its file is touched. */
async function endLeftoversWith(between: () => Promise<void>): Promise<void> {
  const { access } = fs;
  vi.spyOn(fs, 'access').mockImplementation(async (...asked) => {
    await access(...asked);
    await between();
  });
  await endLeftovers({ dataDir: home, socketDir: home } as Cluster, () => undefined);
  expect(fs.access).toHaveBeenCalledTimes(1);
}

test('a server that takes its file away while it is looked at has ended', async () => {
  await endLeftoversWith(() => fs.rm(pidFile));
  expect(await fs.readdir(home)).toEqual([]);
});

test('a file that names another process by now is not touched', async () => {
  await endLeftoversWith(() => fs.writeFile(pidFile, '1\nanother\n'));
  expect(await fs.readFile(pidFile, 'utf8')).toBe('1\nanother\n');
});

test('a file that names a stranger gets our id, and keeps what leads to shared memory', async () => {
  await endLeftoversWith(async () => undefined);
  expect(await fs.readFile(pidFile, 'utf8')).toBe(`${process.pid}\nthe other lines\n`);
});
