import { type FileHandle, open } from 'node:fs/promises';

/** What a qcow2 file says of itself. Format: QEMU's docs/interop/qcow2.txt; all numbers are big-endian. */
export interface Qcow2Header {
  virtualBytes: number;
  clusterBytes: number;
  /** It reads through to another file. */
  hasBackingFile: boolean;
  /** The name of that file, as it stands there. */
  backingFile: string | null;
  /** Its contents lie in another file. */
  hasDataFile: boolean;
  encrypted: boolean;
  level1Entries: number;
  level1Offset: bigint;
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

const magic = 0x514649fb;
const leastBytes = 112;
const maxHeaderArea = 65_536;
const dataFileFeature = 4;
const dataFileExtension = 0x44415441;
const maxSnapshotTable = 16 * 2 ** 20;
/** Limits of QEMU's own, above which it opens no file. */
const maxBackingName = 1023;
const maxSnapshots = 65_536;
const maxLevel1Entries = (32 * 2 ** 20) / 8;
/**
 * What is read of one file's tables at most. Whoever broke out of a guest writes them as he likes, and all machines of
 * the node wait while they are counted; a full disk of four TiB with a handful of snapshots is within it.
 */
const mostTablesBytes = 4 * 2 ** 30;
const mostListsBytes = 256 * 2 ** 20;
const countedWithinMs = 20_000;
/** Bits 9 to 55 of a table's entry: where what it leads to lies. */
const offsetBits = 0x00fffffffffffe00n;
const compressedBit = 1n << 62n;
const zeroesBit = 1n;

/** Reads the header; null when the file is not a qcow2. Fails on one that contradicts itself. */
export async function readQcow2(file: string): Promise<Qcow2Header | null> {
  return reading(file, readHeader);
}

/**
 * The snapshots inside a qcow2, oldest first. Reads the file itself, which works the same while a machine uses
 * it: a snapshot's tables are never written again, and the list moves elsewhere before it changes.
 */
export async function readQcow2Snapshots(
  file: string,
  longestMs = countedWithinMs,
): Promise<Qcow2Snapshot[]> {
  return reading(file, (handle) => snapshotsOf(handle, newCount(longestMs)));
}

async function snapshotsOf(handle: FileHandle, count: Count): Promise<Qcow2Snapshot[]> {
  for (let attempt = 0; ; attempt++) {
    const header = await readHeader(handle);
    if (!header) throw new Error('not a qcow2 file');
    const snapshots = await readSnapshots(handle, header, count).catch((error: unknown) => error);
    const after = await readHeader(handle);
    const unchanged = after?.snapshotsOffset === header.snapshotsOffset;
    if (unchanged && Array.isArray(snapshots)) return snapshots;
    if (unchanged || attempt === 5) throw snapshots;
  }
}

/**
 * How many bytes the disk and its snapshots hold in this file, each counted by itself: what is shared counts in all.
 * Of a disk that is being written it is nearly so.
 */
export async function readQcow2Contents(
  file: string,
  longestMs = countedWithinMs,
): Promise<{ disk: number; snapshots: number }> {
  return reading(file, async (handle) => {
    const count = newCount(longestMs);
    const snapshots = await snapshotsOf(handle, count);
    const header = await readHeader(handle);
    const disk = header
      ? await allocated(handle, header, header.level1Offset, header.level1Entries, count)
      : 0;
    return { disk, snapshots: snapshots.reduce((sum, each) => sum + each.allocatedBytes, 0) };
  });
}

/**
 * The first bytes of the disk, where the file itself holds them: null when what lies below it does, or when they are
 * packed, as no guest writes them. Of a file that nobody writes.
 */
export async function readBeginning(file: string, bytes: number): Promise<Buffer | null> {
  return reading(file, async (handle) => {
    const entryAt = async (position: number) => {
      const entry = Buffer.alloc(8);
      await handle.read(entry, 0, 8, position);
      return entry.readBigUInt64BE();
    };
    const level1 = Number((await entryAt(40)) & offsetBits);
    const level2 = Number((await entryAt(level1)) & offsetBits);
    if (level2 === 0) return null;
    const entry = await entryAt(level2);
    if ((entry & compressedBit) !== 0n || (entry & offsetBits) === 0n) return null;
    const beginning = Buffer.alloc(bytes);
    if ((entry & zeroesBit) === 0n) await handle.read(beginning, 0, bytes, Number(entry & offsetBits));
    return beginning;
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
  const area = Buffer.alloc(maxHeaderArea);
  const { bytesRead } = await handle.read(area, 0, area.length, 0);
  if (bytesRead < leastBytes || area.readUInt32BE(0) !== magic) return null;
  const version = area.readUInt32BE(4);
  const clusterBits = area.readUInt32BE(20);
  if (version < 2 || version > 3 || clusterBits < 9 || clusterBits > 21) {
    throw new Error(`a qcow2 of version ${version} with clusters of 2^${clusterBits} bytes`);
  }
  const incompatible = version === 3 ? area.readUInt32BE(76) : 0;
  const headerBytes = version === 3 ? area.readUInt32BE(100) : 72;
  const backingFile = backingName(area);
  return {
    virtualBytes: Number(area.readBigUInt64BE(24)),
    clusterBytes: 2 ** clusterBits,
    hasBackingFile: area.readBigUInt64BE(8) !== 0n || area.readUInt32BE(16) !== 0,
    backingFile,
    hasDataFile: (incompatible & dataFileFeature) !== 0 || hasExtension(area, headerBytes, dataFileExtension),
    encrypted: area.readUInt32BE(32) !== 0,
    level1Entries: area.readUInt32BE(36),
    level1Offset: area.readBigUInt64BE(40),
    snapshotCount: area.readUInt32BE(60),
    snapshotsOffset: Number(area.readBigUInt64BE(64)),
  };
}

function backingName(area: Buffer): string | null {
  const offset = Number(area.readBigUInt64BE(8));
  const length = area.readUInt32BE(16);
  if (offset === 0 || length === 0) return null;
  if (length > maxBackingName || offset + length > area.length)
    throw new Error('a qcow2 with a broken header');
  return area.toString('utf8', offset, offset + length);
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

async function readSnapshots(
  handle: FileHandle,
  header: Qcow2Header,
  count: Count,
): Promise<Qcow2Snapshot[]> {
  if (header.snapshotCount === 0) return [];
  if (header.snapshotCount > maxSnapshots) throw new Error('more snapshots than a disk can have');
  const table = Buffer.alloc(Math.min(maxSnapshotTable, header.snapshotCount * 2048));
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
      allocatedBytes: await allocated(
        handle,
        header,
        table.readBigUInt64BE(at),
        table.readUInt32BE(at + 8),
        count,
      ),
    });
    at = Math.ceil((nameAt + nameBytes) / 8) * 8;
  }
  return snapshots.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

/** One counting of a file's tables: what may still be read for it, and the tables that were counted. */
interface Count {
  tablesBytes: number;
  listsBytes: number;
  until: number;
  /** Clusters that each second-level table leads to, by its place: snapshots share them until they are written anew. */
  known: Map<bigint, number>;
}

function newCount(longestMs: number): Count {
  const until = performance.now() + longestMs;
  return { tablesBytes: mostTablesBytes, listsBytes: mostListsBytes, until, known: new Map() };
}

function withinCount(count: Count): void {
  if (count.tablesBytes >= 0 && count.listsBytes >= 0 && performance.now() < count.until) return;
  throw new Error('its tables are larger than those of any disk that we know');
}

/** Counts the clusters that a first-level table leads to. */
async function allocated(
  handle: FileHandle,
  { clusterBytes }: Qcow2Header,
  offset: bigint,
  entries: number,
  count: Count,
): Promise<number> {
  // What an entry leads to takes a cluster of the file: a list that could not lie in it is none.
  const { size } = await handle.stat();
  if (entries > maxLevel1Entries || entries * 8 > size) throw new Error('a snapshot of impossible size');
  count.listsBytes -= entries * 8;
  withinCount(count);
  const level1 = Buffer.alloc(entries * 8);
  await handle.read(level1, 0, level1.length, Number(offset));
  const level2 = Buffer.alloc(clusterBytes);
  let clusters = 0;
  let tables = 0;
  for (let entry = 0; entry < entries; entry++) {
    const at = level1.readBigUInt64BE(entry * 8) & offsetBits;
    if (at === 0n) continue;
    if (++tables * clusterBytes > size) throw new Error('a snapshot of impossible size');
    const before = count.known.get(at);
    if (before !== undefined) {
      clusters += before;
      continue;
    }
    count.tablesBytes -= clusterBytes;
    withinCount(count);
    let here = 0;
    const { bytesRead } = await handle.read(level2, 0, level2.length, Number(at));
    for (let byte = 0; byte + 8 <= bytesRead; byte += 8) {
      // An offset of zero in bits 9 to 55 means that nothing is stored here.
      if ((level2.readUInt32BE(byte) & 0x00ffffff) | (level2.readUInt32BE(byte + 4) & 0xfffffe00)) here++;
    }
    count.known.set(at, here);
    clusters += here;
  }
  return clusters * clusterBytes;
}
