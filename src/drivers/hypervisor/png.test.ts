import { deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { checkedPng, pngOf } from './png.ts';
import { pixelsOf } from './screenConformance.ts';

const size = { width: 3, height: 2 };
const pixels = Buffer.from(Array.from({ length: 18 }, (_, nth) => nth * 13));
const picture = pngOf(size, pixels);

/** The picture with another header, whose checksum is right. */
function withHeader(at: number, value: number): Buffer {
  const header = Buffer.from(picture.subarray(16, 29));
  header.writeUInt8(value, at);
  return Buffer.concat([picture.subarray(0, 8), chunk('IHDR', header), picture.subarray(33)]);
}

function chunk(type: string, data: Buffer): Buffer {
  const empty = pngOf({ width: 1, height: 1 }, Buffer.alloc(3)); // borrows the checksums
  expect(checkedPng(empty)).not.toBeNull();
  const body = Buffer.concat([Buffer.from(type), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}

/** The checksum of the standard's annex D, written once more. */
function crc(bytes: Buffer): number {
  let sum = 0xff_ff_ff_ff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xed_b8_83_20 : sum >>> 1;
  }
  return (sum ^ 0xff_ff_ff_ff) >>> 0;
}

it('a picture has the pixels that it was made of', () => {
  expect(checkedPng(picture)).toEqual(size);
  expect(pixelsOf(picture)).toEqual({ ...size, pixels });
});

const end = picture.subarray(-12);
const body = picture.subarray(0, -12);
it.each<[string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['something else', Buffer.from('GIF89a')],
  ['a signature alone', picture.subarray(0, 8)],
  ['one that ends early', picture.subarray(0, -1)],
  ['one that goes on', Buffer.concat([picture, Buffer.of(0)])],
  ['one after another', Buffer.concat([picture, picture.subarray(8)])],
  ['a wrong checksum', Buffer.concat([picture.subarray(0, 30), Buffer.of(0), picture.subarray(31)])],
  ['text beside the pixels', Buffer.concat([body, chunk('tEXt', Buffer.from('Comment\0hello')), end])],
  ['a colour profile', Buffer.concat([body, chunk('iCCP', deflateSync(Buffer.alloc(9))), end])],
  ['no pixels', Buffer.concat([picture.subarray(0, 33), end])],
  ['no width', withHeader(3, 0)],
  ['far too wide', withHeader(1, 1)],
  ['far too high', withHeader(4, 1)],
  ['another depth', withHeader(8, 16)],
  ['a palette', withHeader(9, 3)],
  ['interlaced', withHeader(12, 1)],
])('%s is no picture to pass on', (_, bytes) => {
  expect(checkedPng(bytes)).toBeNull();
});
