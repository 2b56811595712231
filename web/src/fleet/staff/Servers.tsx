import { useInfiniteQuery } from '@tanstack/react-query';
import { addServer } from '../../../../client/generated/fields/addServer.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { serverProfiles, servers } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, type FieldName, FileField, Group, LinkTo, ListPage, useColumns } from '../../ui/index.ts';
import { askedOf, ServerFields } from './ServerFields.tsx';

const states = [
  ...(['waiting', 'ready', 'held', 'rented', 'returning', 'quarantined', 'broken', 'retired'] as const),
];

/** Columns of servers, in lists of them. */
export function useServerColumns(names: readonly FieldName[]) {
  const { t } = useText();
  return useColumns<Schema<'Server'>>(names, {
    name: ({ id, name }) => (
      <LinkTo to="/staff/servers/$id" params={{ id: String(id) }}>
        {name}
      </LinkTo>
    ),
    state: ({ state }) => t(`racks.server_${state}`),
    rack: ({ rack_id: id, rack }) =>
      id === null ? (
        '–'
      ) : (
        <LinkTo to="/staff/racks/$id" params={{ id: String(id) }}>
          {rack}
        </LinkTo>
      ),
    bmc: ({ bmc }) => (bmc === null ? '–' : bmc.address),
  });
}

export function Servers() {
  const { t } = useText();
  const { data } = useInfiniteQuery(serverProfiles({ limit: 100 }));
  const profiles = data?.pages.flatMap(({ items }) => items);
  const columns = useServerColumns([
    ...(['name', 'serial', 'state', 'profile', 'reason', 'location', 'rack', 'unit', 'bmc', 'note'] as const),
  ]);
  return (
    <ListPage
      title={t('staff.servers')}
      empty={t('empty.servers')}
      text={t('racks.serversText')}
      list={servers}
      filters={[
        { name: 'search' },
        {
          name: 'profile_id',
          of: (profiles ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
        },
        { name: 'state', of: states.map((value) => ({ value, label: t(`racks.server_${value}`) })) },
      ]}
      columns={columns}
      aside={
        <Group gap="xs">
          <Import />
          <Act
            operation="addServer"
            fields={addServer}
            label={t('racks.newServer')}
            text={t('racks.newServerText')}
            size="sm"
            isFirst
            onAct={(typed) => client.post('/staff/servers', { body: askedOf(typed) })}
          >
            <ServerFields />
          </Act>
        </Group>
      }
    />
  );
}

function Import() {
  const { t } = useText();
  return (
    <Act
      operation="importServers"
      label={t('racks.import')}
      text={t('racks.importText')}
      size="sm"
      onAct={async (_values, { table = [] }) => {
        for (const { file } of table) await client.upload('/staff/servers/import', file, 'text/csv');
      }}
    >
      <FileField name="table" label={t('racks.table')} help={t('racks.tableHelp')} />
    </Act>
  );
}
