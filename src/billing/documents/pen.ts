import type PDFDocument from 'pdfkit';
import type { Paper } from './paper.ts';
import type { Texts } from './texts.ts';
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
  say: Texts;
  paper: Paper;
  colour: string;
  y: number;
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
