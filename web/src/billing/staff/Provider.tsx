import { bookUnknownPayment } from '../../../../client/generated/fields/bookUnknownPayment.ts';
import { dismissUnknownPayment } from '../../../../client/generated/fields/dismissUnknownPayment.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { payouts, unknownPayments } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, ListPage, Named, NamedLong, useColumns } from '../../ui/index.ts';

export function Payouts() {
  const { t } = useText();
  const columns = useColumns<Schema<'Payout'>>(
    ['reference', 'driver', 'state', 'amount', 'fee', 'arrives_on', 'failure'],
    {
      fee: ({ fee, fee_currency: currency }) => `${fee} ${currency}`,
    },
  );
  return (
    <ListPage
      title={t('staff.payouts')}
      empty={t('empty.payouts')}
      text={t('money.payoutsText')}
      list={payouts}
      columns={columns}
    />
  );
}

export function UnknownPayments() {
  const { t } = useText();
  const columns = useColumns<Schema<'UnknownPayment'>>(
    ['reference', 'driver', 'amount', 'organization', 'state', 'reason', 'seen_at', 'actions'],
    {
      actions: ({ id, state, told_invoice_id: told }) =>
        state === 'open' && (
          <Group gap="xs">
            <Act
              operation="bookUnknownPayment"
              fields={bookUnknownPayment}
              label={t('staff.book')}
              onAct={({ invoice_id: invoice }) =>
                client.post('/staff/unknown-payments/{id}/book', {
                  path: { id },
                  body: { invoice_id: Number(invoice) },
                })
              }
            >
              <Named name="invoice_id" value={told} />
            </Act>
            <Act
              operation="dismissUnknownPayment"
              fields={dismissUnknownPayment}
              label={t('staff.dismiss')}
              onAct={({ reason = '' }) =>
                client.post('/staff/unknown-payments/{id}/dismiss', { path: { id }, body: { reason } })
              }
            >
              <NamedLong name="reason" />
            </Act>
          </Group>
        ),
    },
  );
  return (
    <ListPage
      title={t('staff.unknownPayments')}
      empty={t('empty.unknownPayments')}
      text={t('money.unknownText')}
      list={unknownPayments}
      columns={columns}
    />
  );
}
