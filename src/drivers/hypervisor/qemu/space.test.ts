import { mkdtempSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../platform/host/program.ts';
import { endless, writeHostileDisk } from '../formats/hostileDisk.ts';
import type { MachineFiles } from './files.ts';
import { snapshotBytes, unwrittenBytes } from './snapshots.ts';
import { copySpace, diskRoomWatch, keptFree } from './space.ts';

const mib = 2 ** 20;
const gib = 2 ** 30;

async function spareBytes(): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(tmpdir());
  return bavail * bsize - keptFree(blocks * bsize);
}

describe('space for copies', () => {
  it('leaves a node a twentieth and at least 10 GiB, but never more than a quarter', () => {
    expect(keptFree(1_000 * gib)).toBe(50 * gib);
    expect(keptFree(100 * gib)).toBe(10 * gib);
    expect(keptFree(64 * mib)).toBe(16 * mib);
  });

  it('is missed when less than half of it is left, until three quarters are back', async () => {
    const blocks = 1_000;
    let free = 0;
    const watch = diskRoomWatch('/srv', (async () => ({ blocks, bavail: free, bsize: gib })) as never);
    const saysAt = async (gibs: number) => {
      free = gibs;
      return watch();
    };
    expect(await saysAt(26)).toBeNull();
    expect(await saysAt(24)).toMatch(/nearly full.*\/srv/);
    expect(await saysAt(30)).not.toBeNull();
    expect(await saysAt(38)).toBeNull();
    expect(await saysAt(26)).toBeNull();
  });

  it('refuses a copy that would take of it, and begins nothing', async () => {
    let begun = false;
    const work = async () => {
      begun = true;
    };
    const refused = copySpace()(tmpdir(), (await spareBytes()) + gib, work);
    await expect(refused).rejects.toMatchObject({ code: 'no_space', message: /keeps .* GiB free/ });
    expect(begun).toBe(false);
  });

  it('is promised to a snapshot for all that its guest may write anew, and to none twice', async () => {
    const disk = join(mkdtempSync(join(tmpdir(), 'innkeeper-space-')), 'disk.qcow2');
    const machine = { disk } as MachineFiles;
    const write = (bytes: string) =>
      runProgram(['qemu-io', '-f', 'qcow2', '-c', `write -P 7 0 ${bytes}`, disk]);
    const unwritten = async () => Math.round((await unwrittenBytes([machine])) / mib);
    await runProgram(['qemu-img', 'create', '-q', '-f', 'qcow2', disk, '1G']);
    await write('64M');
    expect(await snapshotBytes(machine)).toBeGreaterThanOrEqual(64 * mib);
    expect(await unwritten()).toBe(0);
    await runProgram(['qemu-img', 'snapshot', '-c', 'snapshot-one', disk]);
    expect(await unwritten()).toBeGreaterThan(60);
    await write('48M');
    expect(await unwritten()).toBeGreaterThan(12);
    expect(await unwritten()).toBeLessThan(17);
    await write('64M');
    expect(await unwritten()).toBe(0);
    rmSync(dirname(disk), { recursive: true });
  });

  it('is counted in time beside a neighbour whose disk is hostile, who is left alone then', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'innkeeper-space-'));
    const [own, hostile] = ['own', 'hostile'].map((name) => ({ disk: join(dir, name) }) as MachineFiles);
    if (!own || !hostile) throw new Error('two');
    writeHostileDisk(hostile.disk, endless);
    await runProgram(['qemu-img', 'create', '-q', '-f', 'qcow2', own.disk, '1G']);
    await runProgram(['qemu-io', '-f', 'qcow2', '-c', 'write -P 7 0 16M', own.disk]);
    await runProgram(['qemu-img', 'snapshot', '-c', 'snapshot-one', own.disk]);
    for (const mostMs of [4_000, 1_000]) {
      const began = performance.now();
      expect(await unwrittenBytes([hostile, own])).toBeGreaterThan(12 * mib);
      expect(performance.now() - began).toBeLessThan(mostMs);
    }
    rmSync(dir, { recursive: true });
  });

  it('counts what the copies that are there may still come to take', async () => {
    const spare = await spareBytes();
    const within = copySpace(async () => spare * 0.7);
    await expect(within(tmpdir(), spare * 0.6, async () => 'one')).rejects.toMatchObject({
      code: 'no_space',
    });
    expect(await within(tmpdir(), 0, async () => 'two')).toBe('two');
  });

  it('counts the copies under way, until they end', async () => {
    const within = copySpace();
    const most = Math.max(0, (await spareBytes()) * 0.6);
    const failed = within(tmpdir(), most, async () => {
      await expect(within(tmpdir(), most, async () => 'two')).rejects.toMatchObject({
        code: 'no_space',
      });
      throw new Error('it broke off');
    });
    await expect(failed).rejects.toThrow('it broke off');
    expect(await within(tmpdir(), most, async () => 'three')).toBe('three');
  });
});
