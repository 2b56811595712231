const longest = 60;

/** The word of a list that somebody probably meant; null when none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  const meant = usual[plain(word)];
  if (meant !== undefined && known.includes(meant)) return meant;
  let best: string | null = null;
  let fewest = Math.max(1, Math.floor(Math.min(word.length, 12) / 3)) + 1;
  for (const candidate of known) {
    const edits = editsBetween(plain(word), plain(candidate));
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return best;
}

/** Names that other APIs have for what ours calls otherwise. */
const usual: Record<string, string> = {
  perpage: 'limit',
  pagesize: 'limit',
  size: 'limit',
  count: 'limit',
  offset: 'page',
  after: 'cursor',
  nextcursor: 'cursor',
  q: 'search',
  query: 'search',
  order: 'sort',
  orderby: 'sort',
  sortby: 'sort',
  coupon: 'coupon_code',
};

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** How many letters have to be added, left out, replaced or swapped with their neighbour. */
export function editsBetween(a: string, b: string): number {
  if (a.length > longest || b.length > longest) return longest;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let edits = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + same);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits = Math.min(edits, at(before, j - 2) + 1);
      next.push(edits);
    }
    [before, row] = [row, next];
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? longest;
}
