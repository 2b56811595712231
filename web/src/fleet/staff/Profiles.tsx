import { addServerProfile } from '../../../../client/generated/fields/addServerProfile.ts';
import { changeServerProfile } from '../../../../client/generated/fields/changeServerProfile.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { serverProfiles } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, LinkTo, ListPage, Named, NamedLong, useColumns } from '../../ui/index.ts';

type Profile = Schema<'ServerProfile'>;
type Rules = Partial<Pick<Profile, 'threads' | 'memory_gib' | 'model' | 'disks' | 'note'>>;

export function Profiles() {
  const { t } = useText();
  const columns = useColumns<Profile>(
    ['name', 'threads', 'memory_gib', 'model', 'disks', 'ready', 'servers', 'note', 'actions'],
    {
      disks: ({ disks }) => disks && (disks.length === 0 ? t('racks.noDisks') : linesOf(disks).join(', ')),
      servers: ({ id, servers }) => (
        <LinkTo to="/staff/servers" search={{ profile_id: id }}>
          {servers}
        </LinkTo>
      ),
      actions: (profile) => <Acts of={profile} />,
    },
  );
  return (
    <ListPage
      title={t('staff.serverProfiles')}
      text={t('racks.profilesText')}
      empty={t('empty.serverProfiles')}
      list={serverProfiles}
      columns={columns}
      aside={
        <Act
          operation="addServerProfile"
          fields={addServerProfile}
          label={t('racks.newProfile')}
          text={t('racks.newProfileText')}
          size="sm"
          isFirst
          onAct={({ name = '', ...rules }) =>
            client.post('/staff/server-profiles', { body: { name, ...rulesIn(rules) } })
          }
        >
          <Named name="name" />
          <RuleFields />
        </Act>
      }
    />
  );
}

function RuleFields({ now = {} }: { now?: Rules }) {
  const { t } = useText();
  return (
    <>
      <Named name="threads" value={now.threads} isOptional />
      <Named name="memory_gib" value={now.memory_gib} isOptional />
      <Named name="model" value={now.model} isOptional />
      <NamedLong
        name="disks"
        value={now.disks && linesOf(now.disks).join('\n')}
        help={t('racks.disksHelp')}
        isOptional
      />
      <NamedLong name="note" value={now.note} isOptional />
    </>
  );
}

function linesOf(disks: NonNullable<Rules['disks']>): string[] {
  return disks.map(({ count, kind, gb }) => `${count} ${kind} ${gb}`);
}

/** A line each, as `2 nvme 960`; what is none of these the API refuses by its place. */
function disksIn(lines: string): Schema<'ServerDiskRule'>[] | null {
  const each = lines.split('\n').filter((line) => line.trim() !== '');
  if (each.length === 0) return null;
  return each.map((line) => {
    const [count, kind = '', gb] = line.trim().split(/[\s×x]+/);
    return { count: Number(count), kind: kind.toLowerCase() as 'nvme', gb: Number(gb) };
  });
}

function rulesIn({ threads, memory_gib: gib, model, disks = '', note }: Partial<Record<string, string>>) {
  return {
    ...{ threads: threads ? Number(threads) : null, memory_gib: gib ? Number(gib) : null },
    ...{ model: model || null, disks: disksIn(disks), note: note || null },
  };
}

function Acts({ of: { id, name } }: { of: Profile }) {
  const { t } = useText();
  const path = { id };
  return (
    <Group gap="xs">
      <Act
        operation="changeServerProfile"
        fields={changeServerProfile}
        label={t('support.change')}
        of={drawnOf('/staff/server-profiles/{id}', { path })}
        onAct={({ name: called, ...rules }, _files, ifMatch) =>
          client.patch('/staff/server-profiles/{id}', {
            ifMatch,
            path,
            body: { name: called, ...rulesIn(rules) },
          })
        }
      >
        {({ profile: now }) => (
          <>
            <Named name="name" value={now.name} />
            <RuleFields now={now} />
          </>
        )}
      </Act>
      <Act
        operation="removeServerProfile"
        label={t('staff.delete')}
        text={t('racks.removeProfileText')}
        name={name}
        isDangerous
        onAct={() => client.delete('/staff/server-profiles/{id}', { path })}
      />
    </Group>
  );
}
