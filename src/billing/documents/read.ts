import { type Files, FilesError } from '../../drivers/files/index.ts';
import type { Bytes } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  type OrganizationContext,
  requireOwn,
  requireRow,
  statement,
} from '../../platform/index.ts';
import { invoiceColumns } from '../invoices/read.ts';
import { type ElectronicFormat, lacking } from './electronic.ts';
import { readLogo } from './logo.ts';
import { type Paper, type PaperRow, paperOf } from './paper.ts';
import { type Format, press } from './press.ts';
import { readSeller } from './seller.ts';

const paperById = statement<PaperRow, { id: number }>(
  'billing.paperById',
  `select ${invoiceColumns}, t.seller, t.buyer, t.reason, o.name as organization_name, c.number as corrects_number,
     exists (select 1 from forgotten_books f where f.organization_id = t.organization_id) as forgotten
   from invoices t join organizations o on o.id = t.organization_id left join invoices c on c.id = t.corrects
   where t.id = :id`,
);

const forgotten = statement<{ organization_id: number }, { organizationId: number }>(
  'billing.isForgotten',
  'select organization_id from forgotten_books where organization_id = :organizationId',
);

/** An invoice of the caller's organization as PDF; `forbidden` when it is another's, `document_incomplete`. */
export async function readPdf(
  ctx: OrganizationContext,
  files: Files,
  id: number,
  format: 'pdf' | 'factur-x',
) {
  return pdfOf(ctx, files, await requireOwn(ctx, paperById, { id }), format);
}

/** The same, whoever owns it. */
export async function readPdfForStaff(ctx: Context, files: Files, id: number, format: 'pdf' | 'factur-x') {
  return pdfOf(ctx, files, await requireRow(ctx, paperById, { id }), format);
}

/** An invoice of the caller's organization as XML; `forbidden` when it is another's, `document_incomplete`. */
export async function readXml(ctx: OrganizationContext, files: Files, id: number, format: ElectronicFormat) {
  return xmlOf(ctx, files, await requireOwn(ctx, paperById, { id }), format);
}

/** The same, whoever owns it. */
export async function readXmlForStaff(ctx: Context, files: Files, id: number, format: ElectronicFormat) {
  return xmlOf(ctx, files, await requireRow(ctx, paperById, { id }), format);
}

async function pdfOf(ctx: Context, files: Files, row: PaperRow, format: 'pdf' | 'factur-x'): Promise<Bytes> {
  const paper = paperOf(row, await readSeller(ctx));
  if (format === 'factur-x') requireWhole(paper, 'cii');
  return { body: await kept(ctx, files, row, paper, format), name: `${nameOf(paper)}.pdf` };
}

async function xmlOf(ctx: Context, files: Files, row: PaperRow, format: ElectronicFormat): Promise<Bytes> {
  const paper = paperOf(row, await readSeller(ctx));
  requireWhole(paper, format);
  return { body: await kept(ctx, files, row, paper, format), name: `${nameOf(paper)}-${format}.xml` };
}

function requireWhole(paper: Paper, format: ElectronicFormat): void {
  const missing = lacking(paper, format);
  if (missing.length === 0) return;
  const message = `An electronic invoice of this format needs ${missing.join(', ')}; what is issued after that has it`;
  throw fail('document_incomplete', { message });
}

function nameOf({ number, invoiceId }: Paper): string {
  return number ?? String(invoiceId);
}

/**
 * A document that was issued is made once and kept, so that it stays what it was when the program that draws it changes.
 * What has no number yet is drawn each time, and so is what names its buyer no more.
 */
async function kept(
  ctx: Context,
  files: Files,
  { organization_id: organizationId, forgotten: isForgotten }: PaperRow,
  paper: Paper,
  format: Format,
): Promise<Buffer> {
  const { number } = paper;
  const isDrawn = format === 'pdf' || format === 'factur-x';
  const make = async () =>
    press(
      { kind: 'paper', paper, format, logo: isDrawn ? await readLogo(files, paper.seller.logo) : null },
      ctx.actor.userId,
    );
  if (number === null || isForgotten) return make();
  const name = nameOfFile({ ...paper, number }, format);
  const found = await files.get(name).catch(nullIfAbsent);
  if (found !== null) return found;
  const made = await make();
  // It can be made again, so where there is no room for it its reader is not made to wait.
  await files.put(name, made).catch((error: unknown) => {
    ctx.log.warn({ err: error }, `a document could not be kept: ${name}`);
  });
  // Who its buyer was may have been forgotten while it was drawn, and the files taken away already.
  if ((await ctx.db.maybe(forgotten, { organizationId })) !== null) await files.delete(name);
  return made;
}

interface Numbered {
  invoiceId: number;
  number: string;
  /** When it was issued: `2026-10-31`. */
  date: string;
}

function nameOfFile({ invoiceId, number, date }: Numbered, format: Format): string {
  // The number says which document it is: after a restore the same invoice is issued under another one.
  return `invoices/${date.slice(0, 7)}/${invoiceId}-${number.toLowerCase()}.${endings[format]}`;
}

/** All files that are kept of a document once somebody has asked for them. */
export function namesOfFiles(document: Numbered): string[] {
  return (Object.keys(endings) as Format[]).map((format) => nameOfFile(document, format));
}

const endings: Record<Format, string> = {
  pdf: 'pdf',
  'factur-x': 'factur-x.pdf',
  ubl: 'ubl.xml',
  cii: 'cii.xml',
  xrechnung: 'xrechnung.xml',
  'xrechnung-cii': 'xrechnung-cii.xml',
};

function nullIfAbsent(error: unknown): null {
  if (error instanceof FilesError && error.code === 'file_absent') return null;
  throw error;
}
