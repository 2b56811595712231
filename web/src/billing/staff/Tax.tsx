import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { addTaxRate } from '../../../../client/generated/fields/addTaxRate.ts';
import { endTaxRate } from '../../../../client/generated/fields/endTaxRate.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { taxRates, taxReport } from '../../data/queries/staff/index.ts';
import { saveFile } from '../../data/saveFile.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Group,
  List,
  ListPage,
  Named,
  NativeSelect,
  Page,
  Section,
  Text,
  useColumns,
} from '../../ui/index.ts';

export function TaxRates() {
  const { t } = useText();
  const columns = useColumns<Schema<'TaxRate'>>(['country', 'rate', 'valid_from', 'valid_until', 'actions'], {
    actions: ({ id, country, valid_until: until }) => (
      <Group gap="xs">
        {until === null && (
          <Act
            operation="endTaxRate"
            fields={endTaxRate}
            label={t('money.end')}
            text={t('money.endRateText')}
            onAct={({ valid_until: last = '' }) =>
              client.post('/staff/tax/rates/{id}/end', { path: { id }, body: { valid_until: last } })
            }
          >
            <Named name="valid_until" type="date" />
          </Act>
        )}
        <Act
          operation="removeTaxRate"
          label={t('staff.delete')}
          text={t('money.removeRateText', { country })}
          isDangerous
          onAct={() => client.delete('/staff/tax/rates/{id}', { path: { id } })}
        />
      </Group>
    ),
  });
  return (
    <ListPage
      title={t('staff.taxRates')}
      empty={t('empty.taxRates')}
      list={taxRates}
      filters={[{ name: 'country' }]}
      columns={columns}
      aside={
        <Act
          operation="addTaxRate"
          fields={addTaxRate}
          label={t('money.newRate')}
          size="sm"
          isFirst
          onAct={({ country = '', rate = '', valid_from: from = '' }) =>
            client.post('/staff/tax/rates', { body: { country, rate, valid_from: from } })
          }
        >
          <Named name="country" />
          <Named name="rate" />
          <Named name="valid_from" type="date" />
        </Act>
      }
    />
  );
}

/** The last eight quarters, the one that is under way first. */
function quarters(): string[] {
  const now = new Date();
  const current = now.getUTCFullYear() * 4 + Math.floor(now.getUTCMonth() / 3);
  return Array.from({ length: 8 }, (_, back) => {
    const quarter = current - back;
    return `${Math.floor(quarter / 4)}-Q${(quarter % 4) + 1}`;
  });
}

type Row = Schema<'TaxReport'>['rows'][number] & { id: string };

export function TaxReport() {
  const { t } = useText();
  const all = quarters();
  const [quarter, setQuarter] = useState(all[0] ?? '');
  const read = useQuery(taxReport({}, { quarter }));
  const rows = useColumns<Row>([
    ...(['country', 'treatment', 'rate', 'consumer', 'invoices', 'net', 'tax'] as const),
    ...(['returned_net', 'returned_tax', 'tax_due', 'unproven'] as const),
  ]);
  const totals = useColumns<Schema<'TaxReport'>['totals'][number]>([
    'currency',
    'tax_due',
    'ledger',
    'difference',
  ]);
  const shared = {
    error: read.error,
    onRetry: () => void read.refetch(),
    empty: <Text c="dimmed">{t('empty.taxReport')}</Text>,
  };
  return (
    <Page
      title={t('staff.taxReport')}
      aside={
        <>
          <NativeSelect
            aria-label={t('money.quarter')}
            value={quarter}
            onChange={({ currentTarget: { value } }) => setQuarter(value)}
            data={all}
          />
          <Act
            operation="exportTaxReport"
            label={t('money.export')}
            size="sm"
            onAct={async () =>
              saveFile(
                await client.file('/staff/tax/report/csv', { query: { quarter } }),
                `tax-${quarter}.csv`,
              )
            }
          />
        </>
      }
    >
      <Section title={t('money.totals')}>
        <List
          {...shared}
          label={t('money.totals')}
          items={read.data?.totals}
          keyOf={({ currency }) => currency}
          columns={totals}
        />
      </Section>
      <Section title={t('money.rows')}>
        <List
          {...shared}
          label={t('money.rows')}
          items={read.data?.rows.map((row, index) => ({ ...row, id: String(index) }))}
          keyOf={({ id }) => id}
          columns={rows}
        />
      </Section>
    </Page>
  );
}
