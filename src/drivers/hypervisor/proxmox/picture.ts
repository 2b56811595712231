import type { Duplex } from 'node:stream';
import { HypervisorError } from '../contract.ts';
import { checkedPng, type PngSize, pngOf } from '../png.ts';
import { type ByteReader, byteReader } from './byteReader.ts';

/** Sides and bytes that a picture has at most: far above every screen that a machine of ours can have. */
const mostPixelsASide = 4_096;
const mostBytes = 8 * 2 ** 20;
const takenMs = 4_000;
const [raw, resized] = [0, -223];

/** What is on a screen that was opened, as a PNG; the screen is closed then. RFC 6143. */
export async function pictureOf(id: string, screen: Duplex): Promise<Buffer> {
  const timer = setTimeout(() => screen.destroy(), takenMs);
  try {
    const picture = await drawn(screen);
    if (picture.length > mostBytes || checkedPng(picture) === null) throw new Error('this is no picture');
    return picture;
  } catch (cause) {
    throw new HypervisorError('screen_failed', `no picture of the screen of ${id}`, { cause });
  } finally {
    clearTimeout(timer);
    screen.destroy();
  }
}

async function drawn(screen: Duplex): Promise<Buffer> {
  const reader = byteReader(screen);
  screen.write(Buffer.of(1)); // others may look, too
  const head = await reader.take(24);
  let size = sized(head.readUInt16BE(0), head.readUInt16BE(2));
  await reader.take(bounded(head.readUInt32BE(20), 4_096)); // the name
  // 32 bits a pixel: blue, green, red and nothing.
  screen.write(Buffer.of(0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0));
  screen.write(encodings([raw, resized]));
  for (;;) {
    screen.write(request(size));
    const update = await updated(reader, size);
    if (update.pixels) return pngOf(size, update.pixels);
    size = update.size;
  }
}

/** All of the screen, or the size that it has now. */
async function updated(reader: ByteReader, size: PngSize): Promise<{ size: PngSize; pixels: Buffer | null }> {
  for (;;) {
    const [kind] = await reader.take(1);
    if (kind === 0) break;
    if (kind === 2) continue; // a bell
    if (kind !== 3) throw new Error(`it says ${kind}`);
    await reader.take(3);
    await reader.take(bounded((await reader.take(4)).readUInt32BE(), 2 ** 20)); // what was copied there
  }
  await reader.take(1);
  const count = (await reader.take(2)).readUInt16BE();
  const pixels = Buffer.alloc(size.width * size.height * 3);
  let known = 0;
  for (let nth = 0; nth < count; nth += 1) {
    const head = await reader.take(12);
    const [x, y, width, height] = [0, 2, 4, 6].map((at) => head.readUInt16BE(at)) as [
      number,
      number,
      number,
      number,
    ];
    const encoding = head.readInt32BE(8);
    if (encoding === resized) return { size: sized(width, height), pixels: null };
    if (encoding !== raw || x + width > size.width || y + height > size.height)
      throw new Error('it draws beside the screen, or in another way');
    paint(pixels, size, { x, y, width, height }, await reader.take(width * height * 4));
    known += width * height;
  }
  return { size, pixels: known >= size.width * size.height ? pixels : null };
}

function paint(
  pixels: Buffer,
  screen: PngSize,
  { x, y, width, height }: PngSize & { x: number; y: number },
  drawing: Buffer,
): void {
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1) {
      const from = (row * width + column) * 4;
      const to = ((y + row) * screen.width + x + column) * 3;
      pixels[to] = drawing[from + 2] ?? 0;
      pixels[to + 1] = drawing[from + 1] ?? 0;
      pixels[to + 2] = drawing[from] ?? 0;
    }
}

function request({ width, height }: PngSize): Buffer {
  const message = Buffer.alloc(10);
  message.writeUInt8(3, 0);
  message.writeUInt16BE(width, 6);
  message.writeUInt16BE(height, 8);
  return message;
}

function encodings(each: readonly number[]): Buffer {
  const message = Buffer.alloc(4 + each.length * 4);
  message.writeUInt8(2, 0);
  message.writeUInt16BE(each.length, 2);
  for (const [nth, encoding] of each.entries()) message.writeInt32BE(encoding, 4 + nth * 4);
  return message;
}

function sized(width: number, height: number): PngSize {
  if (width < 1 || height < 1) throw new Error('a screen without a size');
  return { width: bounded(width, mostPixelsASide), height: bounded(height, mostPixelsASide) };
}

function bounded(value: number, most: number): number {
  if (value > most) throw new Error(`it says ${value}, and ${most} is the most`);
  return value;
}
