import { buffer } from 'node:stream/consumers';
import type { Seller } from './parties.ts';
import {
  colourOf,
  drawFeet,
  drawLogo,
  grey,
  lineGap,
  normal,
  openDocument,
  type Pen,
  page,
  paragraph,
  put,
  room,
  rule,
  small,
} from './pen.ts';
import { plain, plainLines } from './plain.ts';
import { type Language, texts } from './texts.ts';
import { clipped, wrapped } from './typeset.ts';

/** What the company says on paper about something else than money. The same sheet gives the same bytes. */
export interface Sheet {
  language: Language;
  title: string;
  /** When it was so, in UTC. */
  at: Date;
  parts: readonly SheetPart[];
  /** Files inside the PDF. */
  files: readonly { name: string; type: string; description: string; text: string }[];
}

/** A heading with what stands below it: facts by name, then paragraphs. */
export interface SheetPart {
  heading: string | null;
  facts: readonly (readonly [name: string, value: string])[];
  texts: readonly string[];
}

/** Draws a sheet with the company's name and logo, as PDF/A-3, in the press ({@link file://./press.ts}). */
export async function drawSheet(sheet: Sheet, seller: Seller, logo: Buffer | null): Promise<Buffer> {
  const name = plain(seller.name);
  const { title, language, at } = sheet;
  const doc = openDocument({ title: plain(title), author: name, language, made: at });
  const bytes = buffer(doc);
  const root = doc.struct('Document');
  doc.addStructure(root);
  const pen: Pen = { doc, root, colour: colourOf(seller.colour), y: page.top };
  if (logo !== null) pen.y += drawLogo(pen, logo, name);
  line(pen, 'P', clipped(doc, name, { font: 'bold', size: normal, width: 280 }), {
    font: 'bold',
    size: normal,
  });
  pen.y += 26;
  for (const text of wrapped(doc, plain(title), { font: 'bold', size: 15, width: page.right - page.left }))
    line(pen, 'H1', text, { font: 'bold', size: 15 });
  pen.y += 12;
  for (const part of sheet.parts) drawPart(pen, part);
  root.end();
  const issuer = [seller.name, seller.register ?? '', seller.website ?? '']
    .map(plain)
    .filter((text) => text !== '');
  drawFeet(pen, issuer.join('  ·  '), texts[language].page);
  for (const { text, ...about } of sheet.files)
    doc.file(Buffer.from(text), {
      ...about,
      ...{ creationDate: at, modifiedDate: at, relationship: 'Source' },
    });
  doc.end();
  return bytes;
}

const valueAt = 210;

function drawPart(pen: Pen, { heading, facts, texts: paragraphs }: SheetPart): void {
  if (heading !== null) {
    room(pen, 60); // never alone at the end of a page
    rule(pen);
    pen.y += 8;
    line(
      pen,
      'H2',
      clipped(pen.doc, plain(heading), { font: 'bold', size: 11, width: page.right - page.left }),
      {
        font: 'bold',
        size: 11,
      },
    );
    pen.y += 4;
  }
  for (const [name, value] of facts) drawFact(pen, name, value);
  if (facts.length > 0) pen.y += 8;
  for (const text of paragraphs) for (const each of plainLines(text)) paragraph(pen, each);
}

function drawFact(pen: Pen, name: string, value: string): void {
  const width = page.right - valueAt;
  const lines = wrapped(pen.doc, plain(value), { font: 'plain', size: normal, width }).slice(0, 12);
  for (const [nth, text] of (lines.length > 0 ? lines : ['–']).entries()) {
    room(pen, normal * lineGap);
    if (nth === 0) put(pen, pen.root, 'P', name, { x: page.left, y: pen.y + 1, size: small, colour: grey });
    put(pen, pen.root, 'P', text, { x: valueAt, y: pen.y, size: normal });
    pen.y += normal * lineGap;
  }
}

function line(
  pen: Pen,
  type: string,
  text: string,
  { font, size }: { font: 'plain' | 'bold'; size: number },
): void {
  put(pen, pen.root, type, text, { x: page.left, y: pen.y, font, size, colour: pen.colour });
  pen.y += size * lineGap;
}
