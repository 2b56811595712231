import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runProgram } from '../src/platform/host/program.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-kept-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** What the service does after a good backup, here instead of in its folder. */
async function clear(): Promise<void> {
  const unit = readFileSync(path.join(import.meta.dirname, 'innkeeper-backup.service'), 'utf8');
  const script = /^ExecStartPost=\/bin\/sh -c '(.*)'$/m.exec(unit)?.[1] ?? '';
  expect(script).toContain('/var/lib/innkeeper/backups/');
  await runProgram(['sh', '-c', script.replaceAll('/var/lib/innkeeper/backups', dir)]);
}

const day = 86_400_000;
function backup(name: string, daysAgo: number): void {
  const file = path.join(dir, `innkeeper-${name}.tar`);
  writeFileSync(file, '');
  const at = new Date(Date.now() - daysAgo * day);
  utimesSync(file, at, at);
}

it('backups are kept for two weeks', async () => {
  for (let days = 0; days < 30; days += 1) backup(`night-${days}`, days + 0.1);
  await clear();
  expect(readdirSync(dir).length).toBe(15);
});

it('and the newest fourteen although the clock is a year ahead', async () => {
  for (const name of readdirSync(dir)) rmSync(path.join(dir, name));
  for (let days = 1; days < 30; days += 1) backup(`night-${days}`, 400 + days);
  backup('tonight', 0);
  await clear();
  const kept = readdirSync(dir);
  expect(kept.length).toBe(14);
  expect(kept).toContain('innkeeper-night-13.tar');
});
