import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Schema } from '../../../../client/index.ts';
import { nodes, shieldEdge } from '../../data/queries/staff/index.ts';
import { moment } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Bullets, Facts, LinkTo, Page, Section, Text, Thing } from '../../ui/index.ts';
import { AtRouters } from './AtRouters.tsx';
import { ChangeEdge, RemoveEdge } from './ChangeEdge.tsx';
import { EdgeHealth, EdgeState } from './EdgeHealth.tsx';
import { useSayCan } from './Edges.tsx';

type Edge = Schema<'ShieldEdge'>;

/** What stands in front of addresses at one place. */
export function ShieldEdge() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('edges.edge')} query={shieldEdge({ id: Number(id) })}>
      {({ edge }) => (
        <Page title={edge.name} aside={<EdgeState of={edge} />}>
          <Section
            title={t('edges.about')}
            aside={
              <>
                <ChangeEdge of={edge} />
                <RemoveEdge of={edge} />
              </>
            }
          >
            <Facts
              of={edge}
              names={
                edge.kind === 'router' ? ['kind', 'node', 'engine', 'nodes'] : ['kind', 'node', 'engine']
              }
              cells={{
                kind: ({ kind }) => t(`edges.kind_${kind}`),
                nodes: ({ nodes: ids }) => <NodeNames ids={ids ?? []} />,
              }}
            />
          </Section>
          <Health of={edge} />
          <Abilities of={edge} />
          {edge.routers !== null && <AtRouters edge={edge} routers={edge.routers} />}
        </Page>
      )}
    </Thing>
  );
}

function Health({ of: edge }: { of: Edge }) {
  const { t, language } = useText();
  const { seen_at, full_kinds: full } = edge.health;
  return (
    <Section title={t('field.health')}>
      <EdgeHealth of={edge} />
      {full.length > 0 && (
        <Text size="sm">
          {t('edges.fullOf', { kinds: full.map((kind) => t(`edges.traffic_${kind as 'syn'}`)).join(', ') })}
        </Text>
      )}
      {seen_at !== null && (
        <Text size="sm" c="dimmed">
          {t('edges.seen', { time: moment(seen_at, language) })}
        </Text>
      )}
    </Section>
  );
}

function Abilities({ of: edge }: { of: Edge }) {
  const { t } = useText();
  const can = useSayCan()(edge);
  return (
    <Section title={t('field.capabilities')}>
      {can.length === 0 ? (
        <Text c="dimmed">{t(edge.routers === null ? 'edges.canNothing' : 'edges.peersTakeNothing')}</Text>
      ) : (
        <Bullets>
          {can.map((each) => (
            <Bullets.Item key={each}>{each}</Bullets.Item>
          ))}
        </Bullets>
      )}
      {edge.routers !== null && (
        <LinkTo to="/staff/shield-prefixes" search={{ edge_id: edge.id }}>
          {t('edges.itsPrefixes', { count: edge.routers.prefixes.length })}
        </LinkTo>
      )}
    </Section>
  );
}

/** Nodes by their names; those that are not read say their number. */
function NodeNames({ ids }: { ids: readonly number[] }) {
  const { t } = useText();
  const { data } = useInfiniteQuery(nodes());
  const names = new Map(data?.pages.flatMap(({ items }) => items.map(({ id, name }) => [id, name])));
  return ids.length === 0 ? t('edges.noNodes') : ids.map((id) => names.get(id) ?? id).join(', ');
}
