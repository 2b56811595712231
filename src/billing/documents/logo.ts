import { inflateSync } from 'node:zlib';
import { type Files, FilesError } from '../../drivers/files/index.ts';
import { fail } from '../../platform/index.ts';
import { pictureFile } from '../../settings/index.ts';

/**
 * The logo that mails and documents have: both are light, so the one for dark backgrounds stands there only where it is the
 * only one. Null where it is a WebP, which not every program that draws them knows: then the name stands there.
 */
export function logoOnPaper(onLight: string | null, onDark: string | null): string | null {
  const logo = onLight ?? onDark;
  return logo?.endsWith('.png') ? logo : null;
}

/** The logo that was asked for last, by its name, which follows from its bytes: to look whether it is whole takes a while. */
const looked = new WeakMap<Files, { logo: string; drawn: Buffer | null }>();

/** The logo of a document; null where there is none, or one that cannot be drawn: then the name stands there. */
export async function readLogo(files: Files, logo: string | null | undefined): Promise<Buffer | null> {
  if (!logo) return null;
  const last = looked.get(files);
  if (last?.logo === logo) return last.drawn;
  try {
    const picture = await files.get(pictureFile(logo));
    const drawn = isDrawable(picture) ? picture : null;
    looked.set(files, { logo, drawn });
    return drawn;
  } catch (error) {
    if (!(error instanceof FilesError)) throw error;
    if (error.code === 'file_absent') return null;
    // A document is kept as it was first drawn: without its logo only because of a moment it would stay so.
    throw fail('unavailable', {
      message: 'Files cannot be kept or read right now; try again shortly',
      cause: error,
    });
  }
}

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
/**
 * Pixels: 200 by 40 points are no more than half a million, printed as finely as one can see. A small file can hold a picture
 * that takes all memory.
 */
const mostPixels = 500_000;
const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/**
 * Whether a PNG is whole, and of a kind and size that are drawn: a broken one would end the thread that draws documents,
 * since what reads it there throws where nobody can catch it.
 */
export function isDrawable(png: Buffer): boolean {
  if (!png.subarray(0, 8).equals(signature)) return false;
  const parts: Buffer[] = [];
  let head: Buffer | null = null;
  let hasPalette = false;
  let holes: number | null = null;
  for (let at = 8; at + 12 <= png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    if (end + 4 > png.length) return false;
    const [type, content] = [png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, end)];
    if (type === 'IHDR' && content.length === 13) head = content;
    if (type === 'PLTE') hasPalette = content.length > 0 && content.length % 3 === 0;
    if (type === 'tRNS') holes = content.length;
    if (type === 'IDAT') parts.push(content);
    if (type === 'IEND')
      return head !== null && isPlain(head, hasPalette, holes) && hasRows(head, Buffer.concat(parts));
    at = end + 4;
  }
  return false;
}

/**
 * Whether its colours are drawn as they are. Of a palette what draws them knows holes only where it says of all 256 colours
 * how far each is seen through, a byte each; in other pictures it takes a palette, or a colour that stands for a hole, for
 * something else. What it draws wrongly would stay so on paper for ever.
 */
function isPlain(head: Buffer, hasPalette: boolean, holes: number | null): boolean {
  const [bits, colour] = head.subarray(8);
  if (colour !== 3) return !hasPalette && holes === null;
  return hasPalette && (holes === null || (bits === 8 && holes === 256));
}

function hasRows(head: Buffer, packed: Buffer): boolean {
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const [bits = 0, colour = 0, , , interlaced] = head.subarray(8);
  const each = channels[colour];
  const isKnown = each !== undefined && [1, 2, 4, 8, 16].includes(bits) && interlaced === 0;
  if (!isKnown || width * height === 0 || width * height > mostPixels) return false;
  const row = 1 + Math.ceil((width * each * bits) / 8);
  try {
    const rows = inflateSync(packed, { maxOutputLength: row * height });
    if (rows.length !== row * height) return false;
    // Each begins with how it was filtered, of which there are five ways.
    for (let at = 0; at < rows.length; at += row) if ((rows[at] ?? 5) > 4) return false;
    return true;
  } catch {
    return false;
  }
}
