import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { bookkeepingPeriods } from '../../data/queries/staff/index.ts';
import { saveFile } from '../../data/saveFile.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, ListPage, useColumns } from '../../ui/index.ts';

/** The months of the books, as the bookkeeper gets them. */
export function Books() {
  const { t } = useText();
  const save = async (month: string, format: 'csv' | 'datev') =>
    saveFile(
      await client.file('/staff/bookkeeping/export', { query: { month, format } }),
      `books-${month}-${format}.csv`,
    );
  const columns = useColumns<Schema<'BookkeepingPeriod'>>(
    ['month', 'state', 'transactions', 'closed_at', 'actions'],
    {
      state: ({ state }) => t(`money.month_${state}`),
      actions: ({ month }) => (
        <Group gap="xs">
          <Act operation="exportBookkeeping" label="CSV" onAct={() => save(month, 'csv')} />
          <Act operation="exportBookkeeping" label="DATEV" onAct={() => save(month, 'datev')} />
        </Group>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.books')}
      empty={t('empty.books')}
      text={t('money.booksText')}
      list={bookkeepingPeriods}
      columns={columns}
      keyOf={({ month }) => month}
    />
  );
}
