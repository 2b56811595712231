import type { Schema } from '../../../client/index.ts';

type Values = Schema<'RecentUsage'>['cpu_percent'];

const height = 20;

/**
 * How something went, as a line of the size of a word. It stands beside the figure that it leads to, which says it in
 * words: nobody who cannot see it misses a number.
 */
export function Spark({ values, top }: { values: Values; top?: number }) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const most = Math.max(top ?? 0, ...known, Number.MIN_VALUE);
  const width = values.length - 1;
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      {linesOf(values).map(({ from, part }) => {
        const line = part.map(
          (value, nth) => `${from + nth},${(height - (value / most) * height).toFixed(2)}`,
        );
        const end = from + part.length - 1;
        return (
          <g key={from}>
            <polygon points={`${from},${height} ${line.join(' ')} ${end},${height}`} />
            <polyline points={line.join(' ')} />
          </g>
        );
      })}
    </svg>
  );
}

/** The values as lines, with a gap where nothing is known; a single value is a dash as long as a step. */
function linesOf(values: Values): { from: number; part: number[] }[] {
  const lines: { from: number; part: number[] }[] = [];
  for (const [nth, value] of values.entries()) {
    if (value === null) continue;
    const last = lines.at(-1);
    if (last !== undefined && last.from + last.part.length === nth) last.part.push(value);
    else lines.push({ from: nth, part: [value] });
  }
  return lines.map(({ from, part: [only = 0, ...rest] }) => ({
    from: rest.length === 0 ? Math.max(0, from - 1) : from,
    part: rest.length === 0 ? [only, only] : [only, ...rest],
  }));
}
