import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import { type Family, type Flow, headFrom, keyBytes } from './flow.ts';
import type { Weight } from './thin.ts';

const deflate = promisify(deflateRaw);

/** What the first byte says of the others. */
const formats = { plain: 0, deflated: 1 } as const;
/** Packets and samples. */
const weightBytes = 8;

/**
 * The flows of an address within a minute: the first byte of each of them, then the second of each, and so on, which packs to a third of
 * what one after the other does.
 */
export async function pack(flows: ReadonlyMap<string, Weight>, family: Family): Promise<Buffer> {
  const keys = [...flows.keys()].sort();
  const count = keys.length;
  const ofKey = keyBytes(family);
  const bytes = Buffer.alloc(count * (ofKey + weightBytes));
  for (const [nth, key] of keys.entries()) {
    for (let at = 0; at < ofKey; at += 1) bytes[at * count + nth] = key.charCodeAt(at);
    const { packets = 0, samples = 0 } = flows.get(key) ?? {};
    for (let at = 0; at < 4; at += 1) {
      const shift = 24 - 8 * at;
      bytes[(ofKey + at) * count + nth] = (Math.min(0xffff_ffff, packets) >>> shift) & 0xff;
      bytes[(ofKey + 4 + at) * count + nth] = (Math.min(0xffff_ffff, samples) >>> shift) & 0xff;
    }
  }
  const packed = await deflate(bytes, { level: 1 });
  return packed.length < bytes.length
    ? Buffer.concat([Buffer.of(formats.deflated), packed])
    : Buffer.concat([Buffer.of(formats.plain), bytes]);
}

/** What `pack` was given; `destination` is the number of the address that they are of. */
export function unpack(packed: Buffer, family: Family, destination: number | bigint): Flow[] {
  const bytes = packed[0] === formats.deflated ? inflateRawSync(packed.subarray(1)) : packed.subarray(1);
  const ofKey = keyBytes(family);
  const width = ofKey + weightBytes;
  const count = bytes.length / width;
  const one = Buffer.alloc(width);
  return Array.from({ length: count }, (_, nth) => {
    for (let at = 0; at < width; at += 1) one[at] = bytes[at * count + nth] as number;
    return {
      head: headFrom(one, family, destination),
      packets: one.readUInt32BE(ofKey),
      samples: one.readUInt32BE(ofKey + 4),
    };
  });
}
