import { Lexer, type MarkedToken, type Token, Tokenizer } from 'marked';
import { createElement, type ReactNode, useMemo } from 'react';

/**
 * What is longer is a log rather than a letter, and what nests deeper is neither: both stay as they were written. The
 * parser's work grows with the square of the worst of them, and whoever opens a ticket must not wait for somebody's joke.
 */
const longest = 4_000;
const deepest = 12;
const isDeep = /^(?:[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){13}|[ \t]{25,}(?:>|[-*+]|\d{1,9}[.)]))/m;
const widestTable = 12;
const longestTable = 60;

class Bounded extends Tokenizer {
  override table(src: string) {
    const [block = ''] = src.slice(0, longest).split('\n\n', 1);
    const lines = block.split('\n');
    const columns = (lines[0]?.split('|').length ?? 0) - 1;
    return lines.length > longestTable || columns > widestTable + 1 ? undefined : super.table(src);
  }
}

/**
 * What somebody wrote, plain or as Markdown, drawn of elements. Markup in it stays text, a picture is a link, since
 * looking at a message asks no other host for anything, and a link says where it leads.
 */
export function Markdown({ children: text }: { children: string }) {
  const tokens = useMemo(() => tokensOf(text), [text]);
  if (tokens === null) return <div className="message">{text}</div>;
  return createElement('div', { className: 'markdown' }, ...drawAll(tokens, 0));
}

function tokensOf(text: string): MarkedToken[] | null {
  if (text.length > longest || isDeep.test(text)) return null;
  try {
    return new Lexer({ gfm: true, breaks: true, tokenizer: new Bounded() }).lex(text) as MarkedToken[];
  } catch {
    return null;
  }
}

function drawAll(tokens: readonly Token[] | undefined, depth: number): ReactNode[] {
  return (tokens ?? []).map((token) => draw(token as MarkedToken, depth));
}

function draw(token: MarkedToken, depth: number): ReactNode {
  if (depth > deepest) return token.raw;
  const inside = 'tokens' in token ? drawAll(token.tokens, depth + 1) : [];
  switch (token.type) {
    case 'space':
      return null;
    case 'heading':
      return createElement('p', null, createElement('strong', null, ...inside));
    case 'paragraph':
      return createElement('p', null, ...inside);
    case 'text':
      return inside.length > 0 ? createElement('span', null, ...inside) : token.text;
    case 'code':
      return createElement('pre', null, createElement('code', null, token.text));
    case 'blockquote':
      return createElement('blockquote', null, ...inside);
    case 'list': {
      const items = token.items.map((item) => createElement('li', null, ...drawAll(item.tokens, depth + 1)));
      return token.ordered
        ? createElement('ol', { start: Number(token.start) || 1 }, ...items)
        : createElement('ul', null, ...items);
    }
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'table':
      return table(token, depth);
    case 'hr':
      return createElement('hr');
    case 'strong':
    case 'em':
    case 'del':
      return createElement(token.type, null, ...inside);
    case 'codespan':
      return createElement('code', null, token.text);
    case 'br':
      return createElement('br');
    case 'escape':
      return token.text;
    case 'link':
      return link(token.href, token.text, token.raw, inside);
    case 'image':
      return link(token.href, token.text, token.raw, [token.text || token.href]);
    default:
      return createElement('span', { className: 'message' }, token.raw);
  }
}

function table({ header, rows }: Extract<MarkedToken, { type: 'table' }>, depth: number): ReactNode {
  const row = (cell: 'th' | 'td', cells: typeof header) =>
    createElement(
      'tr',
      null,
      ...cells.map(({ tokens }) => createElement(cell, null, ...drawAll(tokens, depth + 1))),
    );
  return createElement(
    'table',
    null,
    createElement('thead', null, row('th', header)),
    createElement('tbody', null, ...rows.map((cells) => row('td', cells))),
  );
}

/** A link to the web or to an address; others are no links. What it is called does not hide where it leads. */
function link(href: string, text: string, raw: string, inside: ReactNode[]): ReactNode {
  const target = URL.canParse(href) ? new URL(href) : null;
  if (target === null || !['http:', 'https:', 'mailto:'].includes(target.protocol)) return raw;
  const leads = target.protocol === 'mailto:' ? decoded(target.pathname) : target.host;
  const given = createElement(
    'a',
    { href, target: '_blank', rel: 'noopener noreferrer nofollow' },
    ...inside,
  );
  // Before an @ may stand what looks like another host.
  const isPlain = target.username === '' && target.password === '';
  return isPlain && [leads, href, href.replace(/^(https?:\/\/|mailto:)/, '')].includes(text)
    ? given
    : createElement('span', null, given, ` (${leads})`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
