import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import {
  shieldTraffic,
  type TrafficTime,
  type TrafficUnit,
  trafficTimes,
  trafficUnits,
} from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Group, NativeSelect, Refusal, Section, Skeleton, Text } from '../ui/index.ts';
import { TrafficPlot } from './TrafficPlot.tsx';

const times = Object.keys(trafficTimes) as TrafficTime[];

/** What came to an address, drawn over time. */
export function Traffic() {
  const { t } = useText();
  const { ip } = useParams({ from: '/in/shield/addresses/$ip' });
  const { time = 'hour', unit = 'bps' }: { time?: TrafficTime; unit?: TrafficUnit } = useSearch({
    from: '/in/shield/addresses/$ip/traffic',
  });
  const navigate = useNavigate({ from: '/shield/addresses/$ip/traffic' });
  const read = useQuery(shieldTraffic(ip, { unit, time: trafficTimes[time] }));
  const nothing = read.data?.traffic.every(([, allowed = 0, dropped = 0]) => allowed + dropped === 0);
  return (
    <Section title={t('shield.tab_traffic')}>
      <Group gap="sm" align="end">
        <NativeSelect
          label={t('charts.period')}
          value={time}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: { unit, time: times.find((each) => each === value) },
              replace: true,
            })
          }
          data={times.map((value) => ({ value, label: t(`charts.${value}`) }))}
        />
        <NativeSelect
          label={t('shield.unit')}
          value={unit}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: { time, unit: trafficUnits.find((each) => each === value) },
              replace: true,
            })
          }
          data={trafficUnits.map((value) => ({ value, label: t(`shield.unit_${value}`) }))}
        />
      </Group>
      {read.error !== null && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isPending && <Skeleton height={260} />}
      {nothing === true && <Text c="dimmed">{t('shield.noTraffic')}</Text>}
      {read.data !== undefined && nothing === false && (
        <div aria-busy={read.isPlaceholderData}>
          <TrafficPlot traffic={read.data} unit={unit} period={time} isNow />
        </div>
      )}
    </Section>
  );
}
