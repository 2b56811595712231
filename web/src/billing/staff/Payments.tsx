import type { Schema } from '../../../../client/index.ts';
import { payments } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { ListPage, useColumns } from '../../ui/index.ts';

/** Everything that paid for an invoice, in whichever way. */
export function Payments() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffPayment'>>([
    'organization',
    'invoice_id',
    'amount',
    'method',
    'state',
    'reference',
    'received_on',
    'created_at',
  ]);
  return (
    <ListPage
      title={t('staff.payments')}
      empty={t('empty.payments')}
      text={t('money.paymentsText')}
      list={payments}
      filters={[
        { name: 'method', of: ['credit', 'bank_transfer', 'stripe', 'none'] },
        { name: 'state', of: ['received', 'disputed', 'returned'] },
        { name: 'organization_id' },
        { name: 'invoice_id' },
        { name: 'from', isDay: true },
        { name: 'to', isDay: true },
      ]}
      columns={columns}
    />
  );
}
