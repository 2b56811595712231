import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Schema } from '../../../client/index.ts';
import { serverHardware, serverSensors, service } from '../data/queries/index.ts';
import { bytes, decimal, diskKind, gigabytes, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Differs, Fact, List, Refusal, Section, SimpleGrid, Skeleton, Stack, Text } from '../ui/index.ts';

type Measured = NonNullable<Schema<'DedicatedHardware'>['hardware']>;

/** What a server has, and what its controller measures of it. */
export function Hardware() {
  const { t } = useText();
  const id = Number(useParams({ from: '/in/services/$id' }).id);
  const { data: found } = useQuery(service(id));
  // The page around it offers it where there is a server alone; an address is typed by anybody.
  if (!found?.on_server) return <Text>{t('server.none')}</Text>;
  return (
    <Stack gap="lg">
      <Has id={id} />
      <Sensors id={id} />
    </Stack>
  );
}

function Has({ id }: { id: number }) {
  const { t, language } = useText();
  const { data, error, refetch } = useQuery(serverHardware(id));
  return (
    <Section title={t('server.hardware')}>
      {data === undefined &&
        (error ? <Refusal error={error} onRetry={() => void refetch()} /> : <Skeleton height={240} />)}
      {data?.hardware === null && <Text>{t('server.notMeasured')}</Text>}
      {data?.hardware && <Parts of={data.hardware} />}
      {data && <Differs of={data.differences} />}
      {data?.measured_at && (
        <Text size="sm" c="dimmed">
          {t('server.measured', { time: moment(data.measured_at, language) })}
        </Text>
      )}
    </Section>
  );
}

function Parts({ of }: { of: Measured }) {
  const { t, language } = useText();
  const { system, processor, firmware } = of;
  const fixed = { error: null, onRetry: () => undefined };
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
        <Fact name={t('server.model')}>{[system.vendor, system.product].filter(Boolean).join(' ')}</Fact>
        <Fact name={t('server.serial')}>{system.serial}</Fact>
        <Fact name={t('server.firmware')}>
          {firmware.version} · {firmware.boot.toUpperCase()}
        </Fact>
        <Fact name={t('server.processor')}>{t('server.processorOf', processor)}</Fact>
        <Fact name={t('machine.memory')}>
          {gigabytes(of.memory_mib / 1024, language)}
          {of.memory_modules.length > 0 && ` · ${modulesOf(of, language)}`}
        </Fact>
      </SimpleGrid>
      <List
        {...fixed}
        label={t('server.disks')}
        items={of.disks}
        keyOf={({ serial }) => serial}
        empty={<Text>{t('server.noDisks')}</Text>}
        columns={[
          { name: t('server.disk'), cell: ({ model }) => model },
          { name: t('server.serial'), cell: ({ serial }) => serial },
          { name: t('server.kind'), cell: ({ kind }) => diskKind(kind) },
          {
            name: t('services.status'),
            cell: ({ healthy }) =>
              t(`server.health_${healthy === null ? 'unknown' : healthy ? 'ok' : 'bad'}`),
          },
          { name: t('server.size'), isNumber: true, cell: (disk) => bytes(disk.bytes, language) },
        ]}
      />
      <List
        {...fixed}
        label={t('server.ports')}
        items={of.ports}
        keyOf={({ mac }) => mac}
        empty={<Text>{t('server.noPorts')}</Text>}
        columns={[
          { name: t('server.port'), cell: ({ name }) => name },
          { name: t('addresses.mac'), cell: ({ mac }) => mac },
          {
            name: t('server.cable'),
            cell: ({ linked, speed_mbps: mbps }) =>
              linked && mbps !== null
                ? t('server.linkedAt', { mbps })
                : t(linked ? 'server.linked' : 'server.notLinked'),
          },
        ]}
      />
    </>
  );
}

/** `2 × 32 GB DDR4`: whoever asks for more wants to know what is in there. */
function modulesOf({ memory_modules: modules }: Measured, language: 'en' | 'de'): string {
  const counts = new Map<string, number>();
  for (const { mib, type } of modules) {
    const name = `${gigabytes(mib / 1024, language)} ${type}`.trim();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ');
}

const units = ['celsius', 'rpm', 'percent', 'watts', 'volts', 'amperes'] as const;
const isUnit = (unit: string): unit is (typeof units)[number] => units.some((each) => each === unit);

function Sensors({ id }: { id: number }) {
  const { t, language } = useText();
  const { data, error, refetch } = useQuery(serverSensors(id));
  const number = (value: number | null) => (value === null ? '–' : decimal(value, language));
  return (
    <Section title={t('server.sensors')}>
      {data?.read_at && (
        <Text size="sm" c="dimmed">
          {t(data.silent ? 'server.readSilent' : 'server.read', { time: moment(data.read_at, language) })}
        </Text>
      )}
      <List
        label={t('server.sensors')}
        items={data?.sensors}
        keyOf={({ kind, name }) => `${kind} ${name}`}
        error={error}
        onRetry={() => void refetch()}
        empty={<Text>{t('server.noSensors')}</Text>}
        columns={[
          { name: t('server.sensor'), cell: ({ name }) => name },
          {
            name: t('server.value'),
            cell: ({ value, unit }) =>
              value === null
                ? '–'
                : `${number(value)} ${isUnit(unit) ? t(`server.unit_${unit}`) : unit}`.trim(),
          },
          {
            name: t('server.limits'),
            cell: ({ limits: { lowCritical, highCritical } }) =>
              lowCritical === null && highCritical === null
                ? '–'
                : `${number(lowCritical)} … ${number(highCritical)}`,
          },
          {
            name: t('services.status'),
            cell: ({ state }) => (
              <Text {...(state === 'critical' && { fw: 600 })}>{t(`server.sensor_${state}`)}</Text>
            ),
          },
        ]}
      />
    </Section>
  );
}
