import type { Schema } from '../../../../client/index.ts';
import { payments } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { LinkTo, ListPage, useColumns } from '../../ui/index.ts';

/** Everything that paid for an invoice, in whichever way. */
export function Payments() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffPayment'>>(
    ['invoice_id', 'organization', 'amount', 'method', 'state', 'reference', 'received_on', 'created_at'],
    {
      invoice_id: ({ invoice_id: id }) => (
        <LinkTo to="/staff/invoices/$id" params={{ id: String(id) }}>
          {id}
        </LinkTo>
      ),
      organization: ({ organization: { id, name } }) => (
        <LinkTo to="/staff/organizations/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.payments')}
      text={t('money.paymentsText')}
      list={payments}
      filters={[
        { name: 'method', of: ['credit', 'bank_transfer', 'stripe', 'none'] },
        { name: 'state', of: ['received', 'disputed', 'returned'] },
        { name: 'organization_id' },
        { name: 'invoice_id' },
      ]}
      columns={columns}
    />
  );
}
