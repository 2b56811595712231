import { convert } from 'html-to-text';
import {
  type AddressObject,
  type AttachmentStream,
  type HeaderLines,
  type Headers,
  MailParser,
} from 'mailparser';
import { machineOf } from './machine.ts';
import { foldQuoted } from './quoted.ts';
import type { MailReport, ReadMail } from './readMail.ts';

/** What a mail is read up to. Whatever is beyond stays in the mail, which is kept whole. */
const most = {
  headBytes: 256 * 1_024,
  parts: 1_000,
  text: 200_000,
  html: 2_000_000,
  attachments: 100,
  references: 50,
  recipients: 100,
  reportBytes: 100_000,
} as const;

interface Parts {
  text: string | null;
  html: string | null;
  attachments: ReadMail['attachments'];
  report: string | null;
}

/** Reads a mail (RFC 5322, 2045). Fails for what is none, or has more to its head or more parts than any that somebody wrote. */
export async function parseMail(raw: Buffer): Promise<ReadMail> {
  const { headers, lines, parts } = await parse(raw);
  const written = parts.text ?? (parts.html === null ? '' : textOf(parts.html));
  const { text, quoted } = foldQuoted(clean(written).slice(0, most.text));
  const messageId = idsIn(headers.get('message-id'))[0] ?? null;
  const machine = machineOf((name) => fieldOf(lines, name), contentTypeOf(headers));
  return {
    messageId,
    references: [...idsIn(headers.get('references')), ...idsIn(headers.get('in-reply-to'))].slice(
      -most.references,
    ),
    from: fromOf(headers, lines),
    subject: oneLine(String(headers.get('subject') ?? '')).slice(0, 255),
    recipients: ['delivered-to', 'x-original-to', 'to', 'cc']
      .flatMap((name) => addressesIn(lines, name))
      .slice(0, most.recipients),
    ...{ text, quoted, attachments: parts.attachments, machine },
    report: parts.report === null ? null : reportOf(parts.report, raw, messageId),
    results: lines.find(({ key }) => key === 'authentication-results')?.line ?? null,
    signatures: lines.filter(({ key }) => key === 'dkim-signature').length,
  };
}

/** A parser that gives up a mail with more head or parts than any that somebody wrote. */
export function openParser(): MailParser {
  const options = {
    ...{ skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true, skipTextLinks: true },
    ...{ keepDeliveryStatus: true, checksumAlgo: false, maxHtmlLengthToParse: most.html },
    ...{ maxHeadSize: most.headBytes, maxChildNodes: most.parts },
  };
  return new MailParser(options as ConstructorParameters<typeof MailParser>[0]);
}

/** What a server says of a mail's delivery is no file that somebody sends. */
export function isReport({ contentType }: Pick<AttachmentStream, 'contentType'>): boolean {
  return /^message\/(global-)?delivery-status$/i.test(contentType);
}

function parse(raw: Buffer): Promise<{ headers: Headers; lines: HeaderLines; parts: Parts }> {
  const parser = openParser();
  const parts: Parts = { text: null, html: null, attachments: [], report: null };
  const found: { headers: Headers; lines: HeaderLines } = { headers: new Map(), lines: [] };
  return new Promise((resolve, reject) => {
    parser.on('headers', (headers: Headers) => {
      found.headers = headers;
    });
    parser.on('headerLines', (lines: HeaderLines) => {
      found.lines = lines;
    });
    parser.on('data', (data: AttachmentStream | { type: 'text'; text?: string; html?: string | false }) => {
      if (data.type === 'text') {
        parts.text = data.text?.trim() ? data.text : null;
        parts.html = data.html || null;
        return;
      }
      takeAttachment(data, parts);
    });
    parser.once('error', reject);
    parser.once('end', () => {
      if (found.lines.length === 0) reject(new Error('there is no head'));
      else resolve({ ...found, parts });
    });
    // Bit by bit: what the parser refuses is not read to its end.
    parser.end(raw);
  });
}

function takeAttachment(data: AttachmentStream, parts: Parts): void {
  const isOfServer = isReport(data);
  const named = { name: nameOf(data.filename), type: oneLine(data.contentType).slice(0, 100), size_bytes: 0 };
  if (!isOfServer && parts.attachments.length < most.attachments) parts.attachments.push(named);
  let report = '';
  const content = data.content as NodeJS.ReadableStream;
  content.on('data', (chunk: Buffer) => {
    named.size_bytes += chunk.length;
    if (isOfServer && report.length < most.reportBytes) report += chunk.toString('latin1');
  });
  content.once('end', () => {
    if (isOfServer) parts.report ??= report.slice(0, most.reportBytes);
    data.release?.();
  });
}

