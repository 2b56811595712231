import ipaddr from 'ipaddr.js';

export { listenTo, type Place, senderFor } from '../../../test/frames/frames.ts';

/** A frame as a guest sends it, in hex. No other has the same `body`, which is what it carries and by which it is known again. */
export interface Frame {
  bytes: string;
  body: string;
}

/** Who a frame says that it is from and to, where that is not the guest's own card and everybody. */
interface Link {
  from?: string;
  to?: string;
  /** Tags before the type: `81000001`. */
  tags?: string;
}

const everybody = 'ffffffffffff';
const allNodes = '333300000001';

/** Frames of a guest whose card has this MAC. */
export function framesOf(mac: string) {
  const own = hexOfMac(mac);
  let made = 0;

  const ethernet = (type: string, body: string, { from = own, to = everybody, tags = '' }: Link): Frame => ({
    bytes: `${to}${from}${tags}${type}${body}`,
    body,
  });

  /** ARP: `sender` has `address`, says a question for an address that nobody has, or an answer to one. */
  function arp(operation: 'asks' | 'answers', address: string, link: Link & { sender?: string } = {}): Frame {
    const target = `${operation === 'asks' ? '00'.repeat(6) : everybody}cb0071${word(++made, 1)}`;
    const body = `00010800060400${operation === 'asks' ? '01' : '02'}${link.sender ?? own}${hexOf(address)}${target}`;
    return ethernet('0806', body, link);
  }

  function udp4(from: string, to: string, ports: Ports, link: Link = {}): Frame {
    const datagram = `${word(ports.from, 2)}${word(ports.to, 2)}00180000${'61'.repeat(16)}`;
    const rest = `${word(++made, 2)}00004011`;
    const ends = `${hexOf(from)}${hexOf(to)}`;
    const sum = checksum(`4500002c${rest}0000${ends}`);
    return ethernet('0800', `4500002c${rest}${sum}${ends}${datagram}`, link);
  }

  /** `before` are headers that stand before what it carries, ready but for the type of the next one: see {@link decoy}. */
  function ip6(
    from: string,
    to: string,
    carried: { type: number; bytes: string },
    link: Link,
    before?: string,
  ): Frame {
    const ends = `${hexOf(from)}${hexOf(to)}`;
    const length = carried.bytes.length / 2;
    const at = carried.type === 58 ? 4 : 12;
    const sum = checksum(`${ends}${word(length, 4)}${word(carried.type, 4)}${carried.bytes}`);
    const bytes = `${carried.bytes.slice(0, at)}${sum}${carried.bytes.slice(at + 4)}`;
    const headers = before === undefined ? '' : `${word(carried.type, 1)}${before}`;
    const first = before === undefined ? carried.type : 60;
    const start = `60${word(++made, 3)}${word(length + headers.length / 2, 2)}${word(first, 1)}ff`;
    return ethernet('86dd', `${start}${ends}${headers}${bytes}`, { to: allNodes, ...link });
  }

  function udp6(from: string, to: string, ports: Ports, link: Link = {}, before?: string): Frame {
    const bytes = `${word(ports.from, 2)}${word(ports.to, 2)}00180000${'61'.repeat(16)}`;
    return ip6(from, to, { type: 17, bytes }, link, before);
  }

  const icmp6 = (from: string, to: string, bytes: string, link: Link, before?: string) =>
    ip6(from, to, { type: 58, bytes }, link, before);

  return {
    arp,
    udp4,
    udp6,
    /** "`address` is at `holder`", from `from`, asked for by nobody. */
    advertises(address: string, from: string, link: Link & { holder?: string } = {}, before?: string): Frame {
      const bytes = `8800000020000000${hexOf(address)}0201${link.holder ?? own}`;
      return icmp6(from, 'ff02::1', bytes, link, before);
    },
    /** "Who has `address`?", and where `from` is. */
    solicits(address: string, from: string, link: Link = {}): Frame {
      const option = from === '::' ? '' : `0101${own}`;
      return icmp6(from, 'ff02::1', `8700000000000000${hexOf(address)}${option}`, link);
    },
    /** "I am a router, for half an hour, and fd00:bad:: is here." */
    routes(from: string, link: Link = {}, before?: string): Frame {
      const prefix = `030440c0000007080000070800000000${hexOf('fd00:bad::')}`;
      return icmp6(from, 'ff02::1', `86000000400007080000000000000000${prefix}`, link, before);
    },
    /** "To `target` it is shorter over me." */
    redirects(target: string, from: string, over: string, link: Link = {}): Frame {
      return icmp6(from, 'ff02::1', `8900000000000000${hexOf(over)}${hexOf(target)}`, link);
    },
    /** Of another kind than ARP and IP. */
    other: (type: string, link: Link = {}): Frame =>
      ethernet(type, `${word(++made, 2)}${'5a'.repeat(48)}`, link),
    /** Options that receivers skip, with this address and our MAC where a filter finds those of an advertisement without options. */
    decoy: (address: string) => `031e1c00000000${hexOf(address)}0000${own}`.padEnd(62, '0'),
  };
}

interface Ports {
  from: number;
  to: number;
}

export function hexOfMac(mac: string): string {
  return mac.replaceAll(':', '');
}

function hexOf(address: string): string {
  return Buffer.from(ipaddr.parse(address).toByteArray()).toString('hex');
}

function word(value: number, bytes: number): string {
  return value.toString(16).padStart(2 * bytes, '0');
}

/** RFC 1071. */
function checksum(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return word(~sum & 0xffff, 2);
}
