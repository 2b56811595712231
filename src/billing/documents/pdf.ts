import { buffer } from 'node:stream/consumers';
import encodeQR from 'qr';
import { giroCode } from './giro.ts';
import type { Paper } from './paper.ts';
import type { Party } from './parties.ts';
import {
  colourOf,
  drawFeet,
  drawLogo,
  type Element,
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
import { inGroups, referenceOf } from './reference.ts';
import { type Texts, texts } from './texts.ts';
import { clipped, wrapped } from './typeset.ts';
import { whyUntaxed } from './untaxed.ts';

/** A file inside the PDF, and what the PDF says of it. */
export interface Attachment {
  name: string;
  bytes: Buffer;
  type: string;
  description: string;
  /** For the metadata of the PDF (XMP). */
  metadata: string;
}

/** What an invoice is drawn with. */
interface PaperPen extends Pen {
  say: Texts;
  paper: Paper;
}

/**
 * Draws a document as PDF/A-3 (ISO 19005-3, level B), tagged, with embedded fonts. The same paper gives the same bytes.
 * It takes tens of milliseconds of a processor, so it runs in the press ({@link file://./press.ts}).
 */
export async function drawPdf(
  paper: Paper,
  attachments: readonly Attachment[] = [],
  logo: Buffer | null = null,
): Promise<Buffer> {
  const say = texts[paper.language];
  const made = new Date(`${paper.date}T00:00:00.000Z`);
  const name = plain(paper.seller.name);
  const title = `${titleOf(paper, say)} ${paper.number ?? paper.invoiceId}`;
  const doc = openDocument({ title, author: name, language: paper.language, made });
  const bytes = buffer(doc);
  const root = doc.struct('Document');
  doc.addStructure(root);
  const pen: PaperPen = { doc, root, say, paper, colour: colourOf(paper.seller.colour), y: page.top };
  drawHead(pen, title, logo);
  drawLines(pen);
  drawSums(pen);
  drawNotes(pen);
  drawPayment(pen);
  root.end();
  drawFeet(pen, issuerOf(paper, say), say.page);
  for (const { bytes: content, metadata, ...about } of attachments) {
    const dates = { creationDate: made, modifiedDate: made };
    const filed = { ...about, ...dates, relationship: 'Alternative' }; // the same invoice in another form
    doc.file(content, filed);
    doc.appendXML(metadata);
  }
  doc.end();
  return bytes;
}

function titleOf({ kind }: Paper, say: Texts): string {
  if (kind === 'proforma') return say.proforma;
  if (kind === 'correction') return say.correction;
  return kind === 'credit_note' ? say.creditNote : say.invoice;
}

/** Who sends it, who gets it, and what it is: the upper third of the first page, an address where windows show it. */
function drawHead(pen: PaperPen, title: string, logo: Buffer | null): void {
  const { paper, say, root } = pen;
  const { seller, buyer } = paper;
  const below = logo === null ? 0 : drawLogo(pen, logo, plain(seller.name));
  const size = logo === null ? 15 : normal;
  put(pen, root, 'P', clipped(pen.doc, plain(seller.name), { font: 'bold', size, width: 280 }), {
    x: page.left,
    y: page.top + below,
    font: 'bold',
    size,
    colour: pen.colour,
  });
  pen.y = page.top;
  for (const line of addressOf(seller)) {
    const text = clipped(pen.doc, line, { font: 'plain', size: small, width: 180 });
    put(pen, root, 'P', text, { x: page.right, y: pen.y, size: small, colour: grey, align: 'right' });
    pen.y += small * lineGap;
  }
  pen.y = 138;
  for (const line of windowOf(pen, buyer)) {
    put(pen, root, 'P', line, { x: page.left, y: pen.y, size: normal });
    pen.y += normal * lineGap;
  }
  const addressEnd = pen.y;
  pen.y = 138;
  for (const [label, value] of factsOf(paper, say)) {
    const text = clipped(pen.doc, plain(value), { font: 'plain', size: small, width: 135 });
    put(pen, root, 'P', label, { x: 304, y: pen.y, size: small, colour: grey });
    put(pen, root, 'P', text, { x: page.right, y: pen.y, size: small, align: 'right' });
    pen.y += small * 1.6;
  }
  pen.y = Math.max(addressEnd, pen.y, 232) + 26;
  put(pen, root, 'H1', title, { x: page.left, y: pen.y, font: 'bold', size: 15, colour: pen.colour });
  pen.y += 34;
}

function addressOf(party: Paper['seller']): string[] {
  const lines = [...streetOf(party), plain(party.country ?? '')];
  const reach = [party.email, party.phone, party.website].map((each) => plain(each ?? ''));
  return [...lines, ...reach].filter((line) => line !== '').slice(0, 9);
}

/** Street and town of an address, on lines of their own. */
function streetOf(party: Party): string[] {
  const town = plain([party.postal_code, party.city].filter(Boolean).join(' '));
  return [...plainLines(party.address_line1 ?? ''), ...plainLines(party.address_line2 ?? ''), town];
}

/** The buyer's name and address in as many lines as an envelope's window shows. */
function windowOf(pen: PaperPen, buyer: Paper['buyer']): string[] {
  const width = 250;
  const name = wrapped(pen.doc, plain(buyer.name.slice(0, 500)), {
    font: 'plain',
    size: normal,
    width,
  }).slice(0, 2);
  const rest = [...streetOf(buyer), plain(buyer.region ?? '')];
  const country = plain(buyer.country ?? '');
  const lines = [...name, ...rest.filter((line) => line !== '').slice(0, 5), ...(country ? [country] : [])];
  return lines.map((line) => clipped(pen.doc, line, { font: 'plain', size: normal, width }));
}

function factsOf(paper: Paper, say: Texts): [label: string, value: string][] {
  const { buyer } = paper;
  const facts: [string, string | null | undefined][] = [
    [say.number, paper.number ?? String(paper.invoiceId)],
    [say.date, say.day(paper.date)],
    [say.due, paper.corrects !== null || paper.paidOn !== null ? null : say.day(paper.due)],
    [say.corrects, paper.corrects],
    [say.reference, Number(paper.payable) > 0 ? inGroups(referenceOf(paper.invoiceId)) : null],
    [say.orderNumber, buyer.order_number],
    [say.routingId, buyer.routing_id],
    [say.yourTaxId, buyer.tax_id],
  ];
  return facts.flatMap(([label, value]) => (value ? [[label, value]] : []));
}

/** A table of what was bought. A long one goes on over the next pages, with its heading on each. */
function drawLines(pen: PaperPen): void {
  const { paper, say, doc, root } = pen;
  const table = doc.struct('Table');
  root.add(table);
  drawHeading(pen, table);
  for (const line of paper.lines) {
    const { quantity, unitPrice } = line;
    const each = quantity === null ? [] : [`${say.amountOf(quantity)} × ${say.amountOf(unitPrice)}`];
    row(pen, table, [...plainLines(line.description), ...each], line.price);
    if (Number(line.setupFee) !== 0) row(pen, table, [say.setupFee], line.setupFee);
    if (Number(line.discount) !== 0) row(pen, table, [say.discount], negated(line.discount));
    pen.y += 4;
  }
  table.end();
}

function drawHeading(pen: PaperPen, table: Element): void {
  const { say, doc } = pen;
  const tr = doc.struct('TR');
  table.add(tr);
  put(pen, tr, 'TH', say.description, { x: page.left, y: pen.y, size: small, colour: grey });
  const amount = pen.paper.taxIncluded ? say.amountWithTax : say.amount;
  put(pen, tr, 'TH', `${amount} (${pen.paper.currency})`, {
    x: page.right,
    y: pen.y,
    size: small,
    colour: grey,
    align: 'right',
  });
  tr.end();
  pen.y += 14;
  rule(pen);
  pen.y += 7;
}

function row(pen: PaperPen, table: Element, texts: string[], amount: string): void {
  const { doc, say } = pen;
  const width = page.right - page.left - 110;
  const lines = texts.flatMap((text) => wrapped(pen.doc, text, { font: 'plain', size: normal, width }));
  const tr = doc.struct('TR');
  table.add(tr);
  for (const [nth, line] of (lines.length > 0 ? lines : ['']).entries()) {
    if (room(pen, normal * lineGap)) {
      drawHeading(pen, table);
    }
    if (line !== '') put(pen, tr, 'TD', line, { x: page.left, y: pen.y, size: normal });
    if (nth === 0)
      put(pen, tr, 'TD', say.amountOf(amount), { x: page.right, y: pen.y, size: normal, align: 'right' });
    pen.y += normal * lineGap;
  }
  tr.end();
}

function drawSums(pen: PaperPen): void {
  const { paper, say, root } = pen;
  room(pen, 90);
  pen.y += 4;
  rule(pen);
  pen.y += 9;
  const hasTax = paper.untaxed === null;
  const sums: [label: string, amount: string, font: 'plain' | 'bold'][] = [
    [say.subtotal, paper.net, 'plain'],
    [say.tax(paper.taxRate, paper.taxCountry), paper.tax, 'plain'],
    [`${say.total} (${paper.currency})`, paper.total, 'bold'],
  ];
  for (const [label, amount, font] of hasTax ? sums : sums.slice(-1)) {
    const size = font === 'bold' ? 11 : normal;
    put(pen, root, 'P', label, { x: 300, y: pen.y, font, size });
    put(pen, root, 'P', say.amountOf(amount), { x: page.right, y: pen.y, font, size, align: 'right' });
    pen.y += size * 1.7;
  }
  pen.y += 12;
}

function drawNotes(pen: PaperPen): void {
  const { paper, say } = pen;
  const { kind, corrects, reason, paidOn } = paper;
  for (const untaxed of new Set(paper.lines.map((line) => line.untaxed)))
    if (untaxed !== null) paragraph(pen, whyUntaxed(paper, untaxed));
  if (kind === 'proforma') paragraph(pen, say.proformaNote);
  for (const line of plainLines(paper.note ?? '')) paragraph(pen, line);
  if (corrects !== null)
    paragraph(pen, (kind === 'correction' ? say.correctionNote : say.creditNoteNote)(plain(corrects)));
  if (reason !== null) paragraph(pen, `${say.reason}: ${plain(reason)}`);
  if (paidOn !== null && Number(paper.total) > 0) paragraph(pen, say.paidOn(say.day(paidOn)));
  else if (corrects === null && Number(paper.payable) === 0) paragraph(pen, say.nothingDue);
}

/** How to pay it by transfer, with the code for banking apps, where the company has an account. */
function drawPayment(pen: PaperPen): void {
  const { paper, say, root } = pen;
  const { seller } = paper;
  if (Number(paper.payable) <= 0) return;
  room(pen, 150);
  pen.y += 6;
  paragraph(pen, say.payBy(`${say.amountOf(paper.payable)} ${paper.currency}`, say.day(paper.due)));
  if (!seller.iban) return;
  const facts: [string, string][] = [
    [say.payee, plain(seller.name)],
    [say.iban, inGroups(seller.iban)],
    ...(seller.bic ? ([[say.bic, seller.bic]] as [string, string][]) : []),
    ...(seller.bank ? ([[say.bank, plain(seller.bank)]] as [string, string][]) : []),
    [say.reference, inGroups(referenceOf(paper.invoiceId))],
  ];
  const code = giroCode({
    payee: seller.name,
    iban: seller.iban,
    bic: seller.bic ?? null,
    amount: paper.payable,
    currency: paper.currency,
    invoiceId: paper.invoiceId,
  });
  const top = pen.y + 4;
  pen.y = top;
  for (const [label, value] of facts) {
    const text = clipped(pen.doc, value, { font: 'plain', size: normal, width: 210 });
    put(pen, root, 'P', label, { x: page.left, y: pen.y, size: small, colour: grey });
    put(pen, root, 'P', text, { x: page.left + 100, y: pen.y, size: normal });
    pen.y += normal * 1.6;
  }
  if (code === null) return;
  const side = 96;
  drawCode(pen, code, page.right - side, top - 6, side);
  put(pen, root, 'P', say.scan, {
    x: page.right,
    y: top + side,
    size: 7,
    colour: grey,
    align: 'right',
  });
  pen.y = Math.max(pen.y, top + side + 12);
}

/** A QR code (ISO/IEC 18004), drawn as squares. Error correction M, as EPC069-12 asks. */
function drawCode({ doc, root, say }: PaperPen, text: string, x: number, y: number, side: number): void {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: 1 });
  const size = side / modules.length;
  const box: [number, number, number, number] = [x, y, x + side, y + side];
  const content = doc.markStructureContent('Figure', { alt: say.scan } as never);
  for (const [at, line] of modules.entries()) {
    for (const [across, isDark] of line.entries()) {
      if (isDark) doc.rect(x + across * size, y + at * size, size, size);
    }
  }
  doc.fill('#000000');
  doc.endMarkedContent();
  const figure = doc.struct('Figure', { alt: say.scan, bbox: box } as never, [content]);
  root.add(figure);
  figure.end();
}

/** Who issued it, as companies have to say it. */
function issuerOf({ seller }: Paper, say: Texts): string {
  const about = [
    plain(seller.name),
    seller.register && `${say.register}: ${plain(seller.register)}`,
    seller.vat_id && `${say.vatId}: ${plain(seller.vat_id)}`,
    seller.tax_id && `${say.taxId}: ${plain(seller.tax_id)}`,
    seller.iban && `${say.iban}: ${inGroups(seller.iban)}`,
  ];
  return about.filter((part): part is string => Boolean(part)).join('  ·  ');
}

function negated(decimal: string): string {
  return decimal.startsWith('-') ? decimal.slice(1) : `-${decimal}`;
}
