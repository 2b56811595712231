import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { endless, type HostileDisk, listsAt, writeHostileDisk } from './hostileDisk.ts';
import { readQcow2Contents, readQcow2Snapshots } from './qcow2.ts';

const dir = mkdtempSync(join(tmpdir(), 'innkeeper-qcow2-'));
afterAll(() => rmSync(dir, { recursive: true }));

let files = 0;

function write(disk: HostileDisk): string {
  const file = join(dir, `disk-${files++}.qcow2`);
  writeHostileDisk(file, disk);
  return file;
}

async function within(ms: number, work: Promise<unknown>): Promise<string> {
  const began = performance.now();
  const memory = process.memoryUsage.rss();
  const said = await work.then(
    () => 'counted',
    (error: Error) => error.message,
  );
  expect(performance.now() - began).toBeLessThan(ms);
  expect(process.memoryUsage.rss() - memory).toBeLessThan(256 * 2 ** 20);
  return said;
}

describe('the tables of a hostile disk', () => {
  const far = 2 ** 40;

  it('that lead to each other in a circle are counted once', async () => {
    const file = write({ snapshots: 1_000, entries: 4_000, leadsTo: () => listsAt, bytes: far });
    expect(await within(10_000, readQcow2Snapshots(file))).toBe('counted');
  });

  it('that are many and large are given up after a while, with words', async () => {
    const file = write(endless);
    const reason = 'its tables are larger than those of any disk that we know';
    expect(await within(4_000, readQcow2Snapshots(file, 2_000))).toBe(reason);
    expect(await within(4_000, readQcow2Contents(file, 2_000))).toBe(reason);
  });

  it('that could not lie in the file are refused at once', async () => {
    const small = { snapshots: 1, leadsTo: () => far, bytes: listsAt + 8 * 4_000_000 };
    for (const [hostile, reason] of [
      [{ ...small, entries: 4_000_000 }, 'impossible size'],
      [{ ...small, entries: 1, snapshots: 2 ** 32 - 1 }, 'more snapshots'],
      [{ ...small, entries: 1, extraBytes: 2 ** 32 - 1 }, 'cut off'],
    ] as const)
      expect(await within(2_000, readQcow2Snapshots(write(hostile)))).toContain(reason);
  });
});
