import type { Head } from '../../drivers/edge/index.ts';

/** Packets to an address within a minute that were alike in all that a rule can see. */
export interface Flow {
  head: Head;
  /** So many were sent, as near as samples tell. */
  packets: number;
  /** So many of them were looked at. */
  samples: number;
}

export type Family = 4 | 6;

const addressBytes = { 4: 4, 6: 16 } as const;
/** Ports, length, protocol, flags, DSCP and ECN, TTL, and which of them are there. */
const otherBytes = 12;
/** What stands in the last byte where it is so. */
const has = { protocol: 1, ports: 2, flags: 4, fragment: 8 } as const;

/** How long a flow's key is. */
export function keyBytes(family: Family): number {
  return addressBytes[family] + otherBytes;
}

const scratch = Buffer.alloc(keyBytes(6));

/** All that rules can see of a packet, as a text of bytes: the same for packets that are alike, and near each other where sources are. */
export function keyOf(head: Head, family: Family): string {
  const end = writeAddress(head.source);
  scratch.writeUInt16BE(Math.max(0, head.sourcePort), end);
  scratch.writeUInt16BE(Math.max(0, head.destinationPort), end + 2);
  scratch.writeUIntBE(Math.min(0xff_ffff, head.length), end + 4, 3);
  scratch[end + 7] = Math.max(0, head.protocol);
  scratch[end + 8] = Math.max(0, head.flags);
  scratch[end + 9] = (head.dscp << 2) | head.ecn;
  scratch[end + 10] = head.ttl;
  scratch[end + 11] =
    (head.protocol >= 0 ? has.protocol : 0) |
    (head.sourcePort >= 0 ? has.ports : 0) |
    (head.flags >= 0 ? has.flags : 0) |
    (head.fragment ? has.fragment : 0);
  return scratch.toString('latin1', 0, keyBytes(family));
}

/** Returns where it ends. */
function writeAddress(source: number | bigint): number {
  if (typeof source === 'number') return scratch.writeUInt32BE(source, 0);
  scratch.writeBigUInt64BE(source >> 64n, 0);
  return scratch.writeBigUInt64BE(source & 0xffff_ffff_ffff_ffffn, 8);
}

/** The packet that a key was made of. `destination` is not in it: the flows of one address are kept together. */
export function headFrom(bytes: Buffer, family: Family, destination: number | bigint): Head {
  const end = addressBytes[family];
  const there = bytes[end + 11] as number;
  const hasPorts = (there & has.ports) !== 0;
  const tos = bytes[end + 9] as number;
  return {
    source:
      family === 4 ? bytes.readUInt32BE(0) : (bytes.readBigUInt64BE(0) << 64n) | bytes.readBigUInt64BE(8),
    destination,
    protocol: (there & has.protocol) === 0 ? -1 : (bytes[end + 7] as number),
    sourcePort: hasPorts ? bytes.readUInt16BE(end) : -1,
    destinationPort: hasPorts ? bytes.readUInt16BE(end + 2) : -1,
    flags: (there & has.flags) === 0 ? -1 : (bytes[end + 8] as number),
    dscp: tos >> 2,
    ecn: tos & 3,
    ttl: bytes[end + 10] as number,
    length: bytes.readUIntBE(end + 4, 3),
    fragment: (there & has.fragment) !== 0,
  };
}
