import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
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

const engines = addCluster.engine.choices;
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
          onAct={(typed) => client.post('/staff/clusters', { body: newCluster(typed) })}
        >
          <NewCluster />
        </Act>
      }
    />
  );
}

/** What has to be known of a cluster, by its engine. */
function NewCluster() {
  const { t } = useText();
  const [engine, setEngine] = useState<string>(engines[0]);
  return (
    <>
      <Named name="name" />
      <NamedChoice name="engine" value={engine} onChoose={setEngine} />
      <Named name="location" />
      <NamedLong name="endpoints" help={t('running.endpointsHelp')} />
      <Pinned engine={engine} />
      <Access engine={engine} />
      <Named name="project" help={t(engine === 'proxmox' ? 'running.poolHelp' : 'running.projectHelp')} />
      <Named name="pool" />
      {engine === 'proxmox' && <Named name="files" help={t('running.filesHelp')} />}
      <Named name="bridge" />
    </>
  );
}

function Pinned({ engine, isOptional = false }: { engine: string; isOptional?: boolean }) {
  const { t } = useText();
  const help = t(engine === 'proxmox' ? 'running.pinnedEachHelp' : 'running.pinnedHelp');
  return <NamedLong name="server_certificate" isOptional={isOptional} help={help} />;
}

/** What the cluster knows us by. */
function Access({ engine, isOptional = false }: { engine: string; isOptional?: boolean }) {
  const { t } = useText();
  if (engine === 'proxmox')
    return (
      <>
        <Named
          name="token_id"
          as="credential.token_id"
          isOptional={isOptional}
          help={t('running.tokenIdHelp')}
        />
        <Named
          name="token_secret"
          as="credential.token_secret"
          isOptional={isOptional}
          help={t('running.tokenSecretHelp')}
        />
      </>
    );
  return (
    <>
      <NamedLong name="client_certificate" as="credential.certificate" isOptional={isOptional} />
      <NamedLong
        name="private_key"
        as="credential.key"
        isOptional={isOptional}
        help={t('running.clusterKeyHelp')}
      />
    </>
  );
}

type Typed = Partial<Record<string, string>>;

function newCluster(typed: Typed): Schema<'NewCluster'> {
  const { name = '', location = '', project = '', pool = '', bridge = '', files } = typed;
  return {
    ...{ name, location, project, pool, bridge, ...(files && { files }) },
    engine: typed.engine as Schema<'ClusterEngine'>,
    endpoints: linesOf(typed.endpoints ?? ''),
    server_certificate: typed.server_certificate ?? '',
    credential: credentialIn(typed),
  };
}

/** What was typed of it; nothing where it is to stay. */
function credentialIn(typed: Typed): Schema<'ClusterCredential'> {
  const names = ['certificate', 'key', 'token_id', 'token_secret'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = typed[`credential.${name}`];
      return value ? [[name, value]] : [];
    }),
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
          const credential = credentialIn(more);
          return client.patch('/staff/clusters/{id}', {
            ifMatch,
            path,
            body: {
              ...{ name, endpoints: linesOf(endpoints), bridge },
              ...(pinned && { server_certificate: pinned }),
              ...(Object.keys(credential).length > 0 && { credential }),
            },
          });
        }}
      >
        {(now) => (
          <>
            <Named name="name" value={now.name} />
            <NamedLong name="endpoints" value={now.endpoints.join('\n')} help={t('running.endpointsHelp')} />
            <Named name="bridge" value={now.bridge} />
            <Pinned engine={cluster.engine} isOptional />
            <Access engine={cluster.engine} isOptional />
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
        // Its name was typed; what answers the API refuses all the same.
        onAct={() => client.delete('/staff/clusters/{id}', { path, query: { confirm: cluster.name } })}
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
              of={{ ...cluster, ...factsOf(cluster) }}
              names={[
                ...(['engine', 'version', 'location', 'project', 'pool', 'files', 'bridge'] as const),
                ...(['vmids', 'members', 'machines', 'answered_at', 'fingerprint'] as const),
                ...(['our_fingerprint', 'token_id', 'created_at'] as const),
              ]}
            />
            <Acts of={cluster} />
          </Section>
        </Page>
      )}
    </Thing>
  );
}

function factsOf({ check, nodes, fingerprints, vmids }: Schema<'Cluster'>) {
  return {
    ...{ version: check.version, members: nodes, fingerprint: fingerprints.join(', ') },
    vmids: vmids && `${vmids.first}–${vmids.last}`,
  };
}
