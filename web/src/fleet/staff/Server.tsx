import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { changeServer } from '../../../../client/generated/fields/changeServer.ts';
import { changeServerDisk } from '../../../../client/generated/fields/changeServerDisk.ts';
import { quarantineServer } from '../../../../client/generated/fields/quarantineServer.ts';
import { retireServer } from '../../../../client/generated/fields/retireServer.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { server as oneServer, serverReadings } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Facts,
  Group,
  LinkTo,
  List,
  Named,
  NamedChoice,
  NamedLong,
  Page,
  Section,
  Text,
  Thing,
  useColumns,
} from '../../ui/index.ts';
import { Observed } from './Baseline.tsx';
import { Hardware } from './Hardware.tsx';
import { ServerConsole } from './ServerConsole.tsx';
import { changeOf, ServerFields } from './ServerFields.tsx';
import { ServerMove } from './ServerMove.tsx';
import { ServerRescue } from './ServerRescue.tsx';

/** One server: where it stands, what is known of it, and what staff does with it. */
export function Server() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('staff.servers')} query={oneServer({ id: Number(id) })}>
      {({ server }) => (
        <Page title={server.name}>
          <Section title={t(`racks.server_${server.state}`)}>
            <Text size="sm">{server.out_of_order ?? server.reason ?? t(`racks.about_${server.state}`)}</Text>
            <Facts
              of={server}
              names={[
                ...(['serial', 'profile', 'service_id', 'location', 'rack', 'unit', 'height'] as const),
                ...(server.move_service_id === null ? [] : (['move_service_id'] as const)),
                ...(server.start_mac === null ? [] : (['start_mac', 'port_mbps'] as const)),
                ...(['state_since', 'note', 'created_at'] as const),
              ]}
              cells={{
                service_id: ({ service_id: service }) =>
                  service === null ? null : (
                    <LinkTo to="/staff/services/$id" params={{ id: String(service) }}>
                      {String(service)}
                    </LinkTo>
                  ),
                rack: ({ rack_id: rackId, rack }) =>
                  rackId === null ? null : (
                    <LinkTo to="/staff/racks/$id" params={{ id: String(rackId) }}>
                      {rack}
                    </LinkTo>
                  ),
              }}
            />
            <Acts of={server} />
          </Section>
          <Observed of={server} />
          <ServerMove of={server} />
          {server.hardware && <Hardware of={server.hardware} differences={server.hardware_differences} />}
          <Ports of={server} />
          <Bmc of={server} />
          {server.bmc !== null && <ServerConsole of={server} />}
          {server.bmc !== null && <ServerRescue of={server} />}
          {server.bmc !== null && <Readings of={server} />}
          <Disks of={server} />
        </Page>
      )}
    </Thing>
  );
}

function Acts({ of: { id, name, actions } }: { of: Schema<'Server'> }) {
  const { t } = useText();
  const path = { id };
  return (
    <Group gap="xs">
      <Act
        operation="changeServer"
        fields={changeServer}
        label={t('support.change')}
        of={drawnOf('/staff/servers/{id}', { path })}
        onAct={(typed, _files, ifMatch, { server }) =>
          client.patch('/staff/servers/{id}', { ifMatch, path, body: changeOf(typed, server) })
        }
      >
        {({ server }) => <ServerFields now={server} />}
      </Act>
      <Act
        operation="quarantineServer"
        fields={quarantineServer}
        label={t('racks.quarantine')}
        text={t('racks.quarantineText')}
        action={actions.quarantine}
        onAct={({ reason = '' }) => client.post('/staff/servers/{id}/quarantine', { path, body: { reason } })}
      >
        <Named name="reason" />
      </Act>
      <Act
        operation="releaseServer"
        label={t('racks.release')}
        text={t('racks.releaseText')}
        action={actions.release}
        onAct={() => client.post('/staff/servers/{id}/release', { path })}
      />
      <Act
        operation="retireServer"
        fields={retireServer}
        label={t('racks.retire')}
        text={t('racks.retireText')}
        name={name}
        isDangerous
        action={actions.retire}
        onAct={({ reason }) =>
          client.post('/staff/servers/{id}/retire', { path, body: reason ? { reason } : {} })
        }
      >
        <NamedLong name="reason" isOptional />
      </Act>
    </Group>
  );
}

