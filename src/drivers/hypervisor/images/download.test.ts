import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../../platform/host/program.ts';
import { readQcow2 } from '../formats/qcow2.ts';
import { downloadImage } from './download.ts';
import { imageStore } from './store.ts';

const hasTool = await runProgram(['qemu-img', '--version']).then(
  () => true,
  () => false,
);

describe.skipIf(!hasTool)('a downloaded image', () => {
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-download-'));
  const files = new Map<string, Buffer>();
  let server: Server;
  let base: string;
  let slugs = 0;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const body = files.get(request.url ?? '');
      if (request.url === '/to-file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else if (request.url === '/cut-off') response.writeHead(200, { 'content-length': 1000 }).write('half');
      else if (!body) response.writeHead(404).end();
      else if (request.url === '/unannounced') response.writeHead(200).write(body, () => response.end());
      else response.writeHead(200, { 'content-length': body.length }).end(body);
      if (request.url === '/cut-off') setTimeout(() => response.destroy(), 20);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await make('good', ['-f', 'qcow2'], '64M');
    await make('backing', ['-f', 'qcow2', '-F', 'raw', '-b', '/etc/hostname'], '64M');
    const dataFile = join(dir, 'data.raw');
    await make('data-file', ['-f', 'qcow2', '-o', `data_file=${dataFile},data_file_raw=on`], '64M');
    await make('absurd', ['-f', 'qcow2'], '8T');
    await make('vmdk', ['-f', 'vmdk', '-o', 'subformat=monolithicFlat'], '1M');
    const good = files.get('/good') ?? Buffer.alloc(0);
    const encrypted = Buffer.from(good);
    encrypted.writeUInt32BE(2, 32);
    files.set('/encrypted', encrypted);
    const damaged = Buffer.from(good);
    damaged.writeBigUInt64BE(12_345n, 40); // where its first-level table is: nowhere such a table can be
    files.set('/damaged', damaged);
    files.set('/unannounced', good);
    const raw = Buffer.alloc(1024 * 1024);
    raw.writeUInt16BE(0x55aa, 510);
    files.set('/raw', raw);
    files.set('/page', Buffer.from('<html>404, but with a 200</html>'.padEnd(1024)));
  });

  afterAll(() => {
    server.close();
    rmSync(dir, { recursive: true });
  });

  async function make(name: string, options: string[], size: string): Promise<void> {
    const file = join(dir, name);
    await runProgram(['qemu-img', 'create', '-q', ...options, file, size]);
    if (name === 'good') await runProgram(['qemu-io', '-c', 'write -P 7 1M 1M', file]);
    files.set(`/${name}`, readFileSync(file));
  }
  const sha256 = (path: string) =>
    createHash('sha256')
      .update(files.get(path) ?? '')
      .digest('hex');
  const source = (path: string) => ({
    slug: `image-${slugs++}`,
    kind: 'download' as const,
    url: base + path,
    sha256: sha256(path),
    guest: 'cloud-init' as const,
  });
  const store = () => imageStore(join(dir, 'images'));
  const refused = (reason: RegExp) =>
    expect.objectContaining({
      code: 'image_rejected',
      permanent: true,
      message: expect.stringMatching(reason),
    });

  it.each(['/good', '/unannounced', '/raw'])('becomes a qcow2 of our own: %s', async (path) => {
    const image = source(path);
    const lines: string[] = [];
    for (const _ of [1, 2]) await store().ensure(image, (line) => lines.push(line));
    expect(lines.join('\n')).toMatch(/^Downloading the image image-\d+: \d+.* MiB\nChecking/);
    const found = await store().find(image.slug);
    expect(found).toMatchObject({ guest: 'cloud-init', boot: null });
    const disk = join(found.dir, 'disk.qcow2');
    expect(await readQcow2(disk)).toMatchObject({ virtualBytes: found.diskBytes, hasBackingFile: false });
    expect(readdirSync(found.dir).sort()).toEqual(['disk.qcow2', 'image.json']);
    const { sha256: checksum } = image;
    expect(found).toMatchObject({ source: { kind: 'download', url: image.url, sha256: checksum } });
    if (path !== '/raw') await runProgram(['qemu-io', '-r', '-c', 'read -P 7 1M 1M', disk]);
  });

  it('is one of two that are asked for under one name at the same moment', async () => {
    const [good, raw] = [source('/good'), { ...source('/raw') }];
    const shared = store();
    const both = [good, { ...raw, slug: good.slug }].map((image) => shared.ensure(image, () => undefined));
    const refusals = (await Promise.allSettled(both)).filter((each) => each.status === 'rejected');
    expect(refusals.map((each) => each.reason)).toEqual([refused(/another slug/)]);
  });

  it.each([
    ['/backing', /backing file/],
    ['/data-file', /data file/],
    ['/encrypted', /encrypted/],
    ['/absurd', /8192 GiB/],
    ['/vmdk', /neither/],
    ['/page', /neither/],
    ['/damaged', /qemu-img/],
  ])('is refused when it is hostile: %s', async (path, reason) => {
    const image = source(path);
    await expect(store().ensure(image, () => undefined)).rejects.toEqual(refused(reason));
    await expect(store().find(image.slug)).rejects.toMatchObject({ code: 'image_unknown' });
  });

  it('is refused with another checksum, from another scheme, and above the limit', async () => {
    const other = { ...source('/good'), sha256: '0'.repeat(64) };
    await expect(store().ensure(other, () => undefined)).rejects.toEqual(refused(/SHA-256/));
    writeFileSync(join(dir, 'local'), files.get('/good') ?? '');
    for (const url of [`file://${dir}/local`, `${dir}/local`, 'data:,x', 'ftp://127.0.0.1/x'])
      await expect(
        store().ensure({ ...source('/good'), url }, () => undefined),
        url,
      ).rejects.toEqual(refused(/http/));
    for (const path of ['/good', '/unannounced'])
      await expect(downloadImage(source(path), dir, () => undefined, 1_000)).rejects.toEqual(
        refused(/longer/),
      );
    expect(readdirSync(dir)).not.toContain('download');
  });

  it('can be tried again when the server fails', async () => {
    for (const path of ['/none', '/cut-off', '/to-file']) {
      const failed = expect.objectContaining({ code: 'image_build_failed', permanent: false });
      await expect(
        store().ensure(source(path), () => undefined),
        path,
      ).rejects.toEqual(failed);
    }
  });
});
