import type PDFDocument from 'pdfkit';

type Document = InstanceType<typeof PDFDocument>;

/** How text is set, and how much room there is for a line, in points. */
export interface Face {
  font: 'plain' | 'bold';
  size: number;
  width: number;
}

/** The lines that a text takes: broken between words, and within one that is longer than a line. */
export function wrapped(doc: Document, text: string, { font, size, width }: Face): string[] {
  doc.font(font).fontSize(size);
  const space = doc.widthOfString(' ');
  const lines: string[] = [];
  let line = '';
  let taken = 0;
  const end = () => {
    if (line !== '') lines.push(line);
    line = '';
    taken = 0;
  };
  for (const word of inFont(doc, text).split(' ')) {
    const wide = widthOf(doc, word);
    if (line !== '' && taken + space + wide > width) end();
    if (wide <= width) {
      taken += wide + (line === '' ? 0 : space);
      line += line === '' ? word : ` ${word}`;
      continue;
    }
    for (const letter of lettersOf(word)) {
      const more = widthOf(doc, letter);
      if (taken + more > width) end();
      line += letter;
      taken += more;
    }
  }
  end();
  return lines;
}

/** As much of a text as fits on one line, with dots where something is left out. */
export function clipped(doc: Document, whole: string, face: Face): string {
  const text = whole.slice(0, lineAtMost).toWellFormed();
  const [line = '', ...more] = wrapped(doc, text, face);
  if (more.length === 0 && text.length === whole.length) return line;
  let taken = widthOf(doc, '…');
  let kept = '';
  for (const letter of lettersOf(inFont(doc, text))) {
    taken += widthOf(doc, letter);
    if (taken > face.width) break;
    kept += letter;
  }
  return `${kept.trimEnd()}…`;
}

/** With what belongs on a letter left on it. */
function lettersOf(text: string): string[] {
  return text.match(/\P{M}?\p{M}*/gu)?.filter((letter) => letter !== '') ?? [];
}

/** Letters that no line is longer than. */
const lineAtMost = 500;
const longest = 64;

/** A long word is measured letter by letter: shaping it whole would take a time that grows with its square. */
function widthOf(doc: Document, word: string): number {
  if (word.length <= longest) return doc.widthOfString(word);
  return lettersOf(word).reduce((sum, letter) => sum + doc.widthOfString(letter), 0);
}

interface Glyphs {
  hasGlyphForCodePoint(codePoint: number): boolean;
}

/** With a sign in place of what the font has no letter for; PDF/A allows no gap. */
export function inFont(doc: Document, text: string): string {
  const glyphs = (doc as unknown as { _font: { font: Glyphs } })._font.font;
  const stand = glyphs.hasGlyphForCodePoint(0xfffd) ? '\ufffd' : '?';
  return [...text]
    .map((letter) => (glyphs.hasGlyphForCodePoint(letter.codePointAt(0) ?? 0) ? letter : stand))
    .join('');
}
