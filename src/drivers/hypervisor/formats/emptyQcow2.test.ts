import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../../platform/host/program.ts';
import { writeEmptyQcow2 } from './emptyQcow2.ts';
import { readQcow2 } from './qcow2.ts';

const gib = 2 ** 30;
const dir = mkdtempSync(join(tmpdir(), 'innkeeper-empty-'));
afterAll(() => rmSync(dir, { recursive: true }));
const hasTool = await runProgram(['qemu-io', '--version']).then(
  () => true,
  () => false,
);

const img = async (...argv: string[]) => (await runProgram(['qemu-img', ...argv], { cwd: dir })).stdout;
/** What `qemu-img` says of a file, without what names it and how it lies on the disk. */
async function said(file: string) {
  const {
    filename,
    children,
    'actual-size': size,
    ...info
  } = JSON.parse(await img('info', '-U', '--output=json', file));
  return info;
}

describe.skipIf(!hasTool)('an empty disk', () => {
  const sizes = [
    512,
    gib - 512,
    gib / 2,
    gib / 2 + 512,
    10 * gib,
    4096 * gib,
    4096 * gib + 512,
    20_000 * gib,
  ];

  it.each(sizes)('of %d bytes is what QEMU makes', { timeout: 60_000 }, async (bytes) => {
    const below = '../images/debian-12/disk.qcow2';
    await writeEmptyQcow2(join(dir, `own-${bytes}`), bytes, null);
    await writeEmptyQcow2(join(dir, `own-layer-${bytes}`), bytes, below);
    await img('create', '-q', '-f', 'qcow2', `theirs-${bytes}`, String(bytes));
    const backing = ['-u', '-F', 'qcow2', '-b', below];
    await img('create', '-q', '-f', 'qcow2', ...backing, `theirs-layer-${bytes}`, String(bytes));
    for (const kind of ['', 'layer-']) {
      expect(await said(`own-${kind}${bytes}`)).toEqual(await said(`theirs-${kind}${bytes}`));
      expect(await readQcow2(join(dir, `own-${kind}${bytes}`))).toEqual(
        await readQcow2(join(dir, `theirs-${kind}${bytes}`)),
      );
    }
    expect(await img('check', `own-${bytes}`)).toContain('No errors were found');
  });

  it('holds what is written, shows what lies below, and grows', { timeout: 60_000 }, async () => {
    const io = (file: string, command: string) =>
      runProgram(['qemu-io', '-f', 'qcow2', '-c', command, file], { cwd: dir });
    await writeEmptyQcow2(join(dir, 'base'), gib, null);
    await io('base', 'write -P 7 0 3M');
    await writeEmptyQcow2(join(dir, 'top'), 3 * gib, 'base');
    await io('top', 'write -P 9 1M 1M');
    await io('top', 'write -P 9 2560M 1M');
    await img('resize', '-q', 'top', String(5 * gib));
    await img('snapshot', '-c', 'kept', 'top');
    await io('top', 'write -P 5 4608M 1M');
    for (const pattern of ['7 0 1M', '9 1M 1M', '7 2M 1M', '0 3M 1M', '9 2560M 1M', '5 4608M 1M'])
      expect((await io('top', `read -P ${pattern}`)).stdout).not.toContain('failed');
    expect(await img('check', 'top')).toContain('No errors were found');
  });

  it('takes the place of no file', async () => {
    await writeEmptyQcow2(join(dir, 'once'), gib, null);
    await expect(writeEmptyQcow2(join(dir, 'once'), gib, null)).rejects.toThrow('EEXIST');
  });
});
