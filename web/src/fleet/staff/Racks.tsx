import { useParams } from '@tanstack/react-router';
import { addRack } from '../../../../client/generated/fields/addRack.ts';
import { changeRack } from '../../../../client/generated/fields/changeRack.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { rack as oneRack, racks, servers } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Facts,
  Group,
  LinkTo,
  ListPage,
  Named,
  NamedLong,
  Section,
  Thing,
  useColumns,
} from '../../ui/index.ts';
import { useServerColumns } from './Servers.tsx';

export function Racks() {
  const { t } = useText();
  const columns = useColumns<Schema<'Rack'>>(
    ['name', 'location', 'units', 'units_taken', 'servers', 'power_watts', 'note', 'actions'],
    {
      name: ({ id, name }) => (
        <LinkTo to="/staff/racks/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
      actions: (rack) => <Acts of={rack} />,
    },
  );
  return (
    <ListPage
      title={t('staff.racks')}
      empty={t('empty.racks')}
      list={racks}
      filters={[{ name: 'location' }]}
      columns={columns}
      aside={
        <Act
          operation="addRack"
          fields={addRack}
          label={t('racks.newRack')}
          size="sm"
          isFirst
          onAct={({ name = '', location = '', ...more }) =>
            client.post('/staff/racks', { body: { name, location, ...sizeIn(more) } })
          }
        >
          <Named name="name" />
          <Named name="location" />
          <Size />
        </Act>
      }
    />
  );
}

type Sized = Partial<Pick<Schema<'Rack'>, 'units' | 'power_watts' | 'note'>>;

function Size({ now = {} }: { now?: Sized }) {
  return (
    <>
      <Named name="units" value={now.units ?? 42} />
      <Named name="power_watts" value={now.power_watts} isOptional />
      <NamedLong name="note" value={now.note} isOptional />
    </>
  );
}

function sizeIn({ units, power_watts: watts, note }: Partial<Record<string, string>>) {
  return { units: Number(units), power_watts: watts ? Number(watts) : null, note: note || null };
}

function Acts({ of: { id, name } }: { of: Schema<'Rack'> }) {
  const { t } = useText();
  const path = { id };
  return (
    <Group gap="xs">
      <Act
        operation="changeRack"
        fields={changeRack}
        label={t('support.change')}
        of={drawnOf('/staff/racks/{id}', { path })}
        onAct={({ name: called, location, ...more }, _files, ifMatch) =>
          client.patch('/staff/racks/{id}', {
            ifMatch,
            path,
            body: { name: called, location, ...sizeIn(more) },
          })
        }
      >
        {({ rack: now }) => (
          <>
            <Named name="name" value={now.name} />
            <Named name="location" value={now.location} />
            <Size now={now} />
          </>
        )}
      </Act>
      <Act
        operation="removeRack"
        label={t('staff.delete')}
        text={t('racks.removeRackText')}
        name={name}
        isDangerous
        onAct={() => client.delete('/staff/racks/{id}', { path })}
      />
    </Group>
  );
}

/** A rack, and what stands in it from the top to the floor. */
export function Rack() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  const columns = useServerColumns(['unit', 'height', 'name', 'serial', 'state', 'bmc', 'note']);
  return (
    <Thing title={t('staff.racks')} query={oneRack({ id: Number(id) })}>
      {({ rack }) => (
        <ListPage
          title={rack.name}
          empty={t('empty.inRack')}
          list={() => servers({ rack_id: rack.id, sort: '-unit' })}
          columns={columns}
        >
          <Section title={rack.location}>
            <Facts of={rack} names={['units', 'units_taken', 'power_watts', 'note', 'created_at']} />
            <Acts of={rack} />
          </Section>
        </ListPage>
      )}
    </Thing>
  );
}