function Ports({ of: { ports } }: { of: Schema<'Server'> }) {
  const { t } = useText();
  const columns = useColumns<Schema<'ServerPort'>>(['mac', 'switch', 'switch_port'], {
    switch: ({ switch_id: id, switch: name }) =>
      id === null ? null : (
        <LinkTo to="/staff/switches/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
  });
  return (
    <Section title={t('racks.ports')}>
      <List
        label={t('racks.ports')}
        items={ports}
        keyOf={({ mac }) => mac}
        columns={columns}
        error={null}
        onRetry={() => undefined}
        empty={<Text c="dimmed">{t('empty.ports')}</Text>}
      />
    </Section>
  );
}

function Bmc({ of: server }: { of: Schema<'Server'> }) {
  const { t } = useText();
  const { bmc } = server;
  return (
    <Section title={t('field.bmc')}>
      {bmc === null ? (
        <Text size="sm">{t('racks.noBmc')}</Text>
      ) : (
        <Facts
          of={{
            ...{ ...bmc, kind: t(`racks.bmc_${bmc.kind}`), user_name: bmc.user },
            power:
              bmc.action === null
                ? bmc.power && t(`racks.power_${bmc.power}`)
                : t(`racks.doing_${bmc.action}`),
          }}
          names={[
            'power',
            ...(bmc.action_problem === null ? [] : (['action_problem'] as const)),
            'heard_at',
            ...(bmc.problem === null ? [] : (['problem'] as const)),
            ...(bmc.uuid ? (['uuid'] as const) : []),
            ...(bmc.other_uuid ? (['other_uuid'] as const) : []),
            'kind',
            'address',
            'port',
            'user_name',
            ...(bmc.certificate === null ? [] : (['certificate'] as const)),
          ]}
        />
      )}
      {bmc !== null && bmc.other_uuid !== null && (
        <Act
          operation="acceptServerBmc"
          label={t('racks.acceptBmc')}
          text={t('racks.acceptBmcText')}
          action={server.actions.accept_bmc}
          onAct={() =>
            client.post('/staff/servers/{id}/bmc/accept', {
              path: { id: server.id },
              body: { uuid: bmc.other_uuid ?? '' },
            })
          }
        />
      )}
      {bmc !== null && <PowerActs of={server} />}
    </Section>
  );
}

function PowerActs({ of: { id, name, state, actions } }: { of: Schema<'Server'> }) {
  const { t } = useText();
  const path = { id };
  // A customer's work goes with its power.
  const confirmed = state === 'rented' ? { name, text: t('racks.rentedPower') } : {};
  return (
    <Group gap="xs">
      <Act
        operation="startServer"
        label={t('racks.start')}
        action={actions.start}
        onAct={() => client.post('/staff/servers/{id}/start', { path })}
      />
      {(['stop', 'restart'] as const).map((what) => (
        <Act
          key={what}
          operation={what === 'stop' ? 'stopServer' : 'restartServer'}
          label={t(`racks.${what}`)}
          text={t('racks.powerText')}
          isDangerous
          {...confirmed}
          action={actions[what]}
          onAct={({ force }) =>
            client.post(`/staff/servers/{id}/${what}`, { path, body: { force: force === 'force' } })
          }
        >
          <NamedChoice
            name="force"
            of={(['button', 'force'] as const).map((value) => ({ value, label: t(`racks.how_${value}`) }))}
            value="button"
          />
        </Act>
      ))}
    </Group>
  );
}

type Sensor = Schema<'ServerSensor'>;

const units = ['celsius', 'rpm', 'percent', 'watts', 'volts', 'amperes'] as const;
const isUnit = (unit: string): unit is (typeof units)[number] => units.some((each) => each === unit);

/** What its BMC measured and noted when it was read last. */
function Readings({ of: { id, actions } }: { of: Schema<'Server'> }) {
  const { t } = useText();
  const { data, error, refetch } = useQuery(serverReadings({ id }));
  const readings = data?.readings;
  const read = { error, onRetry: () => void refetch() };
  const sensors = useColumns<Sensor>(['name', 'value', 'limits', 'state'], {
    value: ({ value, unit }) =>
      value === null ? '–' : `${value} ${isUnit(unit) ? t(`racks.unit_${unit}`) : unit}`,
    limits: ({ limits: { lowCritical, highCritical } }) => `${lowCritical ?? '–'} … ${highCritical ?? '–'}`,
    state: ({ state }) => t(`racks.sensor_${state}`),
  });
  const events = useColumns<Schema<'BmcEvent'>>(['at', 'subject', 'message']);
  return (
    <Section id="log" title={t('racks.readings')}>
      {readings !== undefined && (
        <Facts
          of={readings}
          names={['read_at', ...(readings.problem === null ? [] : (['problem'] as const))]}
        />
      )}
      <List
        {...read}
        label={t('racks.sensors')}
        items={readings?.sensors}
        keyOf={({ name, kind }) => `${kind} ${name}`}
        columns={sensors}
        empty={<Text c="dimmed">{t('empty.sensors')}</Text>}
      />
      <List
        {...read}
        label={t('racks.bmcEvents')}
        items={readings?.events.toReversed()}
        keyOf={(event) => event.id}
        columns={events}
        empty={<Text c="dimmed">{t('empty.bmcEvents')}</Text>}
      />
      <Group gap="xs">
        <Act
          operation="readServer"
          label={t('racks.read')}
          action={actions.read}
          onAct={() => client.post('/staff/servers/{id}/readings', { path: { id } })}
        />
      </Group>
    </Section>
  );
}

function Disks({ of: { id, disks } }: { of: Schema<'Server'> }) {
  const { t } = useText();
  const columns = useColumns<Schema<'ServerDisk'>>(['serial', 'model', 'installed_at', 'removed_at']);
  return (
    <Section title={t('racks.disks')}>
      <List
        label={t('racks.disks')}
        items={disks}
        keyOf={({ serial, installed_at: at }) => `${serial} ${at}`}
        columns={columns}
        error={null}
        onRetry={() => undefined}
        empty={<Text c="dimmed">{t('empty.disks')}</Text>}
      />
      <Group gap="xs">
        <Act
          operation="changeServerDisk"
          fields={changeServerDisk}
          label={t('racks.changeDisk')}
          text={t('racks.changeDiskText')}
          onAct={({ removed, installed, model }) =>
            client.post('/staff/servers/{id}/disks', {
              path: { id },
              body: { ...(removed && { removed }), ...(installed && { installed }), ...(model && { model }) },
            })
          }
        >
          <Named name="removed" isOptional />
          <Named name="installed" isOptional />
          <Named name="model" isOptional />
        </Act>
      </Group>
    </Section>
  );
}
