import { type FileHandle, open } from 'node:fs/promises';

/** What a qcow2 file says of itself. Format: QEMU's docs/interop/qcow2.txt; all numbers are big-endian. */
export interface Qcow2Header {
  virtualBytes: number;
  clusterBytes: number;
  /** It reads through to another file. */
  hasBackingFile: boolean;
  /** Its contents lie in another file. */
  hasDataFile: boolean;
  encrypted: boolean;
  snapshotCount: number;
  snapshotsOffset: number;
}

export interface Qcow2Snapshot {
  name: string;
  createdAt: Date;
  /** Size of the disk when it was taken. */
  virtualBytes: number;
  /** What it holds in this file, without the backing file's share. */
  allocatedBytes: number;
}

const MAGIC = 0x514649fb;
const HEADER_BYTES = 112;
const MAX_HEADER_AREA = 65_536;
const DATA_FILE_FEATURE = 4;
const DATA_FILE_EXTENSION = 0x44415441;
const MAX_SNAPSHOT_TABLE = 16 * 2 ** 20;
/** Bits 9 to 55 of a table's entry: where what it leads to lies. */
const OFFSET = 0x00fffffffffffe00n;

/** Reads the header; null when the file is not a qcow2. Fails on one that contradicts itself. */
export async function readQcow2(file: string): Promise<Qcow2Header | null> {
  return reading(file, readHeader);
}

/**
 * The snapshots inside a qcow2, oldest first. Reads the file itself, which works the same while a machine uses
 * it: a snapshot's tables are never written again, and the list moves elsewhere before it changes.
 */
export async function readQcow2Snapshots(file: string): Promise<Qcow2Snapshot[]> {
  return reading(file, async (handle) => {
    for (let attempt = 0; ; attempt++) {
      const header = await readHeader(handle);
      if (!header) throw new Error('not a qcow2 file');
      const snapshots = await readSnapshots(handle, header).catch((error: unknown) => error);
      const after = await readHeader(handle);
      const unchanged = after?.snapshotsOffset === header.snapshotsOffset;
      if (unchanged && Array.isArray(snapshots)) return snapshots;
      if (unchanged || attempt === 5) throw snapshots;
    }
  });
}

/** Whether the file itself holds the beginning of its disk, and not what lies below it. Of one that nobody writes. */
export async function holdsBeginning(file: string): Promise<boolean> {
  return reading(file, async (handle) => {
    const offsetAt = async (position: number) => {
      const entry = Buffer.alloc(8);
      await handle.read(entry, 0, 8, position);
      return Number(entry.readBigUInt64BE() & OFFSET);
    };
    const level1 = await offsetAt(40);
    const level2 = await offsetAt(level1);
    return level2 !== 0 && (await offsetAt(level2)) !== 0;
  });
}

async function reading<T>(file: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, 'r');
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}

async function readHeader(handle: FileHandle): Promise<Qcow2Header | null> {
  const area = Buffer.alloc(MAX_HEADER_AREA);
  const { bytesRead } = await handle.read(area, 0, area.length, 0);
  if (bytesRead < HEADER_BYTES || area.readUInt32BE(0) !== MAGIC) return null;
  const version = area.readUInt32BE(4);
  const clusterBits = area.readUInt32BE(20);
  if (version < 2 || version > 3 || clusterBits < 9 || clusterBits > 21) {
    throw new Error(`a qcow2 of version ${version} with clusters of 2^${clusterBits} bytes`);
  }
  const incompatible = version === 3 ? area.readUInt32BE(76) : 0;
  const headerBytes = version === 3 ? area.readUInt32BE(100) : 72;
  return {
    virtualBytes: Number(area.readBigUInt64BE(24)),
    clusterBytes: 2 ** clusterBits,
    hasBackingFile: area.readBigUInt64BE(8) !== 0n || area.readUInt32BE(16) !== 0,
    hasDataFile:
      (incompatible & DATA_FILE_FEATURE) !== 0 || hasExtension(area, headerBytes, DATA_FILE_EXTENSION),
    encrypted: area.readUInt32BE(32) !== 0,
    snapshotCount: area.readUInt32BE(60),
    snapshotsOffset: Number(area.readBigUInt64BE(64)),
  };
}

/** Extensions follow the header: type, length, data padded to eight bytes; type 0 ends them. */
function hasExtension(area: Buffer, start: number, wanted: number): boolean {
  for (let at = start; at + 8 <= area.length; ) {
    const type = area.readUInt32BE(at);
    if (type === 0) return false;
    if (type === wanted) return true;
    at += 8 + Math.ceil(area.readUInt32BE(at + 4) / 8) * 8;
  }
  return false;
}

async function readSnapshots(handle: FileHandle, header: Qcow2Header): Promise<Qcow2Snapshot[]> {
  if (header.snapshotCount === 0) return [];
  const table = Buffer.alloc(Math.min(MAX_SNAPSHOT_TABLE, header.snapshotCount * 2048));
  const { bytesRead } = await handle.read(table, 0, table.length, header.snapshotsOffset);
  const snapshots: Qcow2Snapshot[] = [];
  let at = 0;
  for (let index = 0; index < header.snapshotCount; index++) {
    if (at + 40 > bytesRead) throw new Error('the list of snapshots is cut off');
    const idBytes = table.readUInt16BE(at + 12);
    const nameBytes = table.readUInt16BE(at + 14);
    const extraBytes = table.readUInt32BE(at + 36);
    const nameAt = at + 40 + extraBytes + idBytes;
    if (nameAt + nameBytes > bytesRead) throw new Error('the list of snapshots is cut off');
    const milliseconds = table.readUInt32BE(at + 16) * 1000 + Math.floor(table.readUInt32BE(at + 20) / 1e6);
    snapshots.push({
      name: table.toString('utf8', nameAt, nameAt + nameBytes),
      createdAt: new Date(milliseconds),
      virtualBytes: extraBytes >= 16 ? Number(table.readBigUInt64BE(at + 48)) : header.virtualBytes,
      allocatedBytes: await allocated(handle, header, table.readBigUInt64BE(at), table.readUInt32BE(at + 8)),
    });
    at = Math.ceil((nameAt + nameBytes) / 8) * 8;
  }
  return snapshots.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

/** Counts the clusters that a first-level table leads to. */
async function allocated(
  handle: FileHandle,
  { clusterBytes }: Qcow2Header,
  offset: bigint,
  entries: number,
): Promise<number> {
  const level1 = Buffer.alloc(entries * 8);
  await handle.read(level1, 0, level1.length, Number(offset));
  const level2 = Buffer.alloc(clusterBytes);
  let clusters = 0;
  for (let entry = 0; entry < entries; entry++) {
    const at = level1.readBigUInt64BE(entry * 8) & OFFSET;
    if (at === 0n) continue;
    const { bytesRead } = await handle.read(level2, 0, level2.length, Number(at));
    for (let byte = 0; byte + 8 <= bytesRead; byte += 8) {
      // An offset of zero in bits 9 to 55 means that nothing is stored here.
      if ((level2.readUInt32BE(byte) & 0x00ffffff) | (level2.readUInt32BE(byte + 4) & 0xfffffe00)) clusters++;
    }
  }
  return clusters * clusterBytes;
}
