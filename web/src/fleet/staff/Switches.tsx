import { useParams } from '@tanstack/react-router';
import { addSwitch } from '../../../../client/generated/fields/addSwitch.ts';
import { changeSwitch } from '../../../../client/generated/fields/changeSwitch.ts';
import { plugSwitchPort } from '../../../../client/generated/fields/plugSwitchPort.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, partOf, shown } from '../../data/drawn.ts';
import { oneSwitch, switches, switchPorts } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Facts,
  Fieldset,
  Group,
  LinkTo,
  ListPage,
  Named,
  NamedChoice,
  NamedLong,
  Section,
  Text,
  Thing,
  useColumns,
} from '../../ui/index.ts';

/** What staff decides of a switch; all else of it is read. */
const decided = shown(['name', 'location', 'address', 'port', 'user', 'auth_protocol', 'note']);
type Decided = Pick<
  Schema<'Switch'>,
  'name' | 'location' | 'address' | 'port' | 'user' | 'auth_protocol' | 'note'
>;
type Typed = Partial<Record<string, string>>;

export function Switches() {
  const { t } = useText();
  const columns = useColumns<Schema<'Switch'>>(
    ['name', 'location', 'address', 'check', 'ports', 'heard_at', 'note', 'actions'],
    {
      name: ({ id, name }) => (
        <LinkTo to="/staff/switches/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
      check: (it) => <Found of={it} />,
      actions: (it) => <Acts of={it} />,
    },
  );
  return (
    <ListPage
      title={t('staff.switches')}
      empty={t('empty.switches')}
      list={switches}
      filters={[{ name: 'location' }]}
      columns={columns}
      aside={
        <Act
          operation="addSwitch"
          fields={addSwitch}
          label={t('racks.newSwitch')}
          text={t('racks.newSwitchText')}
          size="sm"
          isFirst
          onAct={(typed) =>
            client.post('/staff/switches', { body: { ...placeIn(typed), credential: credentialIn(typed) } })
          }
        >
          <Fields />
        </Act>
      }
    />
  );
}

function Fields({ now }: { now?: Decided }) {
  const { t } = useText();
  return (
    <>
      <Named name="name" value={now?.name} />
      <Named name="location" value={now?.location} />
      <Named name="address" value={now?.address} />
      <Named name="port" value={now?.port ?? 161} />
      <Fieldset legend={t('racks.snmpUser')} name="credential">
        <Named name="user_name" as="credential.user" value={now?.user} />
        <NamedChoice
          name="auth_protocol"
          as="credential.auth_protocol"
          value={now?.auth_protocol ?? 'sha256'}
        />
        {(['auth_passphrase', 'privacy_passphrase'] as const).map((name) => (
          <Named
            key={name}
            name={name}
            as={`credential.${name}`}
            type="password"
            help={t(now === undefined ? 'racks.passphraseHelp' : 'racks.anotherPassphraseHelp')}
            isOptional={now !== undefined}
          />
        ))}
      </Fieldset>
      <NamedLong name="note" value={now?.note} isOptional />
    </>
  );
}

function placeIn({ name = '', location = '', address = '', port, note }: Typed) {
  return { name, location, address, port: Number(port), note: note || null };
}

function credentialIn(typed: Typed): Schema<'SwitchCredential'> {
  return {
    user: typed['credential.user'] ?? '',
    auth_protocol: typed['credential.auth_protocol'] as Schema<'SwitchAuthProtocol'>,
    auth_passphrase: typed['credential.auth_passphrase'] ?? '',
    privacy_passphrase: typed['credential.privacy_passphrase'] ?? '',
  };
}

/** A credential is sent where anything of it was changed; one at another address must be. */
function changeOf(typed: Typed, before: Decided): Schema<'SwitchChange'> {
  const credential = credentialIn(typed);
  const isSame =
    credential.auth_passphrase === '' &&
    credential.privacy_passphrase === '' &&
    credential.user === before.user &&
    credential.auth_protocol === before.auth_protocol;
  return { ...placeIn(typed), ...(!isSame && { credential }) };
}

function Found({ of: { check, isolation } }: { of: Schema<'Switch'> }) {
  const { t } = useText();
  return (
    <>
      {t(`racks.switch_${check.state}`)}
      {[check.problem, isolation].map(
        (line) =>
          line !== null && (
            <Text key={line} size="sm">
              {line}
            </Text>
          ),
      )}
    </>
  );
}

function Acts({ of: { id, name } }: { of: Schema<'Switch'> }) {
  const { t } = useText();
  const path = { id };
  return (
    <Group gap="xs">
      <Act
        operation="changeSwitch"
        fields={changeSwitch}
        label={t('support.change')}
        of={partOf(drawnOf('/staff/switches/{id}', { path }), ({ switch: whole }) => decided(whole))}
        onAct={(typed, _files, ifMatch, now) =>
          client.patch('/staff/switches/{id}', { ifMatch, path, body: changeOf(typed, now) })
        }
      >
        {(now) => <Fields now={now} />}
      </Act>
      <Act
        operation="checkSwitch"
        label={t('racks.readSwitch')}
        onAct={() => client.post('/staff/switches/{id}/check', { path })}
      />
      <Act
        operation="removeSwitch"
        label={t('staff.delete')}
        text={t('racks.removeSwitchText')}
        name={name}
        isDangerous
        onAct={() => client.delete('/staff/switches/{id}', { path })}
      />
    </Group>
  );
}

/** A switch, and what is plugged into its ports. */
export function Switch() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  const path = { id: Number(id) };
  const columns = useColumns<Schema<'SwitchPort'>>(
    ['name', 'label', 'is_up', 'speed_mbps', 'in_mbps', 'out_mbps', 'server', 'mac', 'actions'],
    {
      server: ({ server_id: server, server: name }) =>
        server === null ? null : (
          <LinkTo to="/staff/servers/$id" params={{ id: String(server) }}>
            {name}
          </LinkTo>
        ),
      actions: (port) => <Plug of={port} path={path} />,
    },
  );
  return (
    <Thing title={t('staff.switches')} query={oneSwitch(path)}>
      {({ switch: it }) => (
        <ListPage
          title={it.name}
          empty={t('empty.switchPorts')}
          list={() => switchPorts({}, path)}
          columns={columns}
          keyOf={({ name }) => name}
        >
          <Section title={it.address}>
            <Found of={it} />
            <Facts
              of={{ ...it, user_name: it.user, version: it.description }}
              names={['location', 'version', 'port', 'user_name', 'auth_protocol', 'heard_at', 'note']}
            />
            <Acts of={it} />
          </Section>
        </ListPage>
      )}
    </Thing>
  );
}

function Plug({ of: { name, mac }, path }: { of: Schema<'SwitchPort'>; path: { id: number } }) {
  const { t } = useText();
  const plug = (other: string | null) =>
    client.post('/staff/switches/{id}/plug', { path, body: { port: name, mac: other } });
  if (mac !== null)
    return (
      <Act
        operation="plugSwitchPort"
        label={t('racks.unplug')}
        text={t('racks.unplugText')}
        onAct={() => plug(null)}
      />
    );
  return (
    <Act
      operation="plugSwitchPort"
      fields={plugSwitchPort}
      label={t('racks.plug')}
      text={t('racks.plugText')}
      onAct={({ mac: typed = '' }) => plug(typed)}
    >
      <Named name="mac" />
    </Act>
  );
}
