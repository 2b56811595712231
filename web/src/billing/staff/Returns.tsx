import { cancelCreditReturn } from '../../../../client/generated/fields/cancelCreditReturn.ts';
import { finishCreditReturn } from '../../../../client/generated/fields/finishCreditReturn.ts';
import { settleDispute } from '../../../../client/generated/fields/settleDispute.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { creditReturns, disputes, refunds } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, LinkTo, ListPage, Named, NamedLong, useColumns } from '../../ui/index.ts';

export function Refunds() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffRefund'>>([
    'organization',
    'invoice_id',
    'amount',
    'method',
    'state',
    'reason',
    'created_at',
  ]);
  return (
    <ListPage
      title={t('staff.refunds')}
      empty={t('empty.refunds')}
      list={refunds}
      filters={[
        { name: 'state', of: ['pending', 'done', 'failed'] },
        { name: 'organization_id' },
        { name: 'invoice_id' },
      ]}
      columns={columns}
    />
  );
}

export function Disputes() {
  const { t } = useText();
  const columns = useColumns<Schema<'Dispute'>>(
    [
      'organization',
      'invoice_id',
      'amount',
      'reason',
      'state',
      'answer_by',
      'opened_at',
      'unclear',
      'actions',
    ],
    {
      actions: ({ id, unclear }) =>
        Number(unclear) > 0 && (
          <Act
            operation="settleDispute"
            fields={settleDispute}
            label={t('money.settle')}
            text={t('money.settleText')}
            onAct={({ credit = '', reason = '' }) =>
              client.post('/staff/disputes/{id}/settle', { path: { id }, body: { credit, reason } })
            }
          >
            <Named name="credit" value={unclear} />
            <NamedLong name="reason" help={t('customers.toldHelp')} />
          </Act>
        ),
    },
  );
  return (
    <ListPage
      title={t('staff.disputes')}
      empty={t('empty.disputes')}
      text={t('money.disputesText')}
      list={disputes}
      filters={[{ name: 'state', of: ['asked', 'open', 'won', 'lost'] }, { name: 'organization_id' }]}
      columns={columns}
    />
  );
}

/** Credit that goes back to its organization's bank account, by a transfer that somebody makes. */
export function CreditReturns() {
  const { t } = useText();
  const columns = useColumns<Schema<'CreditReturn'>>(
    ['organization', 'amount', 'reason', 'state', 'paid_on', 'created_at', 'actions'],
    {
      organization: ({ organization: { id, name } }) => (
        <LinkTo to="/staff/organizations/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
      actions: ({ id, state }) =>
        state === 'open' && (
          <Group gap="xs">
            <Act
              operation="finishCreditReturn"
              fields={finishCreditReturn}
              label={t('money.returned')}
              text={t('money.returnedText')}
              onAct={({ paid_on: day = '' }) =>
                client.post('/staff/credit-returns/{id}/done', { path: { id }, body: { paid_on: day } })
              }
            >
              <Named name="paid_on" type="date" />
            </Act>
            <Act
              operation="cancelCreditReturn"
              fields={cancelCreditReturn}
              label={t('money.keepCredit')}
              text={t('money.keepCreditText')}
              isDangerous
              onAct={({ reason = '' }) =>
                client.post('/staff/credit-returns/{id}/cancel', { path: { id }, body: { reason } })
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
      title={t('staff.creditReturns')}
      empty={t('empty.creditReturns')}
      text={t('money.creditReturnsText')}
      list={creditReturns}
      filters={[{ name: 'state', of: ['open', 'done', 'cancelled'] }, { name: 'organization_id' }]}
      columns={columns}
    />
  );
}
