import { addOperatingSystemImage } from '../../../../client/generated/fields/addOperatingSystemImage.ts';
import { changeOperatingSystemImage } from '../../../../client/generated/fields/changeOperatingSystemImage.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, partOf, shown } from '../../data/drawn.ts';
import { images } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, ListPage, Named, Text, Tick, useColumns } from '../../ui/index.ts';

export function Images() {
  const { t } = useText();
  const columns = useColumns<Schema<'Image'>>(
    [
      'slug',
      'name',
      'version',
      'state',
      'active',
      'for_servers',
      'min_memory_mib',
      'min_disk_gib',
      'actions',
    ],
    {
      state: ({ state, progress, error, clusters }) => (
        <>
          {t(`running.image_${state}`)}
          {(error ?? progress) !== null && <Text size="sm">{error ?? progress}</Text>}
          {clusters.map((each) => (
            <Text key={each.id} size="sm">
              {[`${each.name}: ${t(`running.image_${each.state}`)}`, each.error ?? each.progress]
                .filter(Boolean)
                .join('. ')}
            </Text>
          ))}
        </>
      ),
      actions: (image) => <Acts of={image} />,
    },
  );
  return (
    <ListPage
      title={t('staff.images')}
      empty={t('empty.images')}
      list={images}
      columns={columns}
      aside={
        <Act
          operation="addOperatingSystemImage"
          fields={addOperatingSystemImage}
          label={t('running.newImage')}
          text={t('running.newImageText')}
          size="sm"
          isFirst
          onAct={({ slug = '', name = '', version = '', url = '', sha256 = '', for_servers, ...sizes }) =>
            client.post('/staff/images', {
              body: {
                ...{ slug, name, version, source: { kind: 'download', url, sha256, guest: 'cloud-init' } },
                ...{ min_memory_mib: Number(sizes.min_memory_mib), min_disk_gib: Number(sizes.min_disk_gib) },
                for_servers: for_servers !== undefined,
              },
            })
          }
        >
          <Named name="slug" />
          <Named name="name" />
          <Named name="version" />
          <Named name="url" />
          <Named name="sha256" />
          <Named name="min_memory_mib" value="512" />
          <Named name="min_disk_gib" value="5" />
          <Tick name="for_servers" label={t('running.offeredForServers')} />
        </Act>
      }
    />
  );
}

/** What staff decides of an image, and not how far its preparation is. */
const decided = shown(['name', 'version', 'min_memory_mib', 'min_disk_gib', 'active', 'for_servers']);

function Acts({ of: image }: { of: Schema<'Image'> }) {
  const { t } = useText();
  const path = { slug: image.slug };
  return (
    <Group gap="xs">
      <Act
        operation="changeOperatingSystemImage"
        fields={changeOperatingSystemImage}
        label={t('support.change')}
        of={partOf(drawnOf('/staff/images/{slug}', { path }), ({ image: whole }) => decided(whole))}
        onAct={({ name, version, active, for_servers, ...sizes }, _files, ifMatch) =>
          client.patch('/staff/images/{slug}', {
            ifMatch,
            path,
            body: {
              ...{ name, version, active: active !== undefined },
              // What we build is for servers or is not, whatever anybody says.
              ...(image.source.kind === 'download' && { for_servers: for_servers !== undefined }),
              ...{ min_memory_mib: Number(sizes.min_memory_mib), min_disk_gib: Number(sizes.min_disk_gib) },
            },
          })
        }
      >
        {(now) => (
          <>
            <Named name="name" value={now.name} />
            <Named name="version" value={now.version} />
            <Named name="min_memory_mib" value={now.min_memory_mib} />
            <Named name="min_disk_gib" value={now.min_disk_gib} />
            <Tick name="active" label={t('running.offered')} defaultChecked={now.active} />
            {image.source.kind === 'download' && (
              <Tick
                name="for_servers"
                label={t('running.offeredForServers')}
                defaultChecked={now.for_servers}
              />
            )}
          </>
        )}
      </Act>
      <Act
        operation="prepareOperatingSystemImage"
        label={t('running.prepare')}
        text={t('running.prepareText')}
        onAct={() => client.post('/staff/images/{slug}/prepare', { path })}
      />
      <Act
        operation="removeOperatingSystemImage"
        label={t('staff.delete')}
        text={t('running.removeImageText')}
        name={image.slug}
        isDangerous
        onAct={() => client.delete('/staff/images/{slug}', { path })}
      />
    </Group>
  );
}
