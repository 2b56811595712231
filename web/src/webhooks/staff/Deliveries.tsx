import type { Schema } from '../../../../client/index.ts';
import { allDeliveries } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { ListPage, useColumns } from '../../ui/index.ts';

export function AllDeliveries() {
  const { t } = useText();
  const columns = useColumns<Schema<'WebhookDeliveryOf'>>(
    ['event', 'organization_id', 'webhook_id', 'state', 'tries', 'next_try_at', 'created_at'],
    { state: ({ state }) => t(`running.delivery_${state}`) },
  );
  return (
    <ListPage
      title={t('staff.deliveries')}
      empty={t('empty.deliveries')}
      list={allDeliveries}
      filters={[
        {
          name: 'state',
          of: (['waiting', 'delivered', 'failed'] as const).map((value) => ({
            value,
            label: t(`running.delivery_${value}`),
          })),
        },
        { name: 'organization_id' },
      ]}
      columns={columns}
    />
  );
}
