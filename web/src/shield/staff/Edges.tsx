import type { Schema } from '../../../../client/index.ts';
import { shieldEdges } from '../../data/queries/staff/index.ts';
import { isText, useText } from '../../text/index.ts';
import { LinkTo, ListPage, useColumns } from '../../ui/index.ts';
import { EdgeHealth, EdgeState } from './EdgeHealth.tsx';

type Edge = Schema<'ShieldEdge'>;

const kinds = ['node', 'router', 'routers'] as const;

/** What stands in front of addresses, how it is and what it can. */
export function ShieldEdges() {
  const { t } = useText();
  const can = useSayCan();
  const columns = useColumns<Edge>(['name', 'kind', 'state', 'health', 'capabilities'], {
    name: ({ id, name }) => (
      <LinkTo to="/staff/shield-edges/$id" params={{ id: String(id) }}>
        {name}
      </LinkTo>
    ),
    kind: ({ kind }) => t(`edges.kind_${kind}`),
    state: (edge) => <EdgeState of={edge} />,
    health: (edge) => <EdgeHealth of={edge} />,
    capabilities: (edge) => can(edge).join(' · ') || null,
  });
  return (
    <ListPage
      title={t('staff.shieldEdges')}
      empty={t('empty.shieldEdges')}
      list={shieldEdges}
      filters={[{ name: 'kind', of: kinds.map((value) => ({ value, label: t(`edges.kind_${value}`) })) }]}
      columns={columns}
    />
  );
}

/** What an edge can, in words; what routers can is what one of them takes. */
export function useSayCan(): (edge: Edge) => string[] {
  const { t } = useText();
  return ({ capabilities, routers }) => {
    const taken = (routers?.peers ?? []).flatMap(({ takes }) => takes.map(({ kind }) => kind));
    return [
      ...capabilities.map((each) => (isText(`edges.can_${each}`) ? t(`edges.can_${each as 'rules'}`) : each)),
      ...[...new Set(taken)].map((kind) => t(`edges.takes_${kind}`)),
    ];
  };
}
