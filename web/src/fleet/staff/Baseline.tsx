import { changeServerProfile } from '../../../../client/generated/fields/changeServerProfile.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { useText } from '../../text/index.ts';
import { Act, Facts, Group, Named, NamedChoice, NamedLong, Section, Text } from '../../ui/index.ts';

type Baseline = Schema<'ServerBaseline'>;
type Typed = Partial<Record<string, string>>;

/** Nobody and nothing, where an empty field is anything. */
const none = '-';

/** Each part as it is typed and shown. */
function inText(baseline: Baseline | null) {
  const list = (parts: readonly (string | number)[] | null | undefined, between: string) =>
    parts == null ? null : parts.length === 0 ? none : parts.join(between);
  return {
    firmware: baseline?.firmware ?? null,
    boot: baseline?.boot ?? null,
    bmc_firmware: baseline?.bmc_firmware ?? null,
    disk_firmware: list(
      baseline?.disk_firmware?.map(({ model, version }) => `${model}: ${version}`),
      '\n',
    ),
    boot_order: list(baseline?.boot_order, ', '),
    bmc_users: list(
      baseline?.bmc_users?.map(({ name, access }) => `${name} ${access}`.trim()),
      '\n',
    ),
    cipher_suites: list(baseline?.cipher_suites, ', '),
    services: list(baseline?.services, ', '),
  };
}

/** What was typed; null where that is nothing. What is none of these the API refuses by its place. */
function typedIn(typed: Typed): Schema<'NewServerBaseline'> | null {
  const said = (name: string) => typed[`baseline.${name}`]?.trim() ?? '';
  const parts = <T,>(name: string, between: RegExp, each: (part: string) => T): T[] | null => {
    if (said(name) === '') return null;
    if (said(name) === none) return [];
    return said(name)
      .split(between)
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(each);
  };
  const baseline = {
    firmware: said('firmware') || null,
    boot: (said('boot') || null) as Baseline['boot'],
    bmc_firmware: said('bmc_firmware') || null,
    disk_firmware: parts('disk_firmware', /\n/, (line) => {
      const at = line.lastIndexOf(':');
      return { model: line.slice(0, Math.max(0, at)).trim(), version: line.slice(at + 1).trim() };
    }),
    boot_order: parts('boot_order', /[\s,]+/, (source) => source.toLowerCase() as 'network'),
    bmc_users: parts('bmc_users', /\n/, (line) => {
      const words = line.split(/\s+/);
      const access = words.pop()?.toLowerCase() as 'user';
      return { name: words.join(' '), access };
    }),
    cipher_suites: parts('cipher_suites', /[\s,]+/, Number),
    services: parts('services', /[\n,]+/, String),
  };
  return Object.values(baseline).every((part) => part === null) ? null : baseline;
}

/** Writes the baseline of a profile by hand; with nothing in it there is none. */
export function WriteBaseline({ of: { id } }: { of: Schema<'ServerProfile'> }) {
  const { t } = useText();
  const path = { id };
  return (
    <Act
      operation="changeServerProfile"
      fields={changeServerProfile}
      label={t('racks.baseline')}
      text={t('racks.baselineText')}
      of={drawnOf('/staff/server-profiles/{id}', { path })}
      onAct={(typed, _files, ifMatch) =>
        client.patch('/staff/server-profiles/{id}', { ifMatch, path, body: { baseline: typedIn(typed) } })
      }
    >
      {({ profile }) => <BaselineFields now={profile.baseline} />}
    </Act>
  );
}

function BaselineFields({ now }: { now: Baseline | null }) {
  const { t } = useText();
  const text = inText(now);
  const boot = changeServerProfile['baseline.boot'].choices.map((value) => ({
    ...{ value, label: value.toUpperCase() },
  }));
  return (
    <>
      <Named name="firmware" as="baseline.firmware" value={text.firmware} isOptional />
      <NamedChoice name="boot" as="baseline.boot" of={boot} value={text.boot} isOptional />
      <Named name="bmc_firmware" as="baseline.bmc_firmware" value={text.bmc_firmware} isOptional />
      <NamedLong
        name="disk_firmware"
        as="baseline.disk_firmware"
        value={text.disk_firmware}
        help={t('racks.diskFirmwareHelp')}
        isOptional
      />
      <Named
        name="boot_order"
        as="baseline.boot_order"
        value={text.boot_order}
        help={t('racks.bootOrderHelp')}
        isOptional
      />
      <NamedLong
        name="bmc_users"
        as="baseline.bmc_users"
        value={text.bmc_users}
        help={t('racks.bmcUsersHelp')}
        isOptional
      />
      <Named
        name="cipher_suites"
        as="baseline.cipher_suites"
        value={text.cipher_suites}
        help={t('racks.listHelp')}
        isOptional
      />
      <Named
        name="services"
        as="baseline.services"
        value={text.services}
        help={t('racks.listHelp')}
        isOptional
      />
    </>
  );
}

/** How a server was found, what of it differs from its baseline, and what staff makes of that. */
export function Observed({ of: server }: { of: Schema<'Server'> }) {
  const { t } = useText();
  const { id, observed, observed_at: at, differences, actions, profile_id: profileId } = server;
  if (observed === null) return null;
  return (
    <Section title={t('racks.observed')}>
      {differences !== null && (
        <>
          <Text size="sm">{t('racks.differsText')}</Text>
          <ul>
            {differences.map((each) => (
              <li key={each}>
                <Text size="sm">{each}</Text>
              </li>
            ))}
          </ul>
        </>
      )}
      <Facts
        of={{ ...inText(observed), observed_at: at }}
        names={[
          ...(['observed_at', 'firmware', 'boot', 'bmc_firmware', 'disk_firmware'] as const),
          ...(['boot_order', 'bmc_users', 'cipher_suites', 'services'] as const),
        ]}
      />
      <Group gap="xs">
        {differences !== null &&
          ([false, true] as const).map((asBaseline) => (
            <Act
              key={String(asBaseline)}
              operation="acceptServerDifferences"
              label={t(asBaseline ? 'racks.acceptAsBaseline' : 'racks.acceptDifferences')}
              text={t(asBaseline ? 'racks.acceptAsBaselineText' : 'racks.acceptDifferencesText')}
              action={actions.accept_differences}
              onAct={() =>
                client.post('/staff/servers/{id}/differences/accept', {
                  path: { id },
                  body: { as_baseline: asBaseline },
                })
              }
            />
          ))}
        {profileId !== null && server.state === 'ready' && (
          <Act
            operation="takeServerBaseline"
            label={t('racks.takeBaseline')}
            text={t('racks.takeBaselineText')}
            onAct={() =>
              client.post('/staff/server-profiles/{id}/baseline', {
                path: { id: profileId },
                body: { server_id: id },
              })
            }
          />
        )}
      </Group>
    </Section>
  );
}
