import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { ensurePackages } from '../../../platform/host/packages.ts';
import { runProgram } from '../../../platform/host/program.ts';
import { kept } from '../../debian/index.ts';
import { downloadImage } from '../../hypervisor/index.ts';
import type { PackedSystem } from '../trees/store.ts';

/** The image of a disk that vendors offer: raw or qcow2, believed by its checksum alone. */
export interface DiskSource {
  slug: string;
  url: string;
  sha256: string;
}

/** Installed when somebody first wants a disk image for a server. */
const hostPackages = [
  { package: 'qemu-utils', why: 'reads images of disks (qemu-img)' },
  { package: 'bubblewrap', why: 'keeps programs that read strangers’ disks away from the rest' },
];

/** Servers write, and read back, in pieces of this size. */
const pieceBytes = 2 ** 20;

/** The packed image of a disk in `dir`, downloaded and converted when it is first wanted and kept under its checksum. */
export async function ensureDisk(
  dir: string,
  { slug, url, sha256 }: DiskSource,
  progress: (line: string) => void,
): Promise<PackedSystem> {
  const folder = await kept(dir, `disk-${sha256.toLowerCase()}`, async (partial) => {
    const work = join(partial, 'work');
    await mkdir(work);
    await ensurePackages(hostPackages, progress);
    await downloadImage({ slug, kind: 'download', url, sha256, guest: 'cloud-init' }, work, progress);
    progress(`Packing the image ${slug} for servers`);
    const qcow2 = join(work, 'disk.qcow2');
    const raw = join(work, 'disk.raw');
    // It is a plain one of our own by now.
    const convert = ['qemu-img', 'convert', '-f', 'qcow2', '-O', 'raw', qcow2, raw];
    await runProgram(convert, { timeoutMs: 3_600_000 });
    await rm(qcow2);
    await packDisk(raw, partial);
  });
  return readDisk(folder);
}

/** Packs a raw disk into `target`, as {@link readDisk} finds it there. */
export async function packDisk(raw: string, target: string): Promise<void> {
  await requirePartitions(raw);
  const { size } = await stat(raw);
  await truncate(raw, Math.max(8, Math.ceil(size / pieceBytes)) * pieceBytes);
  const packed = join(target, 'disk.raw.zst');
  const packing = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 6 } });
  await pipeline(createReadStream(raw, { highWaterMark: pieceBytes }), packing, createWriteStream(packed));
  const description = {
    sha256: await sumOf(packed),
    disk: { sha256: await sumOf(raw), bytes: (await stat(raw)).size },
  };
  await writeFile(join(target, 'disk.json'), JSON.stringify(description));
}

export async function readDisk(folder: string): Promise<PackedSystem> {
  const { sha256, disk } = JSON.parse(await readFile(join(folder, 'disk.json'), 'utf8'));
  return { file: join(folder, 'disk.raw.zst'), sha256, disk };
}

/** Who the server is stands in a partition of its own, so there has to be a table of them. */
async function requirePartitions(raw: string): Promise<void> {
  const file = await open(raw, 'r');
  try {
    const { buffer } = await file.read(Buffer.alloc(1024), 0, 1024, 0);
    const isMbr = buffer.readUInt16BE(510) === 0x55aa;
    const types = [0, 1, 2, 3].map((nth) => buffer[446 + 16 * nth + 4] ?? 0);
    const isGpt = types.includes(0xee) && buffer.toString('latin1', 512, 520) === 'EFI PART';
    if (isMbr && (isGpt || types.some((type) => type !== 0))) return;
    throw new Error('the image has no partitions, and a server could start nothing from it');
  } finally {
    await file.close();
  }
}

async function sumOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: pieceBytes }), hash);
  return hash.digest('hex');
}
