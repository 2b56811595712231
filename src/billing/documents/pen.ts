import { createRequire } from 'node:module';
import PDFDocument from 'pdfkit';
import { type Face, inFont, wrapped } from './typeset.ts';

export type Document = InstanceType<typeof PDFDocument>;
export type Element = PDFKit.PDFStructureElement;

/** A4, in points. */
export const page = { left: 62, right: 533, top: 62, bottom: 760 };
export const small = 8;
export const normal = 9.5;
export const lineGap = 1.35;
export const grey = '#5b6472';
export const ink = '#1a1f27';

/** What is being drawn, and how far down it has come. */
export interface Pen {
  doc: Document;
  /** The structure that screen readers follow. */
  root: Element;
  colour: string;
  y: number;
}

const files = createRequire(import.meta.url);
const fonts = {
  plain: files.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
  bold: files.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
};

/** A document that is about to be drawn: PDF/A-3 (ISO 19005-3, level B), tagged, with embedded fonts. What is the same each time gives the same bytes. */
export function openDocument(about: {
  title: string;
  author: string;
  language: string;
  made: Date;
}): Document {
  const { title, author, language, made } = about;
  const doc = new PDFDocument({
    ...{ size: 'A4', margin: 0, pdfVersion: '1.7', subset: 'PDF/A-3b' },
    ...{ tagged: true, displayTitle: true, lang: language, bufferPages: true },
    info: {
      ...{ Title: title, Author: author, Subject: title, Creator: 'Innkeeper', Producer: 'Innkeeper' },
      ...{ CreationDate: made, ModDate: made },
    },
  });
  doc.registerFont('plain', fonts.plain);
  doc.registerFont('bold', fonts.bold);
  return doc;
}

/** A colour that a company chose, or ours where it is none. */
export function colourOf(colour: string | null | undefined): string {
  return /^#[0-9a-f]{6}$/i.test(colour ?? '') ? String(colour) : ink;
}

/** On each page, below: who issued it, and which page it is. */
export function drawFeet(pen: Pen, about: string, pageOf: (page: number, of: number) => string): void {
  const { doc } = pen;
  const lines = wrapped(doc, about, { font: 'plain', size: 7, width: 390 }).slice(0, 3);
  const { count } = doc.bufferedPageRange();
  for (let nth = 0; nth < count; nth += 1) {
    doc.switchToPage(nth);
    doc.markContent('Artifact', { type: 'Pagination' });
    for (const [at, line] of lines.entries())
      draw(pen, line, { x: page.left, y: 790 + at * 9.5, size: 7, colour: grey });
    draw(pen, pageOf(nth + 1, count), { x: page.right, y: 790, size: 7, colour: grey, align: 'right' });
    doc.endMarkedContent();
  }
}

export interface Placing {
  x: number;
  y: number;
  font?: Face['font'];
  size: number;
  colour?: string;
  align?: 'left' | 'right';
}

/** Draws a line of text as a part of the structure. */
export function put(pen: Pen, parent: Element, type: string, text: string, placing: Placing): void {
  const { doc } = pen;
  const content = doc.markStructureContent(type);
  draw(pen, text, placing);
  doc.endMarkedContent();
  const element = doc.struct(type, {}, [content]);
  parent.add(element);
  element.end();
}

/** Draws a line of text, where the caller has said what it is. */
export function draw(
  { doc }: Pen,
  text: string,
  { x, y, font = 'plain', size, colour = ink, align = 'left' }: Placing,
): void {
  doc.font(font).fontSize(size).fillColor(colour);
  const drawable = inFont(doc, text);
  const left = align === 'left' ? x : x - doc.widthOfString(drawable);
  doc.text(drawable, left, y, { lineBreak: false });
}

/** Text over the whole width, in as many lines as it takes. */
export function paragraph(pen: Pen, text: string): void {
  const lines = wrapped(pen.doc, text, { font: 'plain', size: normal, width: page.right - page.left });
  for (const line of lines) {
    room(pen, normal * lineGap);
    put(pen, pen.root, 'P', line, { x: page.left, y: pen.y, size: normal });
    pen.y += normal * lineGap;
  }
  pen.y += 6;
}

/** A line across, which is no content. */
export function rule(pen: Pen): void {
  const { doc } = pen;
  doc.markContent('Artifact', { type: 'Layout' });
  doc.moveTo(page.left, pen.y).lineTo(page.right, pen.y).lineWidth(0.6).strokeColor('#c5cbd3').stroke();
  doc.endMarkedContent();
}

/** Makes sure that so much fits on the page; otherwise goes on at the top of a new one, and says so. */
export function room(pen: Pen, height: number): boolean {
  if (pen.y + height <= page.bottom) return false;
  pen.doc.addPage();
  pen.y = page.top;
  return true;
}

/** The largest that a logo is drawn, in points; no pixel is larger than on a screen. */
const logoAtMost = { width: 200, height: 40, pixel: 0.75 };

/** The logo where the name stands otherwise; gives how far below its top the name goes on. */
export function drawLogo({ doc, root }: Pen, logo: Buffer, name: string): number {
  const image = (doc as unknown as { openImage(src: Buffer): Picture }).openImage(logo);
  const scale = Math.min(logoAtMost.width / image.width, logoAtMost.height / image.height, logoAtMost.pixel);
  const [width, height] = [image.width * scale, image.height * scale];
  const about = { alt: name || '–' };
  const content = doc.markStructureContent('Figure', about as never);
  doc.image(image as never, page.left, page.top, { width, height });
  doc.endMarkedContent();
  const bbox = [page.left, page.top, page.left + width, page.top + height];
  const figure = doc.struct('Figure', { ...about, bbox } as never, [content]);
  root.add(figure);
  figure.end();
  return height + 8;
}

interface Picture {
  width: number;
  height: number;
}
