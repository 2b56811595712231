import { inflateSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Hypervisor } from './contract.ts';
import type { MachineId } from './machine.ts';
import { checkedPng, type PngSize } from './png.ts';

/** Holds an engine to what it says of a running machine's screen: a picture on which something is to be seen. */
export async function showsItsScreen(driver: Hypervisor, id: MachineId): Promise<void> {
  const colours = async () => {
    const { pixels } = pixelsOf(await driver.readScreen(id));
    const seen = new Set<number>();
    for (let at = 0; at < pixels.length; at += 3) seen.add(pixels.readUIntBE(at, 3));
    return seen.size;
  };
  // A screen is blank for a moment where its resolution changes.
  await expect.poll(colours, { timeout: 20_000, interval: 250 }).toBeGreaterThan(1);
  const several = await Promise.all([1, 2, 3, 4].map(() => driver.readScreen(id)));
  for (const each of several) expect(checkedPng(each)).not.toBeNull();
}

/** The pixels of a picture as `checkedPng` lets them through, three bytes each, row by row. */
export function pixelsOf(picture: Buffer): PngSize & { pixels: Buffer } {
  const size = checkedPng(picture);
  if (size === null) throw new Error('this is no picture of a screen');
  const parts: Buffer[] = [];
  for (let at = 8; at < picture.length; ) {
    const length = picture.readUInt32BE(at);
    if (picture.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(picture.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  return { ...size, pixels: unfiltered(inflateSync(Buffer.concat(parts)), size) };
}

/** Each row says how its bytes follow from those to the left and above (PNG, 9.2). */
function unfiltered(rows: Buffer, { width, height }: PngSize): Buffer {
  const [pixel, stride] = [3, width * 3];
  if (rows.length !== height * (stride + 1)) throw new Error('the picture has not all of its rows');
  const out = Buffer.alloc(height * stride);
  for (let row = 0; row < height; row += 1) {
    const filter = rows[row * (stride + 1)] ?? 0;
    for (let nth = 0; nth < stride; nth += 1) {
      const at = row * stride + nth;
      const left = nth < pixel ? 0 : (out[at - pixel] ?? 0);
      const above = row === 0 ? 0 : (out[at - stride] ?? 0);
      const corner = nth < pixel || row === 0 ? 0 : (out[at - stride - pixel] ?? 0);
      const predicted = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter];
      if (predicted === undefined) throw new Error(`there is no filter ${filter}`);
      out[at] = ((rows[row * (stride + 1) + 1 + nth] ?? 0) + predicted) & 0xff;
    }
  }
  return out;
}

function paeth(left: number, above: number, corner: number): number {
  const near = left + above - corner;
  const [byLeft, byAbove, byCorner] = [left, above, corner].map((each) => Math.abs(near - each)) as [
    number,
    number,
    number,
  ];
  if (byLeft <= byAbove && byLeft <= byCorner) return left;
  return byAbove <= byCorner ? above : corner;
}
