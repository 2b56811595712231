import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { bankStatements } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, FileField, LinkTo, ListPage, useColumns } from '../../ui/index.ts';

export function BankStatements() {
  const { t } = useText();
  const columns = useColumns<Schema<'BankStatement'>>(['name', 'account', 'entries', 'open', 'created_at'], {
    name: ({ id, name }) => (
      <LinkTo to="/staff/bank-statements/$id" params={{ id: String(id) }}>
        {name}
      </LinkTo>
    ),
    entries: ({ entries }) => t('money.entries', { booked: entries.booked, known: entries.known }),
    open: ({ entries }) => entries.open + entries.proposed + entries.waiting,
  });
  return (
    <ListPage
      title={t('staff.statements')}
      empty={t('empty.bankStatements')}
      text={t('money.statementsText')}
      list={bankStatements}
      columns={columns}
      aside={
        <Act
          operation="receiveBankStatement"
          label={t('money.upload')}
          size="sm"
          isFirst
          onAct={async (_values, { statement = [] }) => {
            for (const { file } of statement)
              await client.upload('/staff/bank-statements', file, 'application/xml');
          }}
        >
          <FileField name="statement" label={t('money.statement')} help={t('money.statementHelp')} />
        </Act>
      }
    />
  );
}
