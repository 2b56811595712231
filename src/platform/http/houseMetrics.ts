import { type Context, transaction } from '../context.ts';
import { statement } from '../database/index.ts';
import { causesOf } from '../log.ts';
import type { MeasureDeclaration, MeasureSource, Sample } from '../measures.ts';

const freshForMs = 5_000;
const answersWithinMs = 2_000;
const forgetAfterMs = 30_000;

const setPatience = statement<{ patience: string }>(
  'http.setPatience',
  `select set_config('statement_timeout', '${answersWithinMs}', true) as patience`,
);

const about: MeasureDeclaration[] = [
  {
    name: 'house_measured',
    help: 'Whether what is counted in the database could be counted for this answer (1) or not (0).',
  },
  { name: 'house_measure_duration_seconds', help: 'How long the last counting in the database took.' },
];

/**
 * What the rooms count of the whole house, in Prometheus' words; every process with an API says the same. It is read
 * at most every five seconds, one reading at a time, over one connection, and whoever asks has an answer within two
 * seconds. What was not counted for half a minute is left out: an old number looks like a good one.
 */
export function measureHouse(ctx: Context, sources: readonly MeasureSource[]): () => Promise<string> {
  let samples: Sample[] = [];
  let reading: Promise<void> | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let tookS = 0;

  const read = async (): Promise<void> => {
    triedAtMs = performance.now();
    samples = await transaction(ctx, 'http.measureHouse', async (tx) => {
      await tx.db.one(setPatience);
      const found: Sample[][] = [];
      for (const source of sources) found.push(await source.read(tx));
      return found.flat();
    });
    readAtMs = performance.now();
    tookS = (readAtMs - triedAtMs) / 1_000;
  };

  return async () => {
    if (performance.now() - triedAtMs > freshForMs) {
      reading ??= read()
        .catch((error: unknown) => ctx.log.warn({ err: causesOf(error) }, 'the house could not be measured'))
        .finally(() => {
          reading = null;
        });
    }
    if (reading !== null) await atMost(answersWithinMs, reading);
    const ageMs = performance.now() - readAtMs;
    const known = ageMs > forgetAfterMs ? [] : samples;
    const own = [
      { name: 'house_measured', value: ageMs <= 2 * freshForMs ? 1 : 0 },
      { name: 'house_measure_duration_seconds', value: tookS },
    ];
    return inText([...about, ...sources.flatMap(({ measures }) => measures)], [...own, ...known]);
  };
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** Prometheus' text format. A measure without samples is named all the same. */
function inText(measures: readonly MeasureDeclaration[], samples: readonly Sample[]): string {
  const lines: string[] = [];
  for (const { name, help } of measures) {
    const type = name.endsWith('_total') ? 'counter' : 'gauge';
    lines.push(`# HELP innkeeper_${name} ${help}`, `# TYPE innkeeper_${name} ${type}`);
    for (const sample of samples) {
      if (sample.name === name) lines.push(`innkeeper_${name}${labelsIn(sample.labels)} ${sample.value}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function labelsIn(labels: Record<string, string> | undefined): string {
  if (labels === undefined) return '';
  const escaped = (value: string) =>
    value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return `{${pairs.join(',')}}`;
}
