import { chown, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runConfined } from '../confined.ts';
import { readQcow2 } from '../formats/qcow2.ts';

/** No vendor's image is larger; a small file that claims to be is meant to fill a disk. */
const maxDiskBytes = 128 * 2 ** 30;
const sectorBytes = 512;
/** Reads vendors' images where we are root, and owns nothing. */
const nobody = { uid: 65_534, gid: 65_534 };

interface ImageInfo {
  format: string;
  'virtual-size': number;
  'backing-filename'?: string;
  'full-backing-filename'?: string;
  encrypted?: boolean;
  'format-specific'?: { data?: { 'data-file'?: string; encrypt?: object; corrupt?: boolean } };
}

/**
 * Copies a foreign disk into a plain qcow2 of our own, and returns its size in bytes. Fails on one that could make
 * us read another file for it (a backing file, a data file, a format whose files name others), that is encrypted
 * or of absurd size.
 *
 * QEMU never guesses the format, and never opens what our own reading of the header has not passed: hostile
 * headers have fooled `qemu-img info` before (CVE-2024-4467). Both calls are confined to these two files all the same.
 */
export async function acceptDisk(file: string, target: string): Promise<number> {
  const format = await formatOf(file);
  const cwd = dirname(target);
  const owner = process.getuid?.() === 0 ? nobody : null;
  await (await open(target, 'w')).close();
  if (owner) for (const each of [file, target]) await chown(each, owner.uid, owner.gid);
  const looking = { owner, cwd, reads: [file], writes: [], timeoutMs: 60_000, fileBytes: 2 ** 20 };
  const { stdout } = await runConfined(['qemu-img', 'info', '--output=json', '-f', format, file], looking);
  const info: ImageInfo = JSON.parse(stdout);
  const { data } = info['format-specific'] ?? {};
  if (info['backing-filename'] !== undefined || info['full-backing-filename'] !== undefined)
    throw new Error('it names a backing file');
  if (data?.['data-file'] !== undefined) throw new Error('it names a data file');
  if (info.encrypted || data?.encrypt) throw new Error('it is encrypted');
  if (data?.corrupt) throw new Error('it is marked as damaged');
  const bytes = checkSize(info['virtual-size']);
  // Zeroes are not written, so the limit on the file is reached by data alone.
  const convert = ['qemu-img', 'convert', '-f', format, '-O', 'qcow2', file, target];
  const copying = { ...looking, writes: [target], timeoutMs: 3_600_000, fileBytes: maxDiskBytes };
  await runConfined(convert, copying);
  if (owner) await chown(target, 0, 0);
  return bytes;
}

async function formatOf(file: string): Promise<'qcow2' | 'raw'> {
  const header = await readQcow2(file);
  if (!header) {
    await checkRaw(file);
    return 'raw';
  }
  if (header.hasBackingFile) throw new Error('it names a backing file');
  if (header.hasDataFile) throw new Error('it names a data file');
  if (header.encrypted) throw new Error('it is encrypted');
  checkSize(header.virtualBytes);
  return 'qcow2';
}

/** Anything can be called a raw disk; one that boots ends its first sector with 55 AA, in a GPT too. */
async function checkRaw(file: string): Promise<void> {
  const { size } = await stat(file);
  const sector = Buffer.alloc(sectorBytes);
  const handle = await open(file, 'r');
  try {
    await handle.read(sector, 0, sectorBytes, 0);
  } finally {
    await handle.close();
  }
  if (size % sectorBytes !== 0 || sector.readUInt16BE(510) !== 0x55aa)
    throw new Error('it is neither a qcow2 nor a raw disk that boots');
  checkSize(size);
}

function checkSize(bytes: number): number {
  if (bytes > 0 && bytes <= maxDiskBytes) return bytes;
  throw new Error(`its disk would have ${Math.round(bytes / 2 ** 30)} GiB`);
}
