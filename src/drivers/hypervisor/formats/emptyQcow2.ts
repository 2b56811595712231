import { open } from 'node:fs/promises';

const clusterBits = 16;
const cluster = 2 ** clusterBits;
/** Where the parts lie, in clusters: the header, the list of reference counts, the counts, the first-level table. */
const listAt = 1;
const countsAt = 2;
const tableAt = 3;
const headerBytes = 112;
const backingFormatExtension = 0xe2792aca;
const format = 'qcow2';
/** A second-level table is one cluster, and leads to as many as it has entries of eight bytes. */
const bytesPerEntry = (cluster / 8) * cluster;

/**
 * Writes an empty disk, as `qemu-img create` would with its defaults, into a new file; `below` names the qcow2 whose
 * contents it has until it is written. Format: QEMU's docs/interop/qcow2.txt; all numbers are big-endian.
 */
export async function writeEmptyQcow2(
  file: string,
  virtualBytes: number,
  below: string | null,
): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    const entries = Math.ceil(virtualBytes / bytesPerEntry);
    const clusters = tableAt + Math.max(1, Math.ceil((entries * 8) / cluster));
    // What is not written reads as zeroes: every entry of the first-level table, and the counts of what is free.
    await handle.truncate(clusters * cluster);
    const header = headerOf(virtualBytes, entries, below);
    await handle.write(header, 0, header.length, 0);
    const list = Buffer.alloc(8);
    list.writeBigUInt64BE(BigInt(countsAt * cluster));
    await handle.write(list, 0, list.length, listAt * cluster);
    const counts = Buffer.alloc(clusters * 2);
    for (let each = 0; each < clusters; each++) counts.writeUInt16BE(1, each * 2);
    await handle.write(counts, 0, counts.length, countsAt * cluster);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** How such a disk begins, for whoever looks at no more of it. */
export function emptyQcow2Header(virtualBytes: number): Buffer {
  return headerOf(virtualBytes, Math.ceil(virtualBytes / bytesPerEntry), null);
}

/** Version 3, with 16 bits for each reference count. */
function headerOf(virtualBytes: number, entries: number, below: string | null): Buffer {
  const fixed = Buffer.alloc(headerBytes);
  fixed.writeUInt32BE(0x514649fb, 0);
  fixed.writeUInt32BE(3, 4);
  fixed.writeUInt32BE(clusterBits, 20);
  fixed.writeBigUInt64BE(BigInt(virtualBytes), 24);
  fixed.writeUInt32BE(entries, 36);
  fixed.writeBigUInt64BE(BigInt(tableAt * cluster), 40);
  fixed.writeBigUInt64BE(BigInt(listAt * cluster), 48);
  fixed.writeUInt32BE(1, 56);
  fixed.writeUInt32BE(4, 96);
  fixed.writeUInt32BE(headerBytes, 100);
  const end = Buffer.alloc(8);
  if (below === null) return Buffer.concat([fixed, end]);
  const extension = Buffer.alloc(16);
  extension.writeUInt32BE(backingFormatExtension, 0);
  extension.writeUInt32BE(format.length, 4);
  extension.write(format, 8);
  const name = Buffer.from(below);
  fixed.writeBigUInt64BE(BigInt(headerBytes + extension.length + end.length), 8);
  fixed.writeUInt32BE(name.length, 16);
  return Buffer.concat([fixed, extension, end, name]);
}
