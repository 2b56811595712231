import type { Packet } from '../contract.ts';
import { flagBits } from '../headers.ts';
import { addressNumber } from '../prefix.ts';

/** Of later parts of a packet, in units of eight bytes. */
const laterOffset = 185;

/**
 * A packet as it goes over the wire, behind an Ethernet header. `mark` comes back with it: it is the identification of IPv4 and
 * the flow label of IPv6, which nothing on the way changes.
 */
export function frameOf(packet: Packet, macs: { from: string; to: string }, mark: number): Buffer {
  const six = packet.destination.includes(':');
  const ethernet = Buffer.from(`${macs.to}${macs.from}${six ? '86dd' : '0800'}`.replaceAll(':', ''), 'hex');
  return Buffer.concat([ethernet, six ? ipv6(packet, mark) : ipv4(packet, mark)]);
}

/** Of a frame of one of our packets; null for others. */
export function markOf(frame: Buffer): number | null {
  const type = frame.readUInt16BE(12);
  if (type === 0x0800) return frame.readUInt16BE(18);
  // What the kernel itself says to its neighbours goes to many.
  if (type === 0x86dd && frame[38] !== 0xff) return frame.readUInt32BE(14) & 0xfffff;
  return null;
}

function ipv4(packet: Packet, mark: number): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt8(0x45, 0);
  header.writeUInt8((packet.dscp << 2) | packet.ecn, 1);
  header.writeUInt16BE(packet.length, 2);
  header.writeUInt16BE(mark, 4);
  header.writeUInt16BE(fragmentField(packet, 0x2000, 0), 6);
  header.writeUInt8(packet.ttl, 8);
  if (packet.protocol === null) throw new Error('in IPv4 the protocol can always be told');
  header.writeUInt8(packet.protocol, 9);
  address(packet.source, 4).copy(header, 12);
  address(packet.destination, 4).copy(header, 16);
  header.writeUInt16BE(checksum(header), 10);
  return Buffer.concat([header, payload(packet, packet.length - 20)]);
}

/** An extension header for options that is longer than any packet of ours: nobody can tell what comes behind. */
const options = { protocol: 60, header: [60, 255] };

function ipv6(packet: Packet, mark: number): Buffer {
  const header = Buffer.alloc(packet.fragment ? 48 : 40);
  header.writeUInt32BE((6 * 2 ** 28 + ((packet.dscp << 2) | packet.ecn) * 2 ** 20 + mark) >>> 0, 0);
  header.writeUInt16BE(packet.length - 40, 4);
  header.writeUInt8(packet.fragment ? 44 : (packet.protocol ?? options.protocol), 6);
  header.writeUInt8(packet.ttl, 7);
  address(packet.source, 16).copy(header, 8);
  address(packet.destination, 16).copy(header, 24);
  if (packet.fragment) {
    header.writeUInt8(packet.protocol ?? options.protocol, 40);
    header.writeUInt16BE(fragmentField(packet, 1, 3), 42);
    header.writeUInt32BE(mark, 44);
  }
  return Buffer.concat([header, payload(packet, packet.length - header.length)]);
}

/** The first part has the ports, and more are to come; a later one has none, and none come. */
function fragmentField(packet: Packet, more: number, shift: number): number {
  if (!packet.fragment) return 0;
  return packet.ports === null && hasPorts(packet) ? laterOffset << shift : more;
}

function hasPorts({ protocol }: Packet): boolean {
  return protocol === 6 || protocol === 17;
}

function payload(packet: Packet, length: number): Buffer {
  // Where others have their ports, what has none shows a port that rules look for.
  const bytes = Buffer.alloc(length, Buffer.from(packet.protocol === null ? options.header : [0x14, 0xe9]));
  if (packet.ports === null || !hasPorts(packet)) return bytes;
  bytes.writeUInt16BE(packet.ports.source, 0);
  bytes.writeUInt16BE(packet.ports.destination, 2);
  if (packet.protocol === 17) {
    bytes.writeUInt32BE(length * 2 ** 16, 4);
    return bytes;
  }
  bytes.fill(0, 4, 20);
  bytes.writeUInt8(5 << 4, 12);
  bytes.writeUInt8(
    (packet.flags ?? []).reduce((bits, flag) => bits | flagBits[flag], 0),
    13,
  );
  return bytes;
}

function address(text: string, length: number): Buffer {
  return Buffer.from(
    addressNumber(text)
      .toString(16)
      .padStart(length * 2, '0'),
    'hex',
  );
}

/** RFC 1071. */
function checksum(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < header.length; at += 2) sum += header.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}
