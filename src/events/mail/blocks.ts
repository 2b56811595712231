import type { MailLink } from './link.ts';

/**
 * A part of a mail. A string is a paragraph. Texts come as they are: whoever renders a block escapes them. A button leads to
 * an address that everybody may know, or by a link that is its recipient's alone.
 */
export type Block =
  | string
  | { heading: string }
  | { table: readonly (readonly [label: string, value: string])[] }
  | { button: string; url: string }
  | { button: string; link: MailLink }
  /** Something to copy, letter for letter: a command, a code. */
  | { code: string };

/** A button that leads to a page of the dashboard: `/invoices/4503599627370401`. Whoever follows it signs in first. */
export interface PageButton {
  button: string;
  page: string;
}

/** The link among the blocks that is the recipient's alone. */
export function linkOf(blocks: readonly Block[]): MailLink | null {
  for (const block of blocks) {
    if (typeof block === 'object' && 'link' in block) return block.link;
  }
  return null;
}

/** The blocks as plain text. `urlOf` says what stands for a link that is the recipient's alone. */
export function asText(blocks: readonly Block[], urlOf: (link: MailLink) => string): string {
  return blocks.map((block) => textOf(block, urlOf)).join('\n\n');
}

function textOf(block: Block, urlOf: (link: MailLink) => string): string {
  if (typeof block === 'string') return block;
  if ('heading' in block) return `${block.heading}\n${'-'.repeat([...block.heading].length)}`;
  if ('table' in block) return tableText(block.table);
  if ('code' in block) return `  ${block.code}`;
  return `${block.button}:\n${'url' in block ? block.url : urlOf(block.link)}`;
}

/** Columns of a plain table are wide enough for most labels, and never so wide that values leave the screen. */
const widest = 40;

function tableText(rows: readonly (readonly [string, string])[]): string {
  const width = Math.min(widest, Math.max(...rows.map(([label]) => [...label].length)) + 1);
  return rows.map(([label, value]) => `  ${`${label}:`.padEnd(width)} ${value}`).join('\n');
}
