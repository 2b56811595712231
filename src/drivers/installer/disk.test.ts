import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runProgram } from '../../platform/host/program.ts';
import { packDisk, readDisk } from './disks/store.ts';
import type { PackedSystem } from './trees/store.ts';

/** `install_disk` as it runs on a server, with a file for its disk, until it would make a partition: there it ends here. */
let dir: string;
let image: PackedSystem;
let raw: Buffer;
const mib = 2 ** 20;
const diskMib = 24;
const run = () => join(dir, 'run');

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'innkeeper-disk-'));
  for (const folder of ['bin', 'run', 'image']) await mkdir(join(dir, folder));
  raw = Buffer.concat([randomBytes(6 * mib), Buffer.alloc(4 * mib), randomBytes(2 * mib)]);
  raw[446 + 4] = 0x83;
  raw.writeUInt16BE(0x55aa, 510);
  await writeFile(join(dir, 'raw'), raw);
  await packDisk(join(dir, 'raw'), join(dir, 'image'));
  image = await readDisk(join(dir, 'image'));
  await writeFile(join(dir, 'disk'), randomBytes(diskMib * mib));
  await writeFile(join(run(), 'disks'), JSON.stringify({ disks: [{ name: 'disk', serial: 'S1' }] }));
  // What it is told is written beside; the image comes from a file.
  await program(
    'curl',
    `case "$*" in */image) cat "${join(dir, 'came')}" ;; *) cat >> "${join(dir, 'told')}" ;; esac; exit \${CURL:-0}`,
  );
  await program(
    'blockdev',
    `case $1 in --getsize64) stat -c %s "$2" ;; --getss) echo 512 ;; *) exit 0 ;; esac`,
  );
  // A file is nothing that the page cache could be left out for.
  await program(
    'dd',
    'for a; do shift; set -- "$@" "$(printf %s "$a" | sed "s/^[io]flag=direct$/status=none/")"; done; exec /bin/dd "$@"',
  );
  await program('sfdisk', 'echo "no room here"; exit 1');
  await program('sync', 'exit 0');
});
afterEach(() => rm(dir, { recursive: true }));

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(dir, 'bin', name), `#!/bin/sh\n${script}\n`);
  await chmod(join(dir, 'bin', name), 0o755);
}

/** Runs it with this plan for the image; why it failed, by what it told. */
async function failure(change: object = {}, env: Record<string, string> = {}): Promise<string> {
  const { sha256, disk } = image;
  const plan = { layout: { serials: ['S1'] }, image: { sha256, disk: { ...disk, seed: {} }, ...change } };
  await writeFile(join(run(), 'plan'), JSON.stringify(plan));
  const text = async (name: string) =>
    (await readFile(join(import.meta.dirname, 'scripts', `${name}.sh`), 'utf8'))
      .replaceAll('/run/innkeeper', run())
      .replaceAll('/usr/lib/innkeeper/common', join(dir, 'common'))
      .replaceAll('"/dev/"', `"${dir}/"`);
  await writeFile(
    join(dir, 'common'),
    (await text('common')).replace(
      /^call\(\) \{$/m,
      `call() { cat "\${5#@}" >> "$TOLD"; return; }\nunused() {`,
    ),
  );
  await writeFile(join(dir, 'script'), await text('install_disk'));
  const around = { PATH: `${join(dir, 'bin')}:/usr/bin:/bin`, TOLD: join(dir, 'told'), ...env };
  await expect(
    runProgram(['dash', join(dir, 'script')], { env: around, timeoutMs: 50_000 }),
  ).rejects.toThrow();
  const told = (await readFile(join(dir, 'told'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return told.at(-1).reason;
}

/** Whether nothing is left at the places where a table of partitions would be, of the image or of the disk. */
async function startsNothing(): Promise<boolean> {
  const disk = await readFile(join(dir, 'disk'));
  return [0, raw.length - mib, disk.length - mib].every((at) =>
    disk.subarray(at, at + mib).every((byte) => byte === 0),
  );
}

const comes = async (bytes?: number) =>
  writeFile(join(dir, 'came'), (await readFile(image.file)).subarray(0, bytes));

it('one that comes cut leaves nothing to start', async () => {
  await comes(3 * mib);
  expect(await failure({}, { CURL: '18' })).toBe('the image broke off');
  expect(await startsNothing()).toBe(true);
});

it('one that comes with another checksum leaves nothing to start', async () => {
  await comes();
  expect(await failure({ sha256: '0'.repeat(64) })).toBe(
    `the image's checksum is ${image.sha256}, not the expected one`,
  );
  expect(await startsNothing()).toBe(true);
});

it('one that is read back as something else leaves nothing to start, and nothing could be started before', async () => {
  await comes();
  const disk = { ...image.disk, sha256: '0'.repeat(64), seed: {} };
  expect(await failure({ disk })).toBe('what can be read from the disk S1 is not what was written');
  expect(await startsNothing()).toBe(true);
});

it('one that leaves no room for who the server is leaves nothing to start', async () => {
  await comes();
  expect(await failure()).toBe('the image leaves no room for another partition: no room here');
  expect(await startsNothing()).toBe(true);
});

it('is not left beside another copy of itself, which could not be told from it when it starts', async () => {
  await comes();
  await writeFile(join(dir, 'other'), raw);
  const disks = ['disk', 'other'].map((name, nth) => ({ name, serial: `S${nth + 1}` }));
  await writeFile(join(run(), 'disks'), JSON.stringify({ disks }));
  expect(await failure()).toMatch(/^other has the same system/);
  expect(await startsNothing()).toBe(true);
  expect((await readFile(join(dir, 'other'))).equals(raw)).toBe(true);
});

it('is not begun on a disk that is too small for it', async () => {
  await comes();
  await truncate(join(dir, 'disk'), 19 * mib);
  const before = await readFile(join(dir, 'disk'));
  expect(await failure()).toBe('the disk S1 has 19 MiB, and the system takes 20');
  expect((await readFile(join(dir, 'disk'))).equals(before)).toBe(true);
});

it('is written whole but for its beginning, which comes last', async () => {
  await comes();
  // It is looked at where nothing but the beginning is missing.
  await program('cmp', `cp "${join(dir, 'disk')}" "${join(dir, 'seen')}"; exec /usr/bin/cmp "$@"`);
  await program(
    'sha256sum',
    `[ -e "${run()}/head" ] && [ ! -p "${run()}/summed" ] && cp "${join(dir, 'disk')}" "${join(dir, 'before')}"; exec /usr/bin/sha256sum`,
  );
  await failure();
  const before = await readFile(join(dir, 'before'));
  expect(before.subarray(0, 4 * mib).every((byte) => byte === 0)).toBe(true);
  expect(before.subarray(4 * mib, raw.length).equals(raw.subarray(4 * mib))).toBe(true);
  const seen = await readFile(join(dir, 'seen'));
  expect(seen.subarray(0, raw.length).equals(raw)).toBe(true);
});
