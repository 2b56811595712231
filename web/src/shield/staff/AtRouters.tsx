import type { Schema } from '../../../../client/index.ts';
import { announcements, rulesAtRouters } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Facts, List, Section, StaffList, State, Text, useColumns } from '../../ui/index.ts';

type Edge = Schema<'ShieldEdge'>;
type Routers = NonNullable<Edge['routers']>;
type LeftOut = Schema<'ShieldRulesAtRouters'>['left_out'][number];

interface AtRoutersProps {
  edge: Edge;
  routers: Routers;
}

/** Of routers in front: what they may bear, who they are, and what they are told. */
export function AtRouters({ edge: { id }, routers }: AtRoutersProps) {
  const { t } = useText();
  return (
    <>
      <Section title={t('edges.bounds')}>
        <Facts
          of={routers}
          names={[
            ...(['routes', 'most_routes', 'rule_routes', 'blackholes', 'communities'] as const),
            ...(['next_hop4', 'next_hop6'] as const),
          ]}
        />
      </Section>
      <Section title={t('edges.peers')}>
        <Peers of={routers.peers} />
      </Section>
      <Section title={t('edges.announcements')}>
        <Announcements edge={id} />
      </Section>
      <Section title={t('edges.rulesAtRouters')}>
        <Text size="sm" c="dimmed">
          {t('edges.rulesAtRoutersText')}
        </Text>
        <Rules edge={id} />
      </Section>
    </>
  );
}

function Peers({ of: peers }: { of: Routers['peers'] }) {
  const { t } = useText();
  const columns = useColumns<Routers['peers'][number]>(['address', 'asn', 'state', 'takes', 'refusals'], {
    asn: ({ asn }) => `AS${asn}`,
    state: ({ state }) => t(`edges.peer_${state}`),
    takes: ({ takes }) =>
      takes.length === 0 ? null : (
        <div>
          {takes.map(({ kind, family, announced }) => (
            <div key={`${kind} ${family}`}>
              {t('edges.told', { kind: t(`edges.takes_${kind}`), family, count: announced })}
            </div>
          ))}
        </div>
      ),
  });
  return (
    <List
      label={t('edges.peers')}
      items={peers}
      keyOf={({ address }) => address}
      columns={columns}
      error={null}
      onRetry={() => undefined}
      empty={<Text c="dimmed">{t('empty.peers')}</Text>}
    />
  );
}

function Announcements({ edge }: { edge: number }) {
  const { t } = useText();
  const columns = useColumns<Schema<'ShieldAnnouncement'>>(
    ['address', 'state', 'measure', 'rules', 'service_id', 'since', 'error'],
    {
      state: ({ measure, in_force, error }) => {
        if (error !== null) return <State of="not_in_force" />;
        if (measure === null) return <State of="leaving" />;
        return <State of={in_force ? 'in_force' : 'coming'} />;
      },
      measure: ({ measure }) =>
        measure === null ? null : t(`edges.takes_${measure === 'flowspec' ? 'flow' : measure}`),
      error: ({ error }) => (error === null ? null : <span lang="en">{error}</span>),
    },
  );
  return (
    <StaffList
      label={t('edges.announcements')}
      query={announcements({}, { id: edge })}
      columns={columns}
      keyOf={({ address }) => address}
      empty={t('empty.announcements')}
    />
  );
}

function Rules({ edge }: { edge: number }) {
  const { t } = useText();
  const columns = useColumns<Schema<'ShieldRulesAtRouters'>>(
    ['address', 'organization_id', 'routes', 'left_out', 'error', 'updated_at'],
    {
      left_out: ({ left_out: left }) =>
        left.length === 0 ? null : (
          <div>
            {left.map((each) => (
              <Left key={each.rule ?? 'unmatched'} of={each} />
            ))}
          </div>
        ),
      error: ({ error }) => (error === null ? null : <span lang="en">{error}</span>),
    },
  );
  return (
    <StaffList
      label={t('edges.rulesAtRouters')}
      query={rulesAtRouters({}, { id: edge })}
      columns={columns}
      keyOf={({ address }) => address}
      empty={t('empty.rulesAtRouters')}
    />
  );
}

function Left({ of: { rule, why } }: { of: LeftOut }) {
  const { t } = useText();
  return (
    <div>
      {rule === null ? t('edges.unmatched') : t('edges.rule', { rule })}:{' '}
      <span lang="en">{why.replace(`rule ${rule}: `, '')}</span>
    </div>
  );
}
