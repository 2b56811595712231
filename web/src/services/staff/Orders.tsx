import { refuseOrder } from '../../../../client/generated/fields/refuseOrder.ts';
import { releaseOrder } from '../../../../client/generated/fields/releaseOrder.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { orders } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, LinkTo, ListPage, NamedLong, Text, useColumns } from '../../ui/index.ts';

/** Orders, those first that a rule holds until somebody looks at them. */
export function Orders() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffOrder'>>(
    ['services', 'organization', 'number', 'total', 'review', 'reasons', 'created_at', 'actions'],
    {
      services: ({ services }) => (
        <div>
          {services.map(({ id, domain, product }) => (
            <div key={id}>
              <LinkTo to="/staff/services/$id" params={{ id: String(id) }}>
                {domain ?? product}
              </LinkTo>
              {domain !== null && (
                <Text size="xs" c="dimmed">
                  {product}
                </Text>
              )}
            </div>
          ))}
        </div>
      ),
      number: ({ id, number }) => (
        <LinkTo to="/staff/invoices/$id" params={{ id: String(id) }}>
          {number ?? t('billing.unnumbered', { id })}
        </LinkTo>
      ),
      review: ({ review }) => (review === null ? '–' : t(`money.${review.status}`)),
      reasons: ({ review }) => review?.reasons.join('; ') ?? '–',
      actions: ({ id, review }) =>
        review?.status === 'held' && (
          <Group gap="xs">
            <Act
              operation="releaseOrder"
              fields={releaseOrder}
              label={t('staff.release')}
              text={t('staff.releaseText')}
              onAct={({ note }) =>
                client.post('/staff/orders/{id}/release', { path: { id }, body: { note } })
              }
            >
              <NamedLong name="note" isOptional />
            </Act>
            <Act
              operation="refuseOrder"
              fields={refuseOrder}
              label={t('staff.refuse')}
              text={t('staff.refuseText')}
              isDangerous
              onAct={({ reason = '' }) =>
                client.post('/staff/orders/{id}/refuse', { path: { id }, body: { reason } })
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
      title={t('staff.orders')}
      empty={t('empty.orders')}
      list={orders}
      filters={[
        {
          name: 'review',
          of: (['held', 'released', 'refused'] as const).map((value) => ({
            value,
            label: t(`money.${value}`),
          })),
        },
        { name: 'organization_id' },
      ]}
      columns={columns}
    />
  );
}
