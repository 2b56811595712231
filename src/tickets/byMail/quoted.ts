/** A line that says whose words follow: `On Mon, 2 Feb 2026 at 10:00, Inn <a@inn.example> wrote:`. */
const attribution =
  /^[ \t>]*(?:on\b.{4,300}\bwrote|am\b.{4,300}\bschrieb.{0,200}|le\b.{4,300}\ba écrit|op\b.{4,300}\bschreef.{0,200}|el\b.{4,300}\bescribió|il\b.{4,300}\bha scritto)\s?:[ \t]*$/iu;
/** Lines below which everything is what was before, with nothing in front of it. */
const divider =
  /^[ \t]*(?:-{2,}\s?(?:original message|ursprüngliche nachricht|originalnachricht|message d'origine|forwarded message|weitergeleitete nachricht)\s?-{2,}|_{20,})[ \t]*$/iu;
/** The block that some programs write instead: its first two lines. */
const head = [
  /^[ \t*]*(?:from|von|de|van)\s?:\*?\s/iu,
  /^[ \t*]*(?:sent|gesendet|date|datum|envoyé|verzonden)\s?:\*?\s/iu,
];

/**
 * What somebody wrote, and apart from it what they quoted at the end of it. Where they answer between the lines of what they
 * quote, all of it is theirs. Nothing is lost: both parts together are the whole text.
 */
export function foldQuoted(whole: string): { text: string; quoted: string | null } {
  const lines = whole.split('\n');
  const at = cutOf(lines);
  if (at === null) return { text: whole.trim(), quoted: null };
  const text = lines.slice(0, at).join('\n').trim();
  const quoted = lines.slice(at).join('\n').trim();
  // Whoever only sends back what they got has written nothing but that.
  if (text === '' || quoted === '') return { text: whole.trim(), quoted: null };
  return { text, quoted };
}

/** The line from which on all is quoted; null when nothing is. */
function cutOf(lines: string[]): number | null {
  const divided = lines.findIndex((line, at) => divider.test(line) || isHead(lines, at));
  const end = divided === -1 ? lines.length : divided;
  let first = end;
  while (first > 0 && isQuoteOrBlank(lines[first - 1] ?? '')) first -= 1;
  // Blank lines alone are no quote.
  const hasQuote = lines.slice(first, end).some((line) => /^[ \t]*>/.test(line));
  const at = hasQuote ? withAttribution(lines, first) : end;
  return at < lines.length ? at : null;
}

function isQuoteOrBlank(line: string): boolean {
  return /^[ \t]*(>.*)?$/.test(line);
}

function isHead(lines: string[], at: number): boolean {
  return head[0]?.test(lines[at] ?? '') === true && head[1]?.test(lines[at + 1] ?? '') === true;
}

/** The attribution belongs to the quote; programs break it over up to three lines. */
function withAttribution(lines: string[], first: number): number {
  let last = first - 1;
  while (last >= 0 && (lines[last] ?? '').trim() === '') last -= 1;
  for (let length = 1; length <= 3; length += 1) {
    const from = last - length + 1;
    if (from < 0) break;
    const joined = lines
      .slice(from, last + 1)
      .map((line) => line.trim())
      .join(' ');
    if (joined.length <= 600 && attribution.test(joined)) return from;
  }
  return first;
}
