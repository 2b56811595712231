import { useInfiniteQuery } from '@tanstack/react-query';
import { addServerProfile } from '../../../../client/generated/fields/addServerProfile.ts';
import { changeServerProfile } from '../../../../client/generated/fields/changeServerProfile.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { serverProfiles, staffProducts } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, LinkTo, ListPage, Named, NamedChoice, NamedLong, useColumns } from '../../ui/index.ts';
import { WriteBaseline } from './Baseline.tsx';

type Profile = Schema<'ServerProfile'>;
type Rules = Partial<
  Pick<Profile, 'threads' | 'memory_gib' | 'model' | 'disks' | 'port_mbps' | 'note' | 'product_id'>
>;

export function Profiles() {
  const { t } = useText();
  const columns = useColumns<Profile>(
    [
      'name',
      'product',
      'threads',
      'memory_gib',
      'model',
      'disks',
      'port_mbps',
      'baseline',
      'ready',
      'servers',
      'note',
      'actions',
    ],
    {
      disks: ({ disks }) => disks && (disks.length === 0 ? t('racks.noDisks') : linesOf(disks).join(', ')),
      product: ({ product, product_id: id }) =>
        id === null ? null : (
          <LinkTo to="/staff/products/$id" params={{ id: String(id) }}>
            {product}
          </LinkTo>
        ),
      baseline: ({ baseline, baseline_from: from }) =>
        baseline === null ? null : from === null ? t('racks.byHand') : t('racks.takenFrom', { name: from }),
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
            client.post('/staff/server-profiles', {
              body: { name, ...rulesIn(rules), ...confirmedIn(rules) },
            })
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
      <Named name="port_mbps" value={now.port_mbps} help={t('racks.portMbpsHelp')} isOptional />
      <SoldAs value={now.product_id} />
      <NamedLong name="note" value={now.note} isOptional />
      <Named name="confirm" help={t('racks.confirmProfileHelp')} isOptional />
    </>
  );
}

/** `moduleId` of what servers can be sold as; see the description of the API. */
const dedicated = 5;

function SoldAs({ value }: { value: Rules['product_id'] | undefined }) {
  const { t } = useText();
  const { data } = useInfiniteQuery(staffProducts());
  const products = data?.pages.flatMap((page) => page.items) ?? [];
  const sold = products.filter(({ moduleId, status }) => moduleId === dedicated && status !== 'retired');
  return (
    <NamedChoice
      key={products.length}
      name="product_id"
      value={value}
      isOptional
      help={t('racks.soldAsHelp')}
      of={sold.map(({ id, name }) => ({ value: String(id), label: name }))}
    />
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

function rulesIn({
  threads,
  memory_gib: gib,
  model,
  disks = '',
  note,
  port_mbps: mbps,
  product_id: product,
}: Partial<Record<string, string>>) {
  return {
    ...{ threads: threads ? Number(threads) : null, memory_gib: gib ? Number(gib) : null },
    ...{ model: model || null, disks: disksIn(disks), note: note || null },
    port_mbps: mbps ? Number(mbps) : null,
    product_id: product ? Number(product) : null,
  };
}

function confirmedIn({ confirm }: Partial<Record<string, string>>) {
  return confirm ? { confirm } : {};
}

function Acts({ of }: { of: Profile }) {
  const { t } = useText();
  const { id, name } = of;
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
            body: { name: called, ...rulesIn(rules), ...confirmedIn(rules) },
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
      <WriteBaseline of={of} />
      <Act
        operation="removeServerProfile"
        label={t('staff.delete')}
        text={t('racks.removeProfileText')}
        name={name}
        isDangerous
        onAct={() => client.delete('/staff/server-profiles/{id}', { path, query: { confirm: name } })}
      />
    </Group>
  );
}
