import type { Action, Packet, TcpFlag } from '../contract.ts';

/**
 * What a router makes of flow specifications, read from their bytes by the text of RFC 8955 and RFC 8956 alone: nothing of the
 * engine is used here, or its mistakes would be believed.
 */
export interface Announced {
  bytes: Buffer;
  action: Action;
}

/** `permit` where no flow is the packet's. */
export function routed(flows: readonly Announced[], packet: Packet): Action {
  const family = packet.destination.includes(':') ? 6 : 4;
  const matching = flows.filter(({ bytes }) => matches(parse(bytes, family), packet, family));
  const [first] = matching.toSorted((a, b) => before(parse(a.bytes, family), parse(b.bytes, family), family));
  return first?.action ?? 'permit';
}

interface Component {
  type: number;
  value: number[];
}

function parse(bytes: Buffer, family: 4 | 6): Component[] {
  const [length = 0, ...rest] = bytes;
  if (length !== rest.length || length >= 240) throw new Error('not the length it says');
  const components: Component[] = [];
  while (rest.length > 0) {
    const type = rest.shift() ?? 0;
    let size = 0;
    if (type < 3) size = (family === 4 ? 1 : 2) + Math.ceil((rest[0] ?? 0) / 8);
    else
      for (let last = false; !last; ) {
        const op = rest[size] ?? 0x80;
        last = op >= 0x80;
        size += 1 + 2 ** ((op >> 4) % 4);
      }
    if (size > rest.length) throw new Error('cut short');
    components.push({ type, value: rest.splice(0, size) });
  }
  const rising = components.every(({ type }, at) => at === 0 || type > (components[at - 1]?.type ?? 0));
  if (!rising) throw new Error('components do not rise');
  return components;
}

function addressBits(address: string): string {
  if (!address.includes(':'))
    return address
      .split('.')
      .map((each) => Number(each).toString(2).padStart(8, '0'))
      .join('');
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
    .map((each) => Number.parseInt(each, 16).toString(2).padStart(16, '0'))
    .join('');
}

function prefixBits(value: number[], family: 4 | 6): string {
  const [length = 0, ...rest] = value;
  if (family === 6 && rest.shift() !== 0) throw new Error('an offset');
  return rest
    .map((each) => each.toString(2).padStart(8, '0'))
    .join('')
    .slice(0, length);
}

function items(value: number[]): { op: number; number: number }[] {
  const found: { op: number; number: number }[] = [];
  const rest = [...value];
  while (rest.length > 0) {
    const op = rest.shift() ?? 0;
    const number = rest.splice(0, 2 ** ((op >> 4) % 4)).reduce((sum, each) => sum * 256 + each, 0);
    found.push({ op, number });
  }
  return found;
}

/** Items that are joined by AND, joined by OR. */
function holds(value: number[], test: (op: number, number: number) => boolean): boolean {
  const groups: boolean[] = [];
  for (const { op, number } of items(value)) {
    const isTrue = test(op, number);
    if ((op & 0x40) !== 0 && groups.length > 0) groups.push((groups.pop() ?? false) && isTrue);
    else groups.push(isTrue);
  }
  return groups.includes(true);
}

function numeric(value: number[], seen: number): boolean {
  return holds(
    value,
    (op, number) =>
      ((op & 4) !== 0 && seen < number) ||
      ((op & 2) !== 0 && seen > number) ||
      ((op & 1) !== 0 && seen === number),
  );
}

function bitmask(value: number[], seen: number): boolean {
  return holds(value, (op, mask) => {
    const isTrue = (op & 1) !== 0 ? (seen & mask) === mask : (seen & mask) !== 0;
    return (op & 2) !== 0 ? !isTrue : isTrue;
  });
}

const flagBits: [TcpFlag, number][] = [
  ...([
    ['fin', 1],
    ['syn', 2],
    ['rst', 4],
  ] as [TcpFlag, number][]),
  ...([
    ['psh', 8],
    ['ack', 16],
    ['urg', 32],
  ] as [TcpFlag, number][]),
];

function matches(components: Component[], packet: Packet, family: 4 | 6): boolean {
  const { ports, flags, protocol } = packet;
  const seenFlags = flagBits.reduce((sum, [flag, bit]) => (flags?.includes(flag) ? sum + bit : sum), 0);
  // Of a packet that is a part we know whether it is the first by whether it has ports; neither is "last" ever asked.
  const part = packet.fragment ? (ports === null ? 2 : 4) : 0;
  return components.every(({ type, value }) => {
    if (type === 1) return addressBits(packet.destination).startsWith(prefixBits(value, family));
    if (type === 2) return addressBits(packet.source).startsWith(prefixBits(value, family));
    if (type === 3) return protocol !== null && numeric(value, protocol);
    if (type === 5) return ports !== null && numeric(value, ports.destination);
    if (type === 6) return ports !== null && numeric(value, ports.source);
    if (type === 9) return flags !== null && bitmask(value, seenFlags);
    if (type === 10) return numeric(value, packet.length);
    if (type === 11) return numeric(value, packet.dscp);
    if (type === 12) return bitmask(value, part);
    throw new Error(`component ${type}`);
  });
}

function before(a: Component[], b: Component[], family: 4 | 6): number {
  for (let at = 0; ; at += 1) {
    const [one, other] = [a[at], b[at]];
    if (one === undefined && other === undefined) throw new Error('announced twice');
    if (one === undefined) return 1;
    if (other === undefined) return -1;
    if (one.type !== other.type) return one.type < other.type ? -1 : 1;
    if (one.type < 3) {
      const [p, q] = [prefixBits(one.value, family), prefixBits(other.value, family)];
      if (p === q) continue;
      if (p.startsWith(q)) return -1;
      if (q.startsWith(p)) return 1;
      return p < q ? -1 : 1;
    }
    const text = ({ value }: Component) => value.map((each) => each.toString(16).padStart(2, '0')).join('');
    const [p, q] = [text(one), text(other)];
    if (p === q) continue;
    if (p.startsWith(q)) return -1;
    if (q.startsWith(p)) return 1;
    return p < q ? -1 : 1;
  }
}
