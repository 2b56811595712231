/** What a server starts from, in the words that are the same for all makers. */
export type BootSource = 'network' | 'disk' | 'usb' | 'cd' | 'other';

/** More entries than any firmware keeps; a stranger may name more. */
const mostEntries = 64;

/**
 * What a server starts from by its own firmware, in order, out of its EFI variables: a line each, `BootOrder` or `Boot0001`, a blank, and the bytes of the
 * variable in hexadecimal. Entries that are switched off, and those that are no start of a system, are left out; several of one kind in a row are one, since each
 * server has others of its own. Null where there is no such order, as with BIOS.
 *
 * Source: UEFI Specification 2.10, 3.1.3 "Load Options" and 10.3 "Device Path Nodes".
 */
export function bootOrderOf(text: string): BootSource[] | null {
  const variables = new Map<string, Buffer>();
  for (const line of text.split('\n').slice(0, 512)) {
    const [name = '', hex = ''] = line.trim().split(' ');
    // Its attributes, which the kernel puts before it.
    if (/^([0-9a-f]{2}){4,}$/.test(hex)) variables.set(name, Buffer.from(hex, 'hex').subarray(4));
  }
  const order = variables.get('BootOrder');
  if (order === undefined) return null;
  const sources: BootSource[] = [];
  for (let at = 0; at + 1 < order.length && at < 2 * mostEntries; at += 2) {
    const number = order.readUInt16LE(at).toString(16).toUpperCase().padStart(4, '0');
    const source = sourceOf(variables.get(`Boot${number}`) ?? Buffer.alloc(0));
    if (source !== null && source !== sources.at(-1)) sources.push(source);
  }
  return sources;
}

const isActive = 0x1;
const category = 0x1f00;

/** Null: it starts nothing. */
function sourceOf(option: Buffer): BootSource | null {
  if (option.length < 6) return null;
  const attributes = option.readUInt32LE(0);
  if ((attributes & isActive) === 0 || (attributes & category) !== 0) return null;
  const pathBytes = option.readUInt16LE(4);
  let at = 6;
  while (at + 1 < option.length && option.readUInt16LE(at) !== 0) at += 2;
  return ofNodes(nodesOf(option.subarray(at + 2, at + 2 + pathBytes)));
}

interface Node {
  /** Type and subtype, as `3.11`. */
  kind: string;
  data: Buffer;
}

function nodesOf(path: Buffer): Node[] {
  const nodes: Node[] = [];
  for (let at = 0; at + 4 <= path.length; ) {
    const length = path.readUInt16LE(at + 2);
    if (length < 4 || path[at] === 0x7f) break;
    nodes.push({ kind: `${path[at]}.${path[at + 1]}`, data: path.subarray(at + 4, at + length) });
    at += length;
  }
  return nodes;
}

/** By messaging and media nodes: MAC, IPv4, IPv6, URI; USB; CD; NVMe, SATA, SCSI, SAS and a partition. A stick has partitions, too. */
const told: readonly (readonly [BootSource, readonly string[]])[] = [
  ['network', ['3.11', '3.12', '3.13', '3.24']],
  ['usb', ['3.5', '3.15', '3.16']],
  ['cd', ['4.2']],
  ['disk', ['3.1', '3.2', '3.18', '3.22', '3.23', '4.1']],
];
/** Kinds of devices that a start by BIOS names (BBS). */
const ofBios: Readonly<Record<number, BootSource>> = {
  2: 'disk',
  3: 'cd',
  5: 'usb',
  6: 'network',
  128: 'network',
};

function ofNodes(nodes: readonly Node[]): BootSource {
  const bios = nodes.find(({ kind }) => kind === '5.1');
  if (bios !== undefined && bios.data.length >= 2) return ofBios[bios.data.readUInt16LE(0)] ?? 'other';
  return told.find(([, kinds]) => nodes.some(({ kind }) => kinds.includes(kind)))?.[0] ?? 'other';
}
