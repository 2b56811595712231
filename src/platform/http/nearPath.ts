import { editsBetween } from './nearest.ts';

const mostSegments = 12;
const tooFar = 2;

/** What is left out easily, and how far away that is. */
const forgotten: Record<string, number> = { api: 0.5, dashboard: 0.6, account: 0.9, vps: 0.9 };

/**
 * The path that somebody probably meant, with the ids that they wrote where it has parameters:
 * `/services/5/vps/start` becomes `/api/dashboard/service/5/vps/start`. Null when none is near.
 */
export function nearPath(sent: string, known: readonly string[]): string | null {
  const words = sent.split('/').filter((word) => word !== '' && !/^v\d$/.test(word));
  if (words.length === 0 || words.length > mostSegments) return null;
  let best: string | null = null;
  let least = tooFar + 0.01;
  for (const pattern of known) {
    const found = overlay(words, pattern.split('/').filter(Boolean));
    if (found.cost < least) [best, least] = [`/${found.path.join('/')}`, found.cost];
  }
  return best;
}

interface Fit {
  cost: number;
  path: string[];
}

/** Lays what was sent over a pattern: a segment may be misspelt, or be missing in what was sent. */
function overlay(words: readonly string[], pattern: readonly string[]): Fit {
  const none: Fit = { cost: Number.POSITIVE_INFINITY, path: [] };
  const from = (word: number, segment: number): Fit => {
    const wanted = pattern[segment];
    if (wanted === undefined) return word === words.length ? { cost: 0, path: [] } : none;
    const left = pattern.length - segment - (words.length - word);
    if (left < 0) return none;
    const sent = words[word];
    const taken =
      sent === undefined ? none : add(costOf(sent, wanted), sent, wanted, from(word + 1, segment + 1));
    const costToSkip = forgotten[wanted];
    if (left === 0 || costToSkip === undefined) return taken;
    const skipped = add(costToSkip, wanted, wanted, from(word, segment + 1));
    return skipped.cost < taken.cost ? skipped : taken;
  };
  return from(0, 0);
}

function add(cost: number, sent: string, wanted: string, rest: Fit): Fit {
  return {
    cost: cost + rest.cost,
    path: [wanted.startsWith(':') ? shown(sent, wanted) : wanted, ...rest.path],
  };
}

/** An id as it was sent. Anything else may be a key in the wrong place, which no answer repeats. */
function shown(sent: string, wanted: string): string {
  return /^\d{1,16}$/.test(sent) ? sent : `{${wanted.slice(1)}}`;
}

function costOf(sent: string, wanted: string): number {
  if (wanted.startsWith(':')) return /^[\w.~-]{1,64}$/.test(sent) ? 0.05 : Number.POSITIVE_INFINITY;
  const word = sent.toLowerCase();
  if (word === wanted) return sent === wanted ? 0 : 0.1;
  const edits = editsBetween(word, wanted);
  return edits <= Math.max(1, Math.floor(wanted.length / 3)) ? 0.3 * edits : Number.POSITIVE_INFINITY;
}
