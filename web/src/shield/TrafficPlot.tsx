import { useMemo } from 'react';
import type { DataOf, OperationAt } from '../../../client/index.ts';
import type { TrafficUnit } from '../data/queries/index.ts';
import { axisTime } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Text } from '../ui/index.ts';
import { Plot } from '../vps/Plot.tsx';
import { useRates } from './useRates.ts';

type Traffic = DataOf<OperationAt<'get', '/shield/v2/analytics/traffic'>>;

interface TrafficPlotProps {
  traffic: Traffic;
  unit: TrafficUnit;
  /** How long a time is shown, which is how moments are written below it. */
  period: 'hour' | 'day' | 'week' | 'month' | 'year';
  /** It goes on until now. */
  isNow: boolean;
}

const lines = ['allowed', 'dropped'] as const;

/** What came to an address over time: what was let in, and what was dropped. */
export function TrafficPlot({ traffic: { traffic, interval }, unit, period, isNow }: TrafficPlotProps) {
  const { t, language } = useText();
  const { count, inSecond, bitsInSecond } = useRates();
  const say = unit === 'pps' ? inSecond : bitsInSecond;
  // What is not over yet has no row, and is no drop to nothing.
  const rows = useMemo(
    () => traffic.filter(([time = 0]) => (time + interval * 60) * 1_000 <= Date.now()),
    [traffic, interval],
  );
  const times = useMemo(() => rows.map(([time = 0]) => time), [rows]);
  const drawn = useMemo(
    () => lines.map((name, nth) => ({ name, values: rows.map((row) => row[nth + 1] ?? 0) })),
    [rows],
  );
  const sentences = drawn.map(({ name, values }) => {
    const sum = values.reduce((before, value) => before + value, 0);
    return t(isNow ? 'charts.sentence' : 'shield.wentBy', {
      what: t(`shield.${name}`),
      now: say(values.at(-1) ?? 0),
      mean: say(sum / Math.max(1, values.length)),
      most: say(Math.max(0, ...values)),
    });
  });
  const sayTime = useMemo(() => axisTime(period, language), [period, language]);
  // The scale has little room; what it is in is said above it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it says the same as long as unit and language are
  const sayValue = useMemo(
    () => (value: number) => (unit === 'pps' ? count(value) : bitsInSecond(value)),
    [unit, language],
  );
  return (
    <>
      {sentences.map((sentence, nth) => (
        <Text key={lines[nth]} size="sm" className={`line line-${nth}`}>
          {sentence}
        </Text>
      ))}
      <Plot
        times={times}
        lines={drawn}
        label={sentences.join(' ')}
        sayTime={sayTime}
        sayValue={sayValue}
        top={null}
      />
    </>
  );
}
