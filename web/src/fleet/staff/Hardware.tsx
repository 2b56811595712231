import type { Schema } from '../../../../client/index.ts';
import { diskKind } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Differs, Facts, List, Section, Text, useColumns } from '../../ui/index.ts';

type Measured = Schema<'ServerHardware'>;

/** What the installer measured of a machine. */
export function Hardware({
  of: { system, firmware, processor, memory_mib: memory, disks },
  differences = [],
}: {
  of: Measured;
  differences?: readonly Schema<'HardwareDifference'>[];
}) {
  const { t } = useText();
  const columns = useColumns<Measured['disks'][number]>(
    ['serial', 'model', 'kind', 'bytes', 'firmware', 'healthy'],
    {
      kind: ({ kind }) => diskKind(kind),
      healthy: ({ healthy }) =>
        t(healthy === null ? 'racks.health_none' : healthy ? 'racks.health_ok' : 'racks.health_bad'),
    },
  );
  return (
    <Section title={t('racks.hardware')}>
      <Facts
        of={{
          system: [system.vendor, system.product, system.uuid].filter(Boolean).join(', '),
          processor: t('racks.processorOf', processor),
          ...{ memory_mib: memory, firmware: firmware.version, boot: firmware.boot.toUpperCase() },
        }}
        names={['system', 'processor', 'memory_mib', 'firmware', 'boot']}
      />
      <List
        label={t('racks.disks')}
        items={disks}
        keyOf={({ serial }) => serial}
        columns={columns}
        error={null}
        onRetry={() => undefined}
        empty={<Text c="dimmed">{t('empty.disks')}</Text>}
      />
      <Differs of={differences} />
    </Section>
  );
}
