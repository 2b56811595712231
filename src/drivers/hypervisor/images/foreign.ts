import { open, stat } from 'node:fs/promises';
import { runProgram } from '../../../platform/host/program.ts';
import { readQcow2 } from '../formats/qcow2.ts';

/** No vendor's image is larger; a small file that claims to be is meant to fill a disk. */
const maxDiskBytes = 128 * 2 ** 30;
const sectorBytes = 512;

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
 * headers have fooled `qemu-img info` before (CVE-2024-4467). Both calls run under limits all the same.
 */
export async function acceptDisk(file: string, target: string): Promise<number> {
  const format = await formatOf(file);
  const { stdout } = await limited(['qemu-img', 'info', '--output=json', '-f', format, file], 2 ** 20, 60);
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
  await limited(convert, maxDiskBytes, 3_600);
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

function limited(argv: readonly string[], fileBytes: number, cpuSeconds: number) {
  const limits = [`--as=${2 ** 31}`, `--cpu=${cpuSeconds}`, `--fsize=${fileBytes}`, '--core=0'];
  return runProgram(['prlimit', ...limits, ...argv], { timeoutMs: cpuSeconds * 2_000 });
}
