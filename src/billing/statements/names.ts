/** Legal forms and titles, which many have and nobody is told apart by. */
const common = new Set(
  (
    'gmbh ag kg ohg ug ev se co cokg mbh gbr ltd limited llc inc corp plc bv nv sa sarl sas srl spa oy ab as aps doo sro ' +
    'kft zrt mr mrs ms dr herr frau the und and et y e de'
  ).split(' '),
);

/** How alike two names are: 0 for nothing in common, 1 for the same words in whatever order. */
export function likeness(one: string, other: string): number {
  const [first, second] = [wordsOf(one), wordsOf(other)];
  if (first.size === 0 || second.size === 0) return 0;
  const shared = [...first].filter((word) => second.has(word)).length;
  return (2 * shared) / (first.size + second.size);
}

function wordsOf(name: string): Set<string> {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('.', '');
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !common.has(word)));
}
