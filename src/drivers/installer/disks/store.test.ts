import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ensureDisk, readDisk } from './store.ts';

let dir: string;
let server: Server;
let content: Buffer = Buffer.alloc(0);
let fetches = 0;
beforeAll(async () => {
  server = createServer((_, response) => {
    fetches += 1;
    response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'innkeeper-disks-'));
  fetches = 0;
  return () => rm(dir, { recursive: true });
});

const sourceOf = (bytes: Buffer) => ({
  slug: 'cloud',
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/disk.raw`,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

/** A disk that a BIOS would start. */
function disk(hasPartition: boolean): Buffer {
  const bytes = Buffer.alloc(9 * 2 ** 20);
  bytes.writeUInt16BE(0x55aa, 510);
  if (hasPartition) bytes[446 + 4] = 0x83;
  return bytes;
}

it('is kept packed as it is, in whole MiB, with the checksums of both', async () => {
  content = Buffer.concat([disk(true), randomBytes(512 * 1_025)]);
  const source = sourceOf(content);
  const { file, sha256, disk: raw } = await ensureDisk(dir, source, () => undefined);
  const packed = await readFile(file);
  const sumOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  const whole = Buffer.concat([content, Buffer.alloc(10 * 2 ** 20 - content.length)]);
  expect([sha256, raw]).toEqual([sumOf(packed), { sha256: sumOf(whole), bytes: 10 * 2 ** 20 }]);
  expect(zstdDecompressSync(packed).equals(whole)).toBe(true);
  await ensureDisk(dir, source, () => undefined);
  expect(fetches).toBe(1);
  expect((await readdir(join(dir, `disk-${source.sha256}`))).sort()).toEqual(['disk.json', 'disk.raw.zst']);
});

it('one that says another checksum, and one without partitions, leave nothing behind', async () => {
  content = disk(true);
  const other = { ...sourceOf(content), sha256: '0'.repeat(64) };
  await expect(ensureDisk(dir, other, () => undefined)).rejects.toThrow('its SHA-256 is');
  content = disk(false);
  await expect(ensureDisk(dir, sourceOf(content), () => undefined)).rejects.toThrow('has no partitions');
  expect((await readdir(dir)).filter((name) => !name.endsWith('.lock'))).toEqual([]);
});

it('what is there is read and not fetched again, whatever it is called', async () => {
  const source = sourceOf(disk(true));
  const folder = join(dir, `disk-${source.sha256}`);
  await mkdir(folder);
  const known = { sha256: 'a'.repeat(64), disk: { sha256: 'b'.repeat(64), bytes: 2 ** 30 } };
  await writeFile(join(folder, 'disk.json'), JSON.stringify(known));
  const found = await ensureDisk(
    dir,
    { ...source, slug: 'other', sha256: source.sha256.toUpperCase() },
    () => undefined,
  );
  expect(found).toEqual({ file: join(folder, 'disk.raw.zst'), ...known });
  expect(found).toEqual(await readDisk(folder));
  expect(fetches).toBe(0);
});
