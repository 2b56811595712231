import { Text } from '@mantine/core';
import type { Schema } from '../../../client/index.ts';
import { bytes, diskKind, gigabytes, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { List } from './List.tsx';

type Difference = Schema<'HardwareDifference'>;
type Part = Difference['part'];

/** What of a server is not as it was measured; nothing where nothing differs. */
export function Differs({ of: differences }: { of: readonly Difference[] }) {
  const { t, language } = useText();
  if (differences.length === 0) return null;
  return (
    <>
      <Text size="sm">{t('server.differsText')}</Text>
      <List
        label={t('server.differs')}
        items={differences}
        keyOf={({ part, name }) => `${part} ${name ?? ''}`}
        columns={[
          {
            name: t('server.part'),
            cell: ({ part, name }) => [t(`server.part_${part}`), name].filter(Boolean).join(' '),
          },
          { name: t('server.was'), cell: ({ part, before }) => <What part={part} of={before} /> },
          { name: t('server.is'), cell: ({ part, after }) => <What part={part} of={after} /> },
          { name: t('server.seen'), cell: (each) => moment(each.seen_at, language) },
        ]}
        error={null}
        onRetry={() => undefined}
        empty={null}
      />
    </>
  );
}

/** A part in the reader's language. */
function What({ part, of }: { part: Part; of: Schema<'HardwarePart'> | null }) {
  const { t, language } = useText();
  if (of === null) return t('server.notThere');
  const { model, mib } = of;
  switch (part) {
    case 'disk': {
      if (model === null) return t('server.partNotMeasured');
      const size = of.bytes === null ? null : bytes(of.bytes, language);
      const what = [of.kind === null ? null : diskKind(of.kind), size].filter(Boolean).join(', ');
      return [
        what === '' ? model : `${model} (${what})`,
        of.healthy === false ? t('server.health_bad') : null,
      ]
        .filter(Boolean)
        .join(' · ');
    }
    case 'memory':
      return [gigabytes((mib ?? 0) / 1024, language), of.type].filter(Boolean).join(' ');
    case 'processor': {
      const [cores, threads] = [of.cores ?? 0, of.threads ?? 0];
      return `${of.sockets ?? 1} × ${t('server.processorOf', { model: model ?? '', cores, threads })}`;
    }
    case 'port':
      return t('server.there');
  }
}
