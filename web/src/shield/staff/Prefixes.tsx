import { useInfiniteQuery } from '@tanstack/react-query';
import { addShieldPrefix } from '../../../../client/generated/fields/addShieldPrefix.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { shieldEdges, shieldPrefixes } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, LinkTo, ListPage, Named, NamedChoice, useColumns } from '../../ui/index.ts';

/** The networks that routers in front may be told of. */
export function ShieldPrefixes() {
  const { t } = useText();
  const { data } = useInfiniteQuery(shieldEdges({ kind: 'routers' }));
  const routers = data?.pages.flatMap(({ items }) => items);
  const columns = useColumns<Schema<'ShieldPrefix'>>(['network', 'edge', 'created_at', 'actions'], {
    edge: ({ edge }) => (
      <LinkTo to="/staff/shield-edges/$id" params={{ id: String(edge.id) }}>
        {edge.name}
      </LinkTo>
    ),
    actions: (prefix) => <Remove of={prefix} />,
  });
  return (
    <ListPage
      title={t('staff.shieldPrefixes')}
      text={t('edges.prefixesText')}
      empty={t(routers?.length === 0 ? 'edges.noRouters' : 'empty.shieldPrefixes')}
      list={shieldPrefixes}
      filters={[{ name: 'edge_id', of: (routers ?? []).map(named) }]}
      columns={columns}
      aside={<Add hasRouters={routers?.length !== 0} />}
    />
  );
}

const named = ({ id, name }: { id: number; name: string }) => ({ value: String(id), label: name });

function Add({ hasRouters }: { hasRouters: boolean }) {
  const { t } = useText();
  return (
    <Act
      operation="addShieldPrefix"
      fields={addShieldPrefix}
      label={t('edges.newPrefix')}
      size="sm"
      isFirst
      action={{ allowed: hasRouters, reason: hasRouters ? null : t('edges.noRouters') }}
      of={{ read: routersNow }}
      onAct={({ edge_id: edge, network = '' }) =>
        client.post('/staff/shield/prefixes', { body: { edge_id: Number(edge), network } })
      }
    >
      {(routers) => (
        <>
          <NamedChoice name="edge_id" of={routers.map(named)} />
          <Named name="network" help={t('edges.networkHelp')} />
        </>
      )}
    </Act>
  );
}

async function routersNow() {
  const now: Schema<'ShieldEdge'>[] = [];
  for await (const each of client.all('/staff/shield/edges', 'edges', { query: { kind: 'routers' } }))
    now.push(each);
  return { now, tag: undefined };
}

function Remove({ of: { id, network } }: { of: Schema<'ShieldPrefix'> }) {
  const { t } = useText();
  const path = { id };
  return (
    <Act
      operation="removeShieldPrefix"
      label={t('staff.delete')}
      text={t('edges.removePrefixText')}
      name={network}
      isDangerous
      of={drawnOf('/staff/shield/prefixes/{id}', { path })}
      onAct={(_values, _files, ifMatch) => client.delete('/staff/shield/prefixes/{id}', { path, ifMatch })}
    />
  );
}
