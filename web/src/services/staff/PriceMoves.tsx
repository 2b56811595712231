import { useParams } from '@tanstack/react-router';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { priceMoveServices, priceMoves } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, LinkTo, ListPage, useColumns } from '../../ui/index.ts';

export function PriceMoves() {
  const { t } = useText();
  const columns = useColumns<Schema<'PriceMove'>>(
    ['product', 'from', 'state', 'services', 'created_at', 'actions'],
    {
      product: ({ id, product }) => (
        <LinkTo to="/staff/price-moves/$id" params={{ id: String(id) }}>
          {product.name}
        </LinkTo>
      ),
      state: ({ state }) => t(`money.move_${state}`),
      services: ({ services }) =>
        t('money.moved', { moved: services.moved, waiting: services.waiting + services.told }),
      actions: ({ id, state }) =>
        ['preparing', 'announced'].includes(state) && (
          <Act
            operation="revokePriceMove"
            label={t('money.revoke')}
            text={t('money.revokeText')}
            isDangerous
            onAct={() => client.post('/staff/price-moves/{id}/revoke', { path: { id } })}
          />
        ),
    },
  );
  return (
    <ListPage
      title={t('staff.priceMoves')}
      empty={t('empty.priceMoves')}
      text={t('money.movesText')}
      list={priceMoves}
      columns={columns}
    />
  );
}

type Moved = Schema<'PriceMoveServiceList'>['services'][number];

export function PriceMoveServices() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  const columns = useColumns<Moved>(
    ['hostname', 'organization', 'cycle', 'price_before', 'price_after', 'counts_on'],
    {
      hostname: ({ service }) => (
        <LinkTo to="/staff/services/$id" params={{ id: String(service.id) }}>
          {service.hostname ?? t('services.untitled', { id: service.id })}
        </LinkTo>
      ),
    },
  );
  return (
    <ListPage
      title={t('money.movedServices')}
      empty={t('empty.movedServices')}
      list={(filter) => priceMoveServices(filter, { id: Number(id) })}
      columns={columns}
      keyOf={({ service }) => service.id}
    />
  );
}