/** Links keep their targets, tables their cells; what a mail quotes has > in front of it as in plain text. */
function textOf(html: string): string {
  return convert(html.slice(0, most.html), {
    wordwrap: false,
    limits: { maxInputLength: most.html, maxDepth: 200, maxChildNodes: 20_000 },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
      { selector: 'blockquote', format: 'blockquote', options: { trimEmptyLines: true } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
    ],
  });
}

function fromOf(headers: Headers, lines: HeaderLines): ReadMail['from'] {
  if (lines.filter(({ key }) => key === 'from').length !== 1) return null;
  const from = headers.get('from') as AddressObject | AddressObject[] | undefined;
  const [one, ...others] = (Array.isArray(from) ? from : from === undefined ? [] : [from]).flatMap(
    ({ value }) => value,
  );
  const address = one?.address?.toLowerCase() ?? '';
  if (others.length > 0 || one?.group !== undefined || !isAddress(address)) return null;
  // As everybody else reads it too, and not an address that stands in a name.
  const written = fieldOf(lines, 'from') ?? '';
  if (written !== address && !written.endsWith(`<${address}>`)) return null;
  return { name: oneLine(one?.name ?? '').slice(0, 200), address };
}

function isAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>(),;:"\p{Cc}]+@[^\s@<>(),;:"\p{Cc}]+$/u.test(text);
}

/** Every address in a line of the head; they are tried as answer addresses, so what is none does no harm. */
function addressesIn(lines: HeaderLines, name: string): string[] {
  return lines
    .filter(({ key }) => key === name)
    .flatMap(({ line }) => line.slice(0, 20_000).match(/[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,190}/g) ?? [])
    .map((address) => address.toLowerCase());
}

function idsIn(value: unknown): string[] {
  const texts = Array.isArray(value) ? value : [value];
  return texts.flatMap((text) =>
    typeof text === 'string' ? (text.slice(0, 50_000).match(/<[^\s<>]{1,250}>/g) ?? []) : [],
  );
}

function fieldOf(lines: HeaderLines, name: string): string | null {
  const line = lines.find(({ key }) => key === name)?.line;
  return line === undefined ? null : oneLine(line.slice(line.indexOf(':') + 1)).toLowerCase();
}

function contentTypeOf(headers: Headers): string {
  const type = headers.get('content-type') as { value?: string; params?: Record<string, string> } | undefined;
  const kind = type?.params?.['report-type'] ?? '';
  return `${type?.value ?? ''} ${kind}`.trim().toLowerCase();
}

const actions = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;

/** What a delivery report says (RFC 3464), with the Message-ID of the mail that it brings back, or the head of that. */
function reportOf(report: string, raw: Buffer, own: string | null): MailReport | null {
  const field = (name: string) =>
    new RegExp(`^${name}:[ \\t]*(.{0,500})$`, 'im').exec(report)?.[1]?.trim() ?? '';
  const action = actions.find((each) => each === field('Action').toLowerCase());
  const recipient = /(?:rfc822|utf-8);\s*<?([^\s<>;]{1,254})>?/i.exec(
    field('Original-Recipient') || field('Final-Recipient'),
  )?.[1];
  const ids = [...raw.toString('latin1', 0, most.headBytes).matchAll(/^message-id:\s*(<[^\s<>]{1,250}>)/gim)];
  const messageId = ids.map(([, id]) => id).findLast((id) => id !== own);
  if (action === undefined || recipient === undefined || messageId === undefined) return null;
  return {
    ...{ messageId, recipient, action, status: field('Status').slice(0, 20) },
    diagnostic: oneLine(field('Diagnostic-Code')).slice(0, 400),
  };
}

/** Without what a database cannot keep, or what would move a reader's cursor about. */
function clean(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .toWellFormed();
}

function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .toWellFormed()
    .trim();
}

function nameOf(filename: string | undefined): string {
  return oneLine((filename ?? '').slice(0, 1_000)).slice(0, 200) || 'attachment';
}
