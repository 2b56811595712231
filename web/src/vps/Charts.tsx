import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Schema } from '../../../client/index.ts';
import { useMeasured } from '../data/measured.ts';
import { chartPeriods, machineCharts } from '../data/queries/index.ts';
import { axisTime, bytes, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { NativeSelect, Refusal, Section, SimpleGrid, Skeleton, Stack, Text } from '../ui/index.ts';
import { Plot } from './Plot.tsx';

type Measure = Exclude<keyof Schema<'ChartPoint'>, 'time' | 'maxmem'>;

const figures = [
  { title: 'cpu', measures: ['cpu'] },
  { title: 'memory', measures: ['mem'] },
  { title: 'network', measures: ['netin', 'netout'] },
  { title: 'disk', measures: ['disk_read', 'disk_write'] },
] as const satisfies readonly { title: string; measures: readonly Measure[] }[];
type Figure = (typeof figures)[number];

/** What a machine used, drawn over time. */
export function Charts() {
  const { t, language } = useText();
  const id = Number(useParams({ from: '/in/services/$id' }).id);
  const { period = 'hour' } = useSearch({ from: '/in/services/$id/charts' });
  useMeasured(id);
  const navigate = useNavigate({ from: '/services/$id/charts' });
  const read = useQuery(machineCharts(id, period));
  const series = useMemo(() => read.data && seriesOf(read.data), [read.data]);
  return (
    <Stack gap="lg">
      <NativeSelect
        label={t('charts.period')}
        maw={240}
        value={period}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: { period: chartPeriods.find((each) => each === value) }, replace: true })
        }
        data={chartPeriods.map((value) => ({ value, label: t(`charts.${value}`) }))}
      />
      {read.error !== null && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isPending && <Skeleton height={420} />}
      {series?.times.length === 0 && <Text c="dimmed">{t('charts.none')}</Text>}
      {series !== undefined && series.times.length > 0 && (
        <SimpleGrid cols={{ base: 1, lg: 2 }} aria-busy={read.isPlaceholderData}>
          {figures.map((figure) => (
            <One key={figure.title} figure={figure} series={series} sayTime={axisTime(period, language)} />
          ))}
        </SimpleGrid>
      )}
      {series !== undefined && series.times.length > 0 && (
        <Text size="sm" c="dimmed">
          {t('charts.until', { time: moment(series.last, language) })}
        </Text>
      )}
    </Stack>
  );
}

interface Series {
  times: number[];
  last: string;
  of: Record<Measure, (number | null)[]>;
  maxMemory: number;
}

/** Points as lines, with a gap where nothing was measured. */
function seriesOf({ points, interval_s: step }: Schema<'Charts'>): Series {
  const of: Series['of'] = { cpu: [], mem: [], disk_read: [], disk_write: [], netin: [], netout: [] };
  const times: number[] = [];
  const measures = Object.keys(of) as Measure[];
  for (const point of points) {
    const time = Date.parse(point.time) / 1_000;
    const before = times.at(-1);
    if (before !== undefined && time - before > step * 1.5) {
      times.push(before + step);
      for (const measure of measures) of[measure].push(null);
    }
    times.push(time);
    for (const measure of measures) of[measure].push(point[measure]);
  }
  const last = points.at(-1);
  return { times, of, last: last?.time ?? '', maxMemory: last?.maxmem ?? 0 };
}

interface OneProps {
  figure: Figure;
  series: Series;
  sayTime: (seconds: number) => string;
}

function One({ figure: { title, measures }, series, sayTime }: OneProps) {
  const { t, language } = useText();
  const sayValue = useMemo(
    () => (value: number) => {
      if (title === 'cpu') return `${Math.round(value)} %`;
      const size = bytes(Math.round(value), language);
      return title === 'memory' ? size : `${size}/s`;
    },
    [title, language],
  );
  const lines = useMemo(
    () => measures.map((measure) => ({ name: measure, values: series.of[measure] })),
    [measures, series],
  );
  // What the lines show, in a sentence that everybody reads.
  const sentences = measures.map((measure) => {
    const known = series.of[measure].filter((value) => value !== null);
    const sum = known.reduce((before, value) => before + value, 0);
    return t('charts.sentence', {
      what: t(`charts.${measure}`),
      now: sayValue(known.at(-1) ?? 0),
      mean: sayValue(sum / Math.max(1, known.length)),
      most: sayValue(Math.max(0, ...known)),
    });
  });
  const top = { cpu: 100, memory: series.maxMemory, network: null, disk: null }[title];
  return (
    <Section title={t(`machine.${title}`)}>
      {sentences.map((sentence, nth) => (
        <Text key={sentence} size="sm" className={`line line-${nth}`}>
          {sentence}
        </Text>
      ))}
      <Plot
        times={series.times}
        lines={lines}
        label={sentences.join(' ')}
        sayTime={sayTime}
        sayValue={sayValue}
        top={top}
      />
    </Section>
  );
}
