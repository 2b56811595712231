import { Text } from '@mantine/core';
import type { Schema } from '../../../client/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { List } from './List.tsx';

type Difference = Schema<'HardwareDifference'>;

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
          { name: t('server.was'), cell: ({ was }) => was ?? t('server.notThere') },
          { name: t('server.is'), cell: ({ is }) => is ?? t('server.notThere') },
          { name: t('server.seen'), cell: (each) => moment(each.seen_at, language) },
        ]}
        error={null}
        onRetry={() => undefined}
        empty={null}
      />
    </>
  );
}
