import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSeal, readSecretKey } from './seal.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-seal-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('the secret key', () => {
  it('is made once, for our eyes only, and leaves nothing beside it', () => {
    const home = path.join(dir, 'new');
    const key = readSecretKey(home, null);
    expect(readSecretKey(home, null)).toEqual(key);
    expect(key).toHaveLength(32);
    expect(readdirSync(home)).toEqual(['secret.key']);
    expect(statSync(path.join(home, 'secret.key')).mode & 0o777).toBe(0o600);
  });

  it('is refused when its file is cut short, with what to do', () => {
    for (const bytes of [0, 31, 33]) {
      writeFileSync(path.join(dir, 'secret.key'), Buffer.alloc(bytes));
      expect(() => readSecretKey(dir, null)).toThrow(`secret.key holds ${bytes} bytes`);
      expect(() => readSecretKey(dir, null)).toThrow('your backup');
    }
  });

  it('is the same for two processes that start for the first time at once', async () => {
    const rounds = 60;
    for (let round = 0; round < rounds; round += 1) mkdirSync(path.join(dir, String(round)));
    const script = `
      const { readSecretKey } = await import(${JSON.stringify(path.join(import.meta.dirname, 'seal.ts'))});
      for (let round = 0; round < ${rounds}; round += 1) {
        while (Date.now() < ${Date.now() + 3_000} + round * 20);
        console.log(readSecretKey(${JSON.stringify(dir)} + '/' + round, null).toString('hex'));
      }`;
    const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    const [one, other] = await Promise.all([start(), start()]);
    expect(one.stdout.split('\n')).toHaveLength(rounds + 1);
    expect(one.stdout).toBe(other.stdout);
  });
});

it('what was sealed for one thing opens for no other', () => {
  const seal = createSeal(readSecretKey(dir, null));
  const sealed = seal.close('s3cret', 'service 1');
  expect(seal.open(sealed, 'service 1')).toBe('s3cret');
  expect(() => seal.open(sealed, 'service 2')).toThrow();
});
