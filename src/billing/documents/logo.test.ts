import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { samplePaper } from '../../../bench/documents.ts';
import type { Files } from '../../drivers/files/index.ts';
import { isDrawable, logoOnPaper, readLogo } from './logo.ts';
import { drawPdf } from './pdf.ts';

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

interface Kind {
  colour?: number;
  bits?: number;
  size?: number;
  rows?: Buffer;
  interlaced?: number;
  more?: Buffer[];
}

const perPixel: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

function png({ colour = 6, bits = 8, size = 4, interlaced = 0, more = [], ...given }: Kind): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([bits, colour, 0, 0, interlaced], 8);
  const row = 1 + Math.ceil((size * (perPixel[colour] ?? 1) * bits) / 8);
  const rows = given.rows ?? Buffer.alloc(row * size);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    ...[chunk('IHDR', head), ...more, chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))],
  ]);
}

const palette = chunk('PLTE', Buffer.alloc(6));
const hole = (length: number) => chunk('tRNS', Buffer.alloc(length));

describe('a logo', () => {
  it.each([
    ['grey', { colour: 0 }],
    ['grey of one bit', { colour: 0, bits: 1 }],
    ['colours', { colour: 2 }],
    ['colours of 16 bits', { colour: 2, bits: 16 }],
    ['a palette', { colour: 3, more: [palette] }],
    ['a palette of few colours', { colour: 3, bits: 1, more: [palette] }],
    ['a palette with all its holes', { colour: 3, more: [palette, chunk('tRNS', Buffer.alloc(256))] }],
    ['grey that is seen through', { colour: 4 }],
    ['colours that are seen through', { colour: 6 }],
    ['colours of 16 bits that are seen through', { colour: 6, bits: 16 }],
  ] as const)('of %s is drawn, the same each time', async (_, kind) => {
    const picture = png(kind as unknown as Kind);
    expect(isDrawable(picture)).toBe(true);
    const [one, again] = [
      await drawPdf(samplePaper(1), [], picture),
      await drawPdf(samplePaper(1), [], picture),
    ];
    expect(one.equals(again)).toBe(true);
    expect(one.toString('latin1')).toContain('/Subtype /Image');
  });

  it.each([
    ['no PNG', Buffer.from('RIFF....WEBP')],
    ['one that is cut off', png({}).subarray(0, 50)],
    ['one whose pixels are missing', png({ rows: Buffer.alloc(5) })],
    ['one with more pixels than it says', png({ rows: Buffer.alloc(5_000) })],
    ['one that is filtered in no way there is', png({ rows: Buffer.alloc(17 * 4, 9) })],
    ['one of a palette without one', png({ colour: 3 })],
    ['one of a palette with some holes', png({ colour: 3, more: [palette, hole(1)] })],
    ['one of a palette of few colours with holes', png({ colour: 3, bits: 4, more: [palette, hole(256)] })],
    ['a grey one with a hole', png({ colour: 0, more: [hole(2)] })],
    ['one of colours with a hole', png({ colour: 2, more: [hole(6)] })],
    ['one of colours with a palette', png({ colour: 2, more: [palette] })],
    ['one that is larger than it is drawn', png({ colour: 0, size: 708 })],
    ['one that comes in turns', png({ interlaced: 1 })],
    ['one that takes all memory', png({ size: 30_000, rows: Buffer.alloc(1_000) })],
    ['one of nothing', png({ size: 0, rows: Buffer.alloc(1) })],
  ])('is not drawn that is %s', (_, picture) => {
    expect(isDrawable(picture)).toBe(false);
  });

  it('is read and looked at once, and another one when it has changed', async () => {
    const kept: Record<string, Buffer> = { 'brand/a.png': png({}), 'brand/b.png': png({ interlaced: 1 }) };
    const asked: string[] = [];
    const get = async (name: string) => {
      asked.push(name);
      return kept[name] ?? Buffer.alloc(0);
    };
    const files = { get } as unknown as Files;
    for (const logo of ['a.png', 'a.png', 'b.png', 'b.png'])
      expect(await readLogo(files, logo)).toBe(logo === 'a.png' ? kept['brand/a.png'] : null);
    expect(asked).toEqual(['brand/a.png', 'brand/b.png']);
  });

  it('on paper is the one for light backgrounds, and the one for dark only where there is no other', () => {
    expect(logoOnPaper('a.png', 'b.png')).toBe('a.png');
    expect(logoOnPaper('a.webp', 'b.png')).toBe(null);
    expect(logoOnPaper(null, 'b.png')).toBe('b.png');
    expect(logoOnPaper(null, null)).toBe(null);
  });
});
