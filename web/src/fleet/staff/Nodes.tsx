import { updateNode } from '../../../../client/generated/fields/updateNode.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, partOf, shown } from '../../data/drawn.ts';
import { choicesOf } from '../../data/fields.ts';
import { nodes } from '../../data/queries/staff/index.ts';
import { gigabytes } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Act, FullIn, Group, LinkTo, ListPage, Named, NamedChoice, useColumns } from '../../ui/index.ts';

/** What staff decides of a node; all else of it goes on changing by itself. */
const decided = shown(['state', 'cpu_overcommit', 'memory_reserve_mib', 'disk_reserve_gib']);

export function Nodes() {
  const { t, language } = useText();
  const of = (taken: number, promised: number) =>
    t('machine.of', { used: gigabytes(taken, language), total: gigabytes(promised, language) });
  const columns = useColumns<Schema<'Node'>>(
    ['name', 'location', 'state', 'reachable', 'machines', 'memory', 'disk', 'trouble', 'actions'],
    {
      name: ({ id, name }) => (
        <LinkTo to="/staff/nodes/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
      state: ({ state }) => t(`running.node_${state}`),
      machines: ({ runs_machines: runs, machines }) => (runs ? machines : t('running.onlyFilters')),
      memory: ({ runs_machines: runs, taken, promised, full_in_days: days }) =>
        runs && (
          <>
            {of(taken.memory_mib / 1024, promised.memory_mib / 1024)}
            <FullIn days={days.memory} />
          </>
        ),
      disk: ({ runs_machines: runs, taken, promised, full_in_days: days }) =>
        runs && (
          <>
            {of(taken.disk_gib, promised.disk_gib)}
            <FullIn days={days.disk} />
          </>
        ),
      actions: (node) => <NodeActs of={node} />,
    },
  );
  return (
    <ListPage
      title={t('staff.nodes')}
      empty={t('empty.nodes')}
      list={nodes}
      filters={[{ name: 'location' }]}
      columns={columns}
    />
  );
}

/** What staff decides of a node. */
export function NodeActs({ of: node }: { of: Schema<'Node'> }) {
  const { t } = useText();
  const path = { id: node.id };
  return (
    <Group gap="xs">
      <Act
        operation="updateNode"
        fields={updateNode}
        label={t('support.change')}
        text={t('running.nodeText')}
        of={partOf(drawnOf('/staff/nodes/{id}', { path }), ({ node: whole }) => decided(whole))}
        onAct={(
          { state, cpu_overcommit: cpu, memory_reserve_mib: memory, disk_reserve_gib: disk },
          _files,
          ifMatch,
        ) =>
          client.patch('/staff/nodes/{id}', {
            ifMatch,
            path,
            body: {
              ...{ state: state as Schema<'NodeState'>, cpu_overcommit: Number(cpu) },
              ...{ memory_reserve_mib: Number(memory), disk_reserve_gib: Number(disk) },
            },
          })
        }
      >
        {(now) => (
          <>
            <NamedChoice
              name="state"
              value={now.state}
              of={choicesOf(updateNode.state, (value) => t(`running.node_${value}`))}
            />
            <Named name="cpu_overcommit" value={now.cpu_overcommit} />
            <Named name="memory_reserve_mib" value={now.memory_reserve_mib} />
            <Named name="disk_reserve_gib" value={now.disk_reserve_gib} />
          </>
        )}
      </Act>
      {node.cluster_id === null && (
        <Act
          operation="replaceNode"
          label={t('running.replace')}
          text={t('running.replaceText')}
          name={node.name}
          isDangerous
          onAct={() => client.post('/staff/nodes/{id}/replace', { path })}
        />
      )}
    </Group>
  );
}
