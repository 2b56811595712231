import type { FileEntry } from '../../debian/index.ts';

const sectorBytes = 2048;
const leastRecordBytes = 34;
/** Sector of the root directory. */
const rootSector = 20;

/**
 * A minimal ISO 9660 volume with files in its root, enough for cloud-init's NoCloud seed (label `cidata`).
 * Names are written as they are; Linux shows them in lower case and without the version suffix.
 * Format: ECMA-119; sector numbers below are its "logical block numbers".
 */
export function isoVolume(label: string, files: readonly FileEntry[]): Buffer {
  // 0-15 system area, 16 volume descriptor, 17 terminator, 18-19 path tables, 20 root directory, 21... files
  let next = 21;
  const root: Buffer[] = [
    record('\0', rootSector, sectorBytes, true),
    record('\x01', rootSector, sectorBytes, true),
  ];
  const contents: Buffer[] = [];
  for (const file of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const content = Buffer.from(file.content);
    root.push(record(`${file.path.toUpperCase()};1`, next, content.length, false));
    contents.push(filled(content));
    next += Math.ceil(content.length / sectorBytes);
  }
  const pathTable = (bigEndian: boolean) => {
    const table = Buffer.alloc(10);
    table[0] = 1;
    if (bigEndian) table.writeUInt32BE(rootSector, 2);
    else table.writeUInt32LE(rootSector, 2);
    if (bigEndian) table.writeUInt16BE(1, 6);
    else table.writeUInt16LE(1, 6);
    return filled(table);
  };
  return Buffer.concat([
    Buffer.alloc(16 * sectorBytes),
    volumeDescriptor(label, next),
    filled(Buffer.from('\xffCD001\x01', 'latin1')),
    pathTable(false),
    pathTable(true),
    filled(Buffer.concat(root)),
    ...contents,
  ]);
}

/** The files of a volume that {@link isoVolume} made, by name. */
export function isoFiles(volume: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  let left = volume.length;
  for (let at = rootSector * sectorBytes; (volume[at] ?? 0) !== 0; at += volume[at] ?? 0) {
    const bytes = at + leastRecordBytes <= volume.length ? volume.readUInt32LE(at + 10) : left;
    left -= leastRecordBytes + bytes;
    if (left < 0) throw new Error('a volume that is none of ours');
    if (volume[at + 25] !== 0) continue; // a directory
    const name = volume.toString('latin1', at + 33, at + 33 + (volume[at + 32] ?? 0));
    const from = volume.readUInt32LE(at + 2) * sectorBytes;
    const content = volume.toString('utf8', from, from + bytes);
    files.set(name.replace(/;1$/, '').toLowerCase(), content);
  }
  return files;
}

function volumeDescriptor(label: string, sectors: number): Buffer {
  const block = Buffer.alloc(sectorBytes);
  const text = (value: string, at: number, length: number) =>
    block.write(value.padEnd(length, ' '), at, length, 'latin1');
  block.write('\x01CD001\x01', 0, 'latin1');
  text('LINUX', 8, 32);
  text(label, 40, 32);
  both32(block, sectors, 80);
  both16(block, 1, 120);
  both16(block, 1, 124);
  both16(block, sectorBytes, 128);
  both32(block, 10, 132);
  block.writeUInt32LE(18, 140);
  block.writeUInt32BE(19, 148);
  record('\0', rootSector, sectorBytes, true).copy(block, 156);
  text('', 190, 623);
  for (const at of [813, 830, 847, 864]) block.write('0000000000000000\0', at, 'latin1');
  block[881] = 1;
  return block;
}

/** One directory record (ECMA-119 9.1). */
function record(name: string, sector: number, bytes: number, directory: boolean): Buffer {
  const length = 33 + name.length + ((name.length + 1) % 2);
  const entry = Buffer.alloc(length);
  entry[0] = length;
  both32(entry, sector, 2);
  both32(entry, bytes, 10);
  entry.set([120, 1, 1, 0, 0, 0, 0], 18);
  entry[25] = directory ? 2 : 0;
  both16(entry, 1, 28);
  entry[32] = name.length;
  entry.write(name, 33, 'latin1');
  return entry;
}

function both32(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32LE(value, at);
  buffer.writeUInt32BE(value, at + 4);
}

function both16(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt16LE(value, at);
  buffer.writeUInt16BE(value, at + 2);
}

function filled(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((sectorBytes - (content.length % sectorBytes)) % sectorBytes)]);
}
