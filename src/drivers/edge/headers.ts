import type { Packet, TcpFlag } from './contract.ts';
import { addressText } from './prefix.ts';

/** Bits of the TCP header (RFC 9293 3.1). */
export const flagBits: Readonly<Record<TcpFlag, number>> = {
  fin: 1,
  syn: 2,
  rst: 4,
  psh: 8,
  ack: 16,
  urg: 32,
};
const [tcp, udp] = [6, 17];

/** What the first bytes of a packet show, beginning with its IP header; null for what is none. */
export function packetOf(bytes: Buffer): Packet | null {
  const version = (bytes[0] ?? 0) >> 4;
  if (version === 4 && bytes.length >= 20) return ofFour(bytes);
  return version === 6 && bytes.length >= 40 ? ofSix(bytes) : null;
}

function ofFour(bytes: Buffer): Packet {
  const fragment = bytes.readUInt16BE(6);
  const protocol = bytes.readUInt8(9);
  const upper = (fragment & 0x1fff) === 0 ? bytes.subarray((bytes.readUInt8(0) & 15) * 4) : null;
  return {
    source: addressText(4, BigInt(bytes.readUInt32BE(12))),
    destination: addressText(4, BigInt(bytes.readUInt32BE(16))),
    ...upperOf(protocol, upper),
    ...{ dscp: bytes.readUInt8(1) >> 2, ecn: bytes.readUInt8(1) & 3 },
    ...{ ttl: bytes.readUInt8(8), length: bytes.readUInt16BE(2), fragment: (fragment & 0x3fff) !== 0 },
  };
}

function ofSix(bytes: Buffer): Packet {
  const traffic = (bytes.readUInt16BE(0) >> 4) & 0xff;
  const address = (at: number) => addressText(6, BigInt(`0x${bytes.toString('hex', at, at + 16)}`));
  const { protocol, at, isFragment, isLater } = upperOfSix(bytes);
  return {
    source: address(8),
    destination: address(24),
    ...upperOf(protocol, isLater ? null : bytes.subarray(at)),
    ...{ dscp: traffic >> 2, ecn: traffic & 3 },
    ...{ ttl: bytes.readUInt8(7), length: 40 + bytes.readUInt16BE(4), fragment: isFragment },
  };
}

/** Extension headers (RFC 8200 4): each says what comes next. What is not all there cannot be told, nor what a later part goes on with. */
function upperOfSix(bytes: Buffer) {
  let [protocol, at, isFragment]: [number | null, number, boolean] = [bytes.readUInt8(6), 40, false];
  while (protocol !== null && [0, 43, 44, 51, 60].includes(protocol)) {
    if (at + 8 > bytes.length) {
      isFragment ||= protocol === 44;
      protocol = null;
      break;
    }
    const next = bytes.readUInt8(at);
    const length = bytes.readUInt8(at + 1);
    if (protocol === 44) {
      isFragment = true;
      const isLater = (bytes.readUInt16BE(at + 2) & 0xfff8) !== 0;
      if (isLater)
        return { protocol: [0, 43, 44, 51, 60].includes(next) ? null : next, at, isFragment, isLater };
      at += 8;
    } else at += protocol === 51 ? (length + 2) * 4 : (length + 1) * 8;
    protocol = next;
  }
  return { protocol, at, isFragment, isLater: false };
}

function upperOf(
  protocol: number | null,
  bytes: Buffer | null,
): Pick<Packet, 'protocol' | 'ports' | 'flags'> {
  if (bytes === null || bytes.length < 4 || (protocol !== tcp && protocol !== udp))
    return { protocol, ports: null, flags: null };
  const ports = { source: bytes.readUInt16BE(0), destination: bytes.readUInt16BE(2) };
  const set = protocol === tcp && bytes.length >= 14 ? bytes.readUInt8(13) : null;
  return { protocol, ports, flags: set === null ? null : flagsOf(set) };
}

export function flagsOf(bits: number): TcpFlag[] {
  return Object.entries(flagBits).flatMap(([name, bit]) => ((bits & bit) === 0 ? [] : (name as TcpFlag)));
}
