import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';

const cluster = 65_536;
const snapshotsAt = cluster;
/** Where the one list lies that all its snapshots name. */
export const listsAt = 512 * cluster;

export interface HostileDisk {
  snapshots: number;
  /** Entries of the first-level table that every snapshot names. */
  entries: number;
  /** Where entry number so and so leads. */
  leadsTo: (entry: number) => number;
  /** The length of the file, most of it a hole. */
  bytes: number;
  extraBytes?: number;
}

/** As many and as large tables as a file can claim to have. */
export const endless: HostileDisk = {
  snapshots: 65_536,
  entries: 1_000_000,
  leadsTo: (entry) => (entry + 1024) * cluster,
  bytes: 2 ** 40,
};

/** For tests: a disk as whoever broke out of a guest could write it. */
export function writeHostileDisk(file: string, disk: HostileDisk): void {
  const { snapshots, entries, leadsTo, bytes, extraBytes = 0 } = disk;
  const handle = openSync(file, 'w');
  ftruncateSync(handle, bytes);
  const header = Buffer.alloc(112);
  header.writeUInt32BE(0x514649fb, 0);
  header.writeUInt32BE(3, 4);
  header.writeUInt32BE(16, 20);
  header.writeBigUInt64BE(2n ** 40n, 24);
  header.writeUInt32BE(1, 36);
  header.writeBigUInt64BE(BigInt(listsAt), 40);
  header.writeUInt32BE(snapshots, 60);
  header.writeBigUInt64BE(BigInt(snapshotsAt), 64);
  header.writeUInt32BE(104, 100);
  writeSync(handle, header, 0, header.length, 0);
  const list = Buffer.alloc(entries * 8);
  for (let entry = 0; entry < entries; entry++) list.writeBigUInt64BE(BigInt(leadsTo(entry)), entry * 8);
  writeSync(handle, list, 0, list.length, listsAt);
  const table = Buffer.alloc(Math.min(snapshots, 65_536) * 48);
  for (let at = 0; at < table.length; at += 48) {
    table.writeBigUInt64BE(BigInt(listsAt), at);
    table.writeUInt32BE(entries, at + 8);
    table.writeUInt16BE(1, at + 12);
    table.writeUInt16BE(1, at + 14);
    table.writeUInt32BE(extraBytes, at + 36);
    table.write('1x', at + 40 + (extraBytes > 8 ? 0 : extraBytes));
  }
  writeSync(handle, table, 0, table.length, snapshotsAt);
  closeSync(handle);
}
