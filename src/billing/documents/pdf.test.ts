/** What strangers write breaks no layout: everything stays on its page, and every page is sound. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { samplePaper } from '../../../bench/documents.ts';
import { runProgram } from '../../platform/host/program.ts';
import type { Paper } from './paper.ts';
import { drawPdf } from './pdf.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-pdf-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The words of a document with where they stand, by a program that reads it as people do. */
async function look(paper: Paper) {
  const file = path.join(dir, 'a.pdf');
  writeFileSync(file, await drawPdf(paper));
  expect((await runProgram(['qpdf', '--check', file])).stdout).toContain(
    'No syntax or stream encoding errors',
  );
  const { stdout } = await runProgram(['pdftotext', '-bbox', file, '-']);
  const pages = stdout
    .split('<page ')
    .slice(1)
    .map((page) =>
      [
        ...page.matchAll(
          /<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">([^<]*)</g,
        ),
      ].map(([, xMin, yMin, xMax, yMax, text]) => ({
        ...{ xMin: Number(xMin), yMin: Number(yMin), xMax: Number(xMax), yMax: Number(yMax) },
        text: text ?? '',
      })),
    );
  for (const word of pages.flat()) {
    expect(word.xMin, word.text).toBeGreaterThanOrEqual(60);
    expect(word.xMax, word.text).toBeLessThanOrEqual(536);
    expect(word.yMin, word.text).toBeGreaterThanOrEqual(50);
    expect(word.yMax, word.text).toBeLessThanOrEqual(830);
  }
  return { pages, text: (await runProgram(['pdftotext', '-layout', file, '-'])).stdout };
}

const line = (description: string) => ({
  description,
  quantity: null,
  unitPrice: '1.00',
  price: '1.00',
  setupFee: '0.00',
  discount: '0.00',
  net: '1.00',
  untaxed: null,
});

const hostile: [what: string, text: string][] = [
  ['one word of 10,000 letters', 'W'.repeat(10_000)],
  ['10,000 letters in words', 'Wort '.repeat(2_000)],
  ['right to left', 'שלום עולם مرحبا بالعالم 123 abc'],
  ['turned around', '\u202egnihtemos\u202c \u2066isolated\u2069'],
  ['accents in a heap', `a${'\u0301\u0302\u0303\u0304'.repeat(500)}b`],
  ['pictures', '🏠👩‍👩‍👧‍👦🇩🇪 ☎ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢'],
  ['control characters', Array.from({ length: 160 }, (_, code) => String.fromCharCode(code)).join('')],
  ['PDF in a text', ') Tj ET Q (\\( %%EOF endstream endobj <</JS(app.alert(1))>>'],
  ['halves of pairs', '\ud800 \udc00 \ud800\ud800'],
  ['a thousand lines', 'line\n'.repeat(1_000)],
  ['nothing', ''],
  ['other alphabets', 'Ελληνικά, кириллица, ĄĆĘŁŃÓŚŹŻ, İıŞşĞğ, ẞß, 日本語'],
];

describe('a document', () => {
  it.each(hostile)(
    'keeps its form with %s in every text',
    async (_, text) => {
      const paper = samplePaper(1);
      const everywhere = (party: object) =>
        Object.fromEntries(
          Object.entries(party).map(([name, value]) => [name, typeof value === 'string' ? text : value]),
        );
      const { iban, bic, colour } = paper.seller;
      const { pages } = await look({
        ...paper,
        seller: {
          ...(everywhere(paper.seller) as unknown as Paper['seller']),
          iban,
          bic,
          colour,
        } as Paper['seller'],
        buyer: {
          ...(everywhere(paper.buyer) as unknown as Paper['buyer']),
          routing_id: text,
          order_number: text,
        },
        lines: [line(text), line('The end')],
        reason: text,
      });
      expect(pages.length).toBeLessThan(45);
      expect(pages.flat().map(({ text: word }) => word)).toContain('41,65');
    },
    60_000,
  );

  it('says Latin, Greek and Cyrillic letter for letter', async () => {
    const words = ['Grüße', 'Łódź', 'İstanbul', 'Ελληνικά', 'Українська', 'ẞ'];
    const { text } = await look({ ...samplePaper(2), lines: words.map(line) });
    for (const word of words) expect(text).toContain(word);
  });

  it('of many lines goes on over pages, each with the heading of the table and its number', async () => {
    const count = 130;
    const lines = Array.from({ length: count }, (_, nth) => line(`Server ${nth + 1}`));
    const { pages, text } = await look({ ...samplePaper(2), lines });
    expect(pages.length).toBeGreaterThan(2);
    for (const nth of pages.keys()) expect(text).toContain(`Page ${nth + 1} of ${pages.length}`);
    expect(text.match(/Description/g)?.length).toBeGreaterThanOrEqual(pages.length - 1);
    for (let nth = 1; nth <= count; nth += 1) expect(text).toMatch(new RegExp(`Server ${nth} +1\\.00`));
  });

  it('is the same bytes for the same paper, and others for another', async () => {
    const [one, again, other] = [
      await drawPdf(samplePaper(1)),
      await drawPdf(samplePaper(1)),
      await drawPdf(samplePaper(2)),
    ];
    expect(one.equals(again)).toBe(true);
    expect(one.equals(other)).toBe(false);
  });

  it('without a company or an address is drawn all the same', async () => {
    const { text } = await look({ ...samplePaper(2), seller: { name: '' }, buyer: { name: 'Somebody' } });
    expect(text).toContain('Somebody');
  });
});
