import { crc32, deflateSync } from 'node:zlib';

/** PNG, second edition (ISO/IEC 15948): a signature, then chunks of length, type, data and checksum. */
const signature = Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const trueColour = 2;
/** Far above every screen that a machine of ours can have; larger ones would cost a viewer's memory. */
const mostPixelsASide = 4_096;

export interface PngSize {
  width: number;
  height: number;
}

/**
 * The size of a picture of true colours in 8 bits, whole and of nothing but pixels; null when the bytes are not that. Whoever
 * wrote them may be a stranger: text, profiles and what else a PNG may bring along is not passed on.
 */
export function checkedPng(bytes: Buffer): PngSize | null {
  const chunks = chunksOf(bytes);
  const [header, ...rest] = chunks ?? [];
  const end = rest.pop();
  if (header?.type !== 'IHDR' || header.data.length !== 13) return null;
  if (end?.type !== 'IEND' || end.data.length !== 0) return null;
  if (rest.length === 0 || rest.some(({ type }) => type !== 'IDAT')) return null;
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)];
  if ([width, height].some((side) => side < 1 || side > mostPixelsASide)) return null;
  // Depth and colours, then compression, filters and interlacing as they nearly always are.
  return header.data.subarray(8).equals(Buffer.of(8, trueColour, 0, 0, 0)) ? { width, height } : null;
}

interface Chunk {
  type: string;
  data: Buffer;
}

/** Null when one is broken, or something follows the last. */
function chunksOf(bytes: Buffer): Chunk[] | null {
  if (!bytes.subarray(0, signature.length).equals(signature)) return null;
  const chunks: Chunk[] = [];
  for (let at = signature.length; at < bytes.length; ) {
    if (at + 12 > bytes.length) return null;
    const length = bytes.readUInt32BE(at);
    const end = at + 8 + length;
    if (end + 4 > bytes.length || crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) return null;
    chunks.push({ type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, end) });
    at = end + 4;
  }
  return chunks;
}

/** Pixels, three bytes each, row by row, as a picture. */
export function pngOf({ width, height }: PngSize, pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, trueColour], 8);
  const bytes = width * 3;
  const rows = Array.from({ length: height }, (_, row) => [
    Buffer.of(0), // not filtered
    pixels.subarray(row * bytes, (row + 1) * bytes),
  ]);
  const data = deflateSync(Buffer.concat(rows.flat()));
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
