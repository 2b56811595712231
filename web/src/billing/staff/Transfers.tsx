import { takeBackBankTransfer } from '../../../../client/generated/fields/takeBackBankTransfer.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { transfers } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, LinkTo, ListPage, NamedLong, useColumns } from '../../ui/index.ts';

export function Transfers() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffBankTransfer'>>(
    ['reference', 'organization', 'amount', 'invoices', 'received_on', 'taken_back_at', 'actions'],
    {
      organization: ({ organization: { id, name } }) => (
        <LinkTo to="/staff/organizations/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
      invoices: ({ invoices }) =>
        invoices.map(({ invoice_id: id }) => (
          <LinkTo key={id} to="/staff/invoices/$id" params={{ id: String(id) }}>
            {id}{' '}
          </LinkTo>
        )),
      actions: ({ id, taken_back_at: taken }) =>
        taken === null && (
          <Act
            operation="takeBackBankTransfer"
            fields={takeBackBankTransfer}
            label={t('money.takeBack')}
            text={t('money.takeBackText')}
            isDangerous
            onAct={({ reason = '' }) =>
              client.post('/staff/transfers/{id}/take-back', { path: { id }, body: { reason } })
            }
          >
            <NamedLong name="reason" />
          </Act>
        ),
    },
  );
  return (
    <ListPage
      title={t('staff.transfers')}
      empty={t('empty.transfers')}
      text={t('money.transfersText')}
      list={transfers}
      filters={[{ name: 'search' }, { name: 'organization_id' }]}
      columns={columns}
    />
  );
}
