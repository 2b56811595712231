import { useParams } from '@tanstack/react-router';
import { addCluster } from '../../../../client/generated/fields/addCluster.ts';
import { changeCluster } from '../../../../client/generated/fields/changeCluster.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, partOf, shown } from '../../data/drawn.ts';
import { clusters, cluster as oneCluster } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Facts,
  Group,
  LinkTo,
  ListPage,
  Named,
  NamedChoice,
  NamedLong,
  Page,
  Section,
  Text,
  Thing,
  useColumns,
} from '../../ui/index.ts';

const linesOf = (text: string) => text.split(/\s+/).filter((line) => line !== '');

/** What staff decides of a cluster; all else of it goes on changing by itself. */
const decided = shown(['name', 'endpoints', 'bridge']);

export function Clusters() {
  const { t } = useText();
  const columns = useColumns<Schema<'Cluster'>>(
    ['name', 'location', 'engine', 'version', 'state', 'check', 'members', 'machines', 'actions'],
    {
      name: ({ id, name }) => (
        <LinkTo to="/staff/clusters/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
      version: ({ check }) => check.version ?? '–',
      state: ({ state }) => t(`running.cluster_${state}`),
      check: (cluster) => <Found of={cluster} />,
      members: ({ nodes }) => nodes,
      actions: (cluster) => <Acts of={cluster} />,
    },
  );
  return (
    <ListPage
      title={t('staff.clusters')}
      empty={t('empty.clusters')}
      list={clusters}
      filters={[{ name: 'location' }]}
      columns={columns}
      aside={
        <Act
          operation="addCluster"
          fields={addCluster}
          label={t('running.newCluster')}
          text={t('running.newClusterText')}
          size="sm"
          isFirst
          onAct={({ name = '', engine, location = '', endpoints = '', ...more }) =>
            client.post('/staff/clusters', {
              body: {
                ...{
                  name,
                  engine: engine as Schema<'ClusterEngine'>,
                  location,
                  endpoints: linesOf(endpoints),
                },
                ...{ project: more.project ?? '', pool: more.pool ?? '', bridge: more.bridge ?? '' },
                server_certificate: more.server_certificate ?? '',
                credential: {
                  certificate: more['credential.certificate'] ?? '',
                  key: more['credential.key'] ?? '',
                },
              },
            })
          }
        >
          <Named name="name" />
          <NamedChoice name="engine" />
          <Named name="location" />
          <NamedLong name="endpoints" help={t('running.endpointsHelp')} />
          <NamedLong name="server_certificate" help={t('running.pinnedHelp')} />
          <NamedLong name="client_certificate" as="credential.certificate" />
          <NamedLong name="private_key" as="credential.key" help={t('running.clusterKeyHelp')} />
          <Named name="project" help={t('running.projectHelp')} />
          <Named name="pool" />
          <Named name="bridge" />
        </Act>
      }
    />
  );
}

/** Whether it is fit, and what it lacks or why it does not answer. */
function Found({ of: { check, trouble } }: { of: Schema<'Cluster'> }) {
  const { t } = useText();
  return (
    <>
      {t(`running.check_${check.state}`)}
      {[...check.problems, ...(trouble === null ? [] : [trouble])].map((line) => (
        <Text key={line} size="sm">
          {line}
        </Text>
      ))}
    </>
  );
}

function Acts({ of: cluster }: { of: Schema<'Cluster'> }) {
  const { t } = useText();
  const path = { id: cluster.id };
  const isDraining = cluster.state === 'draining';
  return (
    <Group gap="xs">
      <Act
        operation="changeCluster"
        fields={changeCluster}
        label={t('support.change')}
        text={t('running.clusterText')}
        of={partOf(drawnOf('/staff/clusters/{id}', { path }), ({ cluster: whole }) => decided(whole))}
        onAct={({ name, endpoints = '', bridge, server_certificate: pinned, ...more }, _files, ifMatch) => {
          const credential = {
            certificate: more['credential.certificate'] ?? '',
            key: more['credential.key'] ?? '',
          };
          return client.patch('/staff/clusters/{id}', {
            ifMatch,
            path,
            body: {
              ...{ name, endpoints: linesOf(endpoints), bridge },
              ...(pinned && { server_certificate: pinned }),
              ...((credential.certificate || credential.key) && { credential }),
            },
          });
        }}
      >
        {(now) => (
          <>
            <Named name="name" value={now.name} />
            <NamedLong name="endpoints" value={now.endpoints.join('\n')} help={t('running.endpointsHelp')} />
            <Named name="bridge" value={now.bridge} />
            <NamedLong name="server_certificate" isOptional help={t('running.pinnedHelp')} />
            <NamedLong name="client_certificate" as="credential.certificate" isOptional />
            <NamedLong name="private_key" as="credential.key" isOptional help={t('running.clusterKeyHelp')} />
          </>
        )}
      </Act>
      <Act
        operation="changeCluster"
        label={t(isDraining ? 'running.undrain' : 'running.drain')}
        onAct={() =>
          client.patch('/staff/clusters/{id}', { path, body: { state: isDraining ? 'active' : 'draining' } })
        }
      />
      <Act
        operation="checkCluster"
        label={t('running.checkCluster')}
        onAct={() => client.post('/staff/clusters/{id}/check', { path })}
      />
      <Act
        operation="removeCluster"
        label={t('staff.delete')}
        text={t('running.removeClusterText')}
        name={cluster.name}
        isDangerous
        onAct={() => client.delete('/staff/clusters/{id}', { path })}
      />
    </Group>
  );
}

/** How a cluster is reached, and what was found there. */
export function Cluster() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('staff.clusters')} query={oneCluster({ id: Number(id) })}>
      {({ cluster }) => (
        <Page title={cluster.name}>
          <Section title={cluster.endpoints.join(', ')}>
            <Found of={cluster} />
            {cluster.check.notes.map((note) => (
              <Text key={note} size="sm">
                {note}
              </Text>
            ))}
            <Facts
              of={{ ...cluster, version: cluster.check.version, members: cluster.nodes }}
              names={[
                ...(['engine', 'version', 'location', 'project', 'pool', 'bridge'] as const),
                ...([
                  'members',
                  'machines',
                  'answered_at',
                  'fingerprint',
                  'our_fingerprint',
                  'created_at',
                ] as const),
              ]}
            />
            <Acts of={cluster} />
          </Section>
        </Page>
      )}
    </Thing>
  );
}
