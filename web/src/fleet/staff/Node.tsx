import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { evacuateNode } from '../../../../client/generated/fields/evacuateNode.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { evacuation, node as oneNode } from '../../data/queries/staff/index.ts';
import { lasting } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Act, Facts, Group, List, Page, Section, Text, Thing, Tick, useColumns } from '../../ui/index.ts';
import { IntoCluster } from './IntoCluster.tsx';
import { NodeActs } from './Nodes.tsx';
import { Recovery } from './Recovery.tsx';

const whileItMovesMs = 2_000;

/** One node, and how far its machines have gone to others of its cluster, or into one. */
export function Node() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('staff.nodes')} query={oneNode({ id: Number(id) })}>
      {({ node }) => (
        <Page title={node.name}>
          <Section title={t(`running.node_${node.state}`)}>
            <Facts of={node} names={['location', 'machines', 'trouble', 'created_at']} />
            <NodeActs of={node} />
          </Section>
          {(node.cluster_id !== null || node.runs_machines) && <Evacuation of={node} />}
          {node.cluster_id !== null && <Recovery of={node} />}
        </Page>
      )}
    </Thing>
  );
}

function Evacuation({ of: node }: { of: Schema<'Node'> }) {
  const { t, language } = useText();
  const read = useQuery({
    ...evacuation({ id: node.id }),
    refetchInterval: ({ state }) => {
      const { state: how, moving = 0 } = state.data?.evacuation ?? {};
      return how === 'running' || moving > 0 ? whileItMovesMs : false;
    },
  });
  const columns = useColumns<Schema<'EvacuatedMachine'>>(
    ['service_id', 'node', 'state', 'reason', 'away_s'],
    {
      state: ({ state, live }) => t(live ? 'running.move_live' : `running.move_${state}`),
      away_s: ({ away_s: away }) => (away === null ? '–' : lasting(away, language)),
    },
  );
  if (read.data === undefined) return null;
  const found = read.data.evacuation;
  return (
    <Section title={t('running.evacuation')}>
      {found === null ? (
        <Text size="sm">{t('running.noEvacuation')}</Text>
      ) : (
        <>
          <Text size="sm">
            {t(`running.${found.kind}_${found.state}`)}{' '}
            {t('running.evacuationCounts', {
              ...{ waiting: found.waiting, moving: found.moving, moved: found.moved, stay: found.stay },
            })}
          </Text>
          {found.state === 'running' && found.halted_for !== null && (
            <Text size="sm">{t('running.evacuationStands', { reason: found.halted_for })}</Text>
          )}
          <List
            label={t('running.evacuation')}
            items={found.machines}
            keyOf={({ service_id: id }) => id}
            columns={columns}
            error={null}
            onRetry={() => undefined}
            empty={<Text c="dimmed">{t('running.nothingToMove')}</Text>}
          />
        </>
      )}
      {found?.state === 'running' && found.halted_for !== null && found.cluster_id !== null && (
        <GoOn of={node} clusterId={found.cluster_id} />
      )}
      <Acts of={node} isRunning={found?.state === 'running'} isKnown={found !== null} />
      {node.cluster_id === null && <IntoCluster of={node} isMoving={found?.state === 'running'} />}
    </Section>
  );
}

/** Of one that stands: it goes on as it began. */
function GoOn({ of: node, clusterId }: { of: Schema<'Node'>; clusterId: number }) {
  const { t } = useText();
  return (
    <Act
      operation="evacuateNode"
      label={t('running.goOnMoving')}
      text={t('running.goOnMovingText')}
      onAct={() =>
        client.post('/staff/nodes/{id}/evacuate', { path: { id: node.id }, body: { cluster_id: clusterId } })
      }
    />
  );
}

function Acts({
  of: node,
  isRunning,
  isKnown,
}: {
  of: Schema<'Node'>;
  isRunning: boolean;
  isKnown: boolean;
}) {
  const { t } = useText();
  const path = { id: node.id };
  const cold = <Tick name="cold" label={t('running.cold')} help={t('running.coldHelp')} />;
  if (isRunning)
    return (
      <Act
        operation="stopEvacuation"
        label={t('running.stopEvacuation')}
        text={t('running.stopEvacuationText')}
        onAct={() => client.delete('/staff/nodes/{id}/evacuation', { path })}
      />
    );
  // Machines of a host of our own go into a cluster, which is chosen first.
  if (node.cluster_id === null) return null;
  return (
    <Group gap="xs">
      <Act
        operation="evacuateNode"
        fields={evacuateNode}
        label={t('running.evacuate')}
        text={t('running.evacuateText', { name: node.name })}
        onAct={({ cold: isCold }) =>
          client.post('/staff/nodes/{id}/evacuate', { path, body: { cold: isCold !== undefined } })
        }
      >
        {cold}
      </Act>
      {isKnown && (
        <Act
          operation="restoreNode"
          label={t('running.restoreNode')}
          text={t('running.restoreNodeText')}
          onAct={({ bring_back: isBack, cold: isCold }) =>
            client.post('/staff/nodes/{id}/restore', {
              path,
              body: { bring_back: isBack !== undefined, cold: isCold !== undefined },
            })
          }
        >
          <Tick name="bring_back" label={t('running.bringBack')} />
          {cold}
        </Act>
      )}
    </Group>
  );
}
