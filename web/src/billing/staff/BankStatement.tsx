import { useParams } from '@tanstack/react-router';
import { bookBankEntry } from '../../../../client/generated/fields/bookBankEntry.ts';
import { dismissBankEntry } from '../../../../client/generated/fields/dismissBankEntry.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { bankEntries, bankStatement } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Facts,
  Group,
  ListPage,
  Named,
  NamedLong,
  Section,
  Text,
  Thing,
  useColumns,
} from '../../ui/index.ts';

type Entry = Schema<'BankEntry'>;

const states = ['waiting', 'booked', 'proposed', 'open', 'outgoing', 'dismissed'] as const;

/** A statement with its entries: what was booked by itself, and what waits for somebody who knows better. */
export function BankStatement() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  const path = { id: Number(id) };
  const columns = useColumns<Entry>(['name', 'text', 'amount', 'booked_on', 'state', 'outcome', 'actions'], {
    name: ({ name, iban }) => name ?? iban ?? '–',
    state: ({ state }) => t(`money.entry_${state}`),
    actions: (entry) => ['open', 'proposed'].includes(entry.state) && <Acts statement={path.id} of={entry} />,
  });
  return (
    <Thing title={t('staff.statements')} query={bankStatement(path)}>
      {({ statement }) => (
        <ListPage
          title={statement.name}
          empty={t('empty.bankEntries')}
          list={(filter) => bankEntries(filter, path)}
          filters={[
            { name: 'state', of: states.map((value) => ({ value, label: t(`money.entry_${value}`) })) },
          ]}
          columns={columns}
        >
          <Section title={statement.account}>
            <Facts
              of={statement.entries}
              names={['booked', 'proposed', 'open', 'dismissed', 'outgoing', 'known']}
            />
          </Section>
        </ListPage>
      )}
    </Thing>
  );
}

function Acts({ statement, of: entry }: { statement: number; of: Entry }) {
  const { t } = useText();
  const path = { id: statement, entry_id: entry.id };
  const book = (body: Schema<'BankEntryBooking'>) =>
    client.post('/staff/bank-statements/{id}/entries/{entry_id}/book', { path, body });
  return (
    <Group gap="xs">
      {entry.proposals.map(({ organization, invoice_ids: ids, because }) => (
        <Act
          key={`${organization.id}-${ids.join()}`}
          operation="bookBankEntry"
          label={t('money.bookFor', { name: organization.name, invoices: ids.join(', ') })}
          text={because}
          isFirst
          onAct={() =>
            book({ organization_id: organization.id, invoices: ids.map((id) => ({ invoice_id: id })) })
          }
        />
      ))}
      <Act
        operation="bookBankEntry"
        fields={bookBankEntry}
        label={t('staff.book')}
        text={t('money.bookText')}
        onAct={({ organization_id: organization, invoice_id: invoice }) =>
          book({
            ...(organization !== undefined && { organization_id: Number(organization) }),
            ...(invoice !== undefined && { invoices: [{ invoice_id: Number(invoice) }] }),
          })
        }
      >
        <Text size="sm">{entry.text}</Text>
        <Named name="organization_id" isOptional />
        <Named name="invoice_id" isOptional />
      </Act>
      <Act
        operation="dismissBankEntry"
        fields={dismissBankEntry}
        label={t('staff.dismiss')}
        onAct={({ reason = '' }) =>
          client.post('/staff/bank-statements/{id}/entries/{entry_id}/dismiss', { path, body: { reason } })
        }
      >
        <NamedLong name="reason" />
      </Act>
    </Group>
  );
}
