import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { evacuateNode } from '../../../../client/generated/fields/evacuateNode.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { clusterChoices, evacuationPlan } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Choice, List, Section, Text, Tick, useColumns } from '../../ui/index.ts';

/** What a cluster would mean to each machine of a host of our own, and how they go there. */
export function IntoCluster({ of: node, isMoving }: { of: Schema<'Node'>; isMoving: boolean }) {
  const { t } = useText();
  const known = useQuery(clusterChoices({}, { limit: '100', sort: 'name' }));
  const [chosen, choose] = useState('');
  const all = known.data?.clusters ?? [];
  const [first] = all;
  if (first === undefined) return null;
  const clusterId = Number(chosen === '' ? first.id : chosen);
  return (
    <Section title={t('running.intoCluster')}>
      <Choice
        name="cluster_id"
        label={t('running.whichCluster')}
        required={false}
        choices={all.map(({ id, name }) => ({ value: String(id), label: name }))}
        onChoose={choose}
      />
      <Plan of={node} clusterId={clusterId} isMoving={isMoving} />
    </Section>
  );
}

function Plan({
  of: node,
  clusterId,
  isMoving,
}: {
  of: Schema<'Node'>;
  clusterId: number;
  isMoving: boolean;
}) {
  const { t } = useText();
  const read = useQuery(evacuationPlan({ id: node.id }, { cluster_id: String(clusterId) }));
  const plan = read.data?.plan;
  const go = (values: Record<string, unknown>, only?: number[]) =>
    client.post('/staff/nodes/{id}/evacuate', {
      path: { id: node.id },
      body: {
        ...{ cluster_id: clusterId, cold: true, drop_copies: values.drop_copies !== undefined },
        ...(only === undefined ? {} : { service_ids: only }),
      },
    });
  const drops = (
    <Tick name="drop_copies" label={t('running.dropCopies')} help={t('running.dropCopiesHelp')} />
  );
  const columns = useColumns<Schema<'PlannedMachine'>>(
    ['service_id', 'hostname', 'possible', 'reason', 'loses', 'actions'],
    {
      possible: ({ possible }) => t(possible ? 'running.canGo' : 'running.cannotGo'),
      loses: ({ loses }) => (loses.length === 0 ? '–' : loses.join('; ')),
      actions: (machine) =>
        machine.possible &&
        !isMoving && (
          <Act
            operation="evacuateNode"
            fields={evacuateNode}
            label={t('running.takeInto')}
            size="compact-sm"
            text={t('running.takeOneText', { hostname: machine.hostname, cluster: plan?.cluster ?? '–' })}
            onAct={(values) => go(values, [machine.service_id])}
          >
            {losesCopies(machine) && drops}
          </Act>
        ),
    },
  );
  if (plan === undefined) return null;
  const may = plan.machines.filter(({ possible }) => possible);
  return (
    <>
      {plan.reason !== null && <Text size="sm">{plan.reason}</Text>}
      <List
        label={t('running.intoCluster')}
        items={plan.machines}
        keyOf={({ service_id: id }) => id}
        columns={columns}
        error={null}
        onRetry={() => undefined}
        empty={<Text c="dimmed">{t('running.noneToTake')}</Text>}
      />
      {plan.possible && may.length > 0 && !isMoving && (
        <Act
          operation="evacuateNode"
          fields={evacuateNode}
          label={t('running.takeAllInto')}
          text={t('running.takeAllText', { name: plan.name, cluster: plan.cluster })}
          onAct={(values) => go(values)}
        >
          {may.some(losesCopies) && drops}
        </Act>
      )}
    </>
  );
}

function losesCopies({ loses_copies: lost }: Schema<'PlannedMachine'>): boolean {
  return lost.snapshots + lost.backups > 0;
}
