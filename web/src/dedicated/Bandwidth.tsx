import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Schema } from '../../../client/index.ts';
import {
  type BandwidthPeriod,
  bandwidthSteps,
  serverBandwidth,
  serverBandwidthSummary,
  service,
} from '../data/queries/index.ts';
import { axisTime, decimal, gigabytes } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { trafficTerms } from '../text/trafficTerms.ts';
import {
  Fact,
  NativeSelect,
  Progress,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
} from '../ui/index.ts';
import { Plot } from '../vps/Plot.tsx';

const periods = Object.keys(bandwidthSteps) as BandwidthPeriod[];
const ways = ['netin', 'netout'] as const;

/** What went through the ports of a server: this month so far, and drawn over time. */
export function Bandwidth() {
  const { t } = useText();
  const id = Number(useParams({ from: '/in/services/$id' }).id);
  const { data: found } = useQuery(service(id));
  // The page around it offers it where there is a server alone; an address is typed by anybody.
  if (!found?.on_server) return <Text>{t('bandwidth.nowhere')}</Text>;
  return (
    <Stack gap="lg">
      <Month id={id} />
      <OverTime id={id} />
    </Stack>
  );
}

function Month({ id }: { id: number }) {
  const { t, language } = useText();
  const { data, error, refetch } = useQuery(serverBandwidthSummary(id));
  return (
    <Section title={t('bandwidth.month')}>
      {data === undefined &&
        (error ? <Refusal error={error} onRetry={() => void refetch()} /> : <Skeleton height={80} />)}
      {data !== undefined && (
        <SimpleGrid cols={{ base: 1, xs: 3 }}>
          <Fact name={t('machine.traffic')}>
            <Used of={data} />
          </Fact>
          {(['percentile95_in_mbps', 'percentile95_out_mbps'] as const).map((name) => (
            <Fact key={name} name={t(`bandwidth.${name}`)}>
              {data[name] === null
                ? t('bandwidth.notMeasured')
                : t('bandwidth.mbps', { rate: decimal(data[name], language) })}
            </Fact>
          ))}
        </SimpleGrid>
      )}
      {data?.terms != null && (
        <Text size="sm">
          {trafficTerms(data.terms, t, language)}
          {data.monthlyLimitTB !== null &&
            data.monthlyLimitTB < data.terms.included &&
            ` ${t('bandwidth.partOfMonth', { part: gigabytes(data.monthlyLimitTB * 1_000, language) })}`}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {t('bandwidth.monthText')}
      </Text>
    </Section>
  );
}

function Used({ of }: { of: Schema<'DedicatedBandwidthSummary'> }) {
  const { t, language } = useText();
  const { monthlyUsageGB: usedGb, monthlyUsageTB: usedTb, monthlyLimitTB: limitTb } = of;
  if (limitTb === null) return gigabytes(usedGb, language);
  const total = gigabytes(limitTb * 1_000, language);
  return (
    <>
      {t('machine.of', { used: gigabytes(usedGb, language), total })}
      <Progress
        value={Math.min(100, (usedTb / Math.max(limitTb, 0.001)) * 100)}
        aria-label={t('machine.traffic')}
        color="brand"
        mt={4}
      />
    </>
  );
}

function OverTime({ id }: { id: number }) {
  const { t } = useText();
  const { period = 'day' } = useSearch({ from: '/in/services/$id/bandwidth' });
  const navigate = useNavigate({ from: '/services/$id/bandwidth' });
  const read = useQuery(serverBandwidth(id, period));
  const points = read.data?.points;
  return (
    <Section title={t('bandwidth.overTime')}>
      <NativeSelect
        label={t('charts.period')}
        maw={240}
        value={period}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: { period: periods.find((each) => each === value) }, replace: true })
        }
        data={periods.map((value) => ({ value, label: t(`charts.${value}`) }))}
      />
      {read.error !== null && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isPending && <Skeleton height={240} />}
      {points?.length === 0 && <Text c="dimmed">{t('bandwidth.none')}</Text>}
      {points !== undefined && points.length > 0 && <Drawn points={points} period={period} />}
    </Section>
  );
}

function Drawn({ points, period }: { points: Schema<'BandwidthPoint'>[]; period: BandwidthPeriod }) {
  const { t, language } = useText();
  const series = useMemo(() => seriesOf(points, bandwidthSteps[period]), [points, period]);
  const sayTime = useMemo(() => axisTime(period, language), [period, language]);
  // Beside the scale there is room for a number alone; the heading has its unit.
  const sayValue = useMemo(() => (value: number) => decimal(value, language), [language]);
  const sayRate = (value: number) => t('bandwidth.mbps', { rate: decimal(value, language) });
  const lines = useMemo(() => ways.map((way) => ({ name: way, values: series[way] })), [series]);
  const sentences = ways.map((way) => {
    const known = series[way].filter((value) => value !== null);
    return t('charts.sentence', {
      what: t(`charts.${way}`),
      now: sayRate(known.at(-1) ?? 0),
      mean: sayRate(known.reduce((before, value) => before + value, 0) / Math.max(1, known.length)),
      most: sayRate(Math.max(0, ...known)),
    });
  });
  return (
    <>
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
        top={null}
      />
    </>
  );
}

/** Points as lines in Mbit/s, with a gap where nothing was measured. */
function seriesOf(points: readonly Schema<'BandwidthPoint'>[], step: number) {
  const series = { times: [] as number[], netin: [] as (number | null)[], netout: [] as (number | null)[] };
  for (const { time, netin, netout } of points) {
    const before = series.times.at(-1);
    if (before !== undefined && time - before > step * 1.5) {
      series.times.push(before + step);
      series.netin.push(null);
      series.netout.push(null);
    }
    series.times.push(time);
    series.netin.push(mbps(netin));
    series.netout.push(mbps(netout));
  }
  return series;
}

function mbps(bytesPerSecond: number): number {
  return (bytesPerSecond * 8) / 1_000_000;
}
