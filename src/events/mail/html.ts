import type { Block } from './blocks.ts';
import type { MailLink } from './link.ts';

/** What a mail shows of the company that sends it. */
export interface Brand {
  name: string;
  /** `#1b4965`; null: our own. */
  colour: string | null;
  /** A family of fonts as style sheets name it, in single quotes. */
  font: string;
  /** Of corners, in pixels. */
  radius: number;
  /** Where its logo is kept, a PNG; null: its name stands there. */
  logo: string | null;
  /** Who it is and where, as under a letter. */
  imprint: readonly string[];
}

export interface Page {
  language: string;
  subject: string;
  blocks: readonly Block[];
  brand: Brand;
  /** Paragraphs under the mail; the last one may have a link. */
  footer: readonly string[];
  unsubscribe: { text: string; url: string } | null;
  urlOf: (link: MailLink) => string;
  /** The logo's name among the mail's pictures; null: the name stands there. */
  logo: string | null;
}

const ownColour = '#1b4965';
const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for an element or an attribute in double quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');
}

/** The mail as HTML: the layout with everything put in its places. */
export function asHtml(page: Page, layout: string): string {
  const colour = page.brand.colour ?? ownColour;
  const parts: Record<string, string> = {
    language: page.language,
    subject: escapeHtml(page.subject),
    company: escapeHtml(page.brand.name),
    logo: logoHtml(page),
    colour,
    font: page.brand.font,
    radius: String(page.brand.radius),
    content: page.blocks.map((block) => blockHtml(block, { ...page.brand, colour }, page.urlOf)).join('\n'),
    footer: footerHtml(page),
  };
  return layout.replace(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? '');
}

/** On white also where the program makes the sheet dark: a logo is made for light. */
function logoHtml({ logo, brand }: Page): string {
  const name = escapeHtml(brand.name);
  if (logo === null) return name;
  const style = `display:block;height:32px;max-width:100%;padding:4px;border-radius:${Math.min(4, brand.radius)}px;background:#ffffff`;
  return `<img src="cid:${escapeHtml(logo)}" alt="${name}" height="32" style="${style}">`;
}

interface Look {
  colour: string;
  radius: number;
}

function blockHtml(block: Block, look: Look, urlOf: (link: MailLink) => string): string {
  if (typeof block === 'string')
    return `<p style="margin:0 0 16px">${escapeHtml(block).replaceAll('\n', '<br>\n')}</p>`;
  if ('heading' in block)
    return `<h2 style="margin:24px 0 12px;font-size:17px;line-height:1.4">${escapeHtml(block.heading)}</h2>`;
  if ('code' in block)
    return `<p class="box" style="margin:0 0 16px;padding:12px 14px;border-radius:${look.radius}px;background:#eef2f5;font:14px/1.5 ui-monospace,Consolas,Menlo,monospace;overflow-wrap:anywhere">${escapeHtml(block.code)}</p>`;
  if ('table' in block) return tableHtml(block.table);
  return buttonHtml(block.button, 'url' in block ? block.url : urlOf(block.link), look);
}

/** Amounts and days stay on one line. */
const longest = 20;

function tableHtml(rows: readonly (readonly [string, string])[]): string {
  const line = 'padding:8px 0;border-bottom:1px solid #dde3e8;vertical-align:top';
  const cells = rows.map(
    ([label, value]) =>
      `<tr><td class="line" style="${line}">${escapeHtml(label)}</td><td class="line" style="${line};padding-left:16px;text-align:right;font-weight:600${value.length > longest ? '' : ';white-space:nowrap'}">${escapeHtml(value)}</td></tr>`,
  );
  return `<table width="100%" cellpadding="0" cellspacing="0" style="margin:0 0 16px;border-collapse:collapse;overflow-wrap:anywhere">\n${cells.join('\n')}\n</table>`;
}

/** With its address under it, for who cannot or would rather not click. */
function buttonHtml(label: string, url: string, { colour, radius }: Look): string {
  const style = `display:inline-block;padding:12px 22px;border-radius:${radius}px;background:${colour};color:${readableOn(colour)};font-weight:600;text-decoration:none`;
  return `<p style="margin:8px 0 8px"><a class="button" href="${escapeHtml(url)}" style="${style}">${escapeHtml(label)}</a></p>
<p class="quiet" style="margin:0 0 20px;font-size:12px;line-height:1.5;color:#5b6873;overflow-wrap:anywhere;word-break:break-all">${escapeHtml(url)}</p>`;
}

function footerHtml({ footer, unsubscribe, brand }: Page): string {
  const lines = [...footer, brand.imprint.join(' · ')].filter(Boolean).map(escapeHtml);
  const link =
    unsubscribe === null
      ? []
      : [
          `<a class="quiet" href="${escapeHtml(unsubscribe.url)}" style="color:#5b6873">${escapeHtml(unsubscribe.text)}</a>`,
        ];
  const [why = '', ...rest] = lines;
  return [[why, ...link].filter(Boolean).join(' '), ...rest].join('<br>\n');
}

/** Black or white, whichever is told apart better (the luminance of WCAG 2). */
function readableOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return luminance > 0.179 ? '#000000' : '#ffffff';
}
