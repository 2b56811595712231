import { readFileSync } from 'node:fs';
import os from 'node:os';
import { type Spread, spreadOf } from './measure.ts';

/** One line of the table. */
export interface Figure {
  name: string;
  /** What it is measured against. */
  against: string;
  /** Ratio, or a plain amount where there is nothing to compare with. */
  value: Spread;
  unit: 'ratio' | 's' | 'ms' | 'B' | 'kB' | 'MiB' | '% of a core' | '/s';
  /** The bound it has to keep; null where none was set. */
  target: { atLeast: number } | { atMost: number } | null;
  /** The amounts behind the ratio. */
  amounts: string;
  /** What limits it. */
  limit: string;
}

export function keeps({ target, value }: Figure): boolean | null {
  if (target === null) return null;
  return 'atLeast' in target ? value.median >= target.atLeast : value.median <= target.atMost;
}

/** The table as the README shows it. */
export function asTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    `**${amount(figure.value.median, figure.unit)}**`,
    `${amount(figure.value.min, figure.unit)}–${amount(figure.value.max, figure.unit)}`,
    targetOf(figure),
    figure.against,
    figure.amounts,
    figure.limit,
  ]);
  const head = ['Figure', 'Median', 'Spread', 'Target', 'Against', 'Amounts', 'What limits it'];
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function targetOf(figure: Figure): string {
  if (figure.target === null) return '–';
  const bound =
    'atLeast' in figure.target
      ? `≥ ${amount(figure.target.atLeast, figure.unit)}`
      : `≤ ${amount(figure.target.atMost, figure.unit)}`;
  return keeps(figure) === true ? bound : `${bound}, **not met**`;
}

function amount(value: number, unit: Figure['unit']): string {
  if (unit === 'ratio') return value.toFixed(2);
  if (unit === '/s') return perSecond(value);
  if (unit === '% of a core') return `${value.toFixed(1)} %`;
  return `${value >= 100 ? Math.round(value) : value.toFixed(value >= 10 ? 1 : 2)} ${unit}`;
}

export function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString('en')}/s`;
}

/** Kind of machine and date: figures mean nothing without. */
export function conditions(quick: boolean): string {
  const model = /^model name\s*:\s*(.+)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? os.arch();
  const memoryGib = Math.round(os.totalmem() / 2 ** 30);
  return (
    `${new Date().toISOString().slice(0, 10)}, ${os.availableParallelism()} cores of ${model}, ${memoryGib} GiB, ` +
    `Linux ${os.release()}, Node ${process.versions.node}, load before ${startLoad.toFixed(1)}` +
    (quick ? ', `--quick`' : '')
  );
}

const startLoad = os.loadavg()[0] ?? 0;

/** A figure of the time that an action takes besides the machine. */
export function inTime(name: string, against: string, ms: number[], limit: string): Figure {
  return {
    name,
    against,
    value: spreadOf(ms),
    unit: 'ms',
    target: { atMost: 100 },
    amounts: `${ms.length} times`,
    limit,
  };
}
