import { useParams } from '@tanstack/react-router';
import { addAddressPool } from '../../../../client/generated/fields/addAddressPool.ts';
import { changeAddressPool } from '../../../../client/generated/fields/changeAddressPool.ts';
import { updatePoolAddress } from '../../../../client/generated/fields/updatePoolAddress.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { addressPool, addressPools, poolAddresses } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Facts,
  FullIn,
  Group,
  LinkTo,
  ListPage,
  Named,
  Section,
  Thing,
  useColumns,
} from '../../ui/index.ts';

export function AddressPools() {
  const { t } = useText();
  const columns = useColumns<Schema<'AddressPool'>>(
    ['name', 'location', 'network', 'gateway', 'free', 'taken', 'resting', 'reserved', 'actions'],
    {
      name: ({ id, name }) => (
        <LinkTo to="/staff/address-pools/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
      free: ({ addresses, full_in_days: days }) => (
        <>
          {addresses.free ?? t('running.many')}
          <FullIn days={days} />
        </>
      ),
      taken: ({ addresses }) => addresses.taken,
      resting: ({ addresses }) => addresses.resting,
      reserved: ({ addresses }) => addresses.reserved,
      actions: ({ id, name }) => (
        <Group gap="xs">
          <Act
            operation="changeAddressPool"
            fields={changeAddressPool}
            label={t('support.change')}
            of={drawnOf('/staff/address-pools/{id}', { path: { id } })}
            onAct={({ name, rest_hours: hours }, _files, ifMatch) =>
              client.patch('/staff/address-pools/{id}', {
                ifMatch,
                path: { id },
                body: { name, rest_hours: Number(hours) },
              })
            }
          >
            {({ address_pool: now }) => (
              <>
                <Named name="name" value={now.name} />
                <Named name="rest_hours" value={now.rest_hours} />
              </>
            )}
          </Act>
          <Act
            operation="removeAddressPool"
            label={t('staff.delete')}
            text={t('running.removePoolText')}
            name={name}
            isDangerous
            onAct={() => client.delete('/staff/address-pools/{id}', { path: { id } })}
          />
        </Group>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.pools')}
      empty={t('empty.pools')}
      list={addressPools}
      filters={[{ name: 'location' }]}
      columns={columns}
      aside={
        <Act
          operation="addAddressPool"
          fields={addAddressPool}
          label={t('running.newPool')}
          size="sm"
          isFirst
          onAct={({ name = '', location = '', network = '', gateway }) =>
            client.post('/staff/address-pools', { body: { name, location, network, gateway } })
          }
        >
          <Named name="name" />
          <Named name="location" />
          <Named name="network" help={t('running.networkHelp')} />
          <Named name="gateway" isOptional />
        </Act>
      }
    />
  );
}

const states = ['free', 'taken', 'resting', 'reserved'] as const;

/** The addresses of a pool, and whose they are. */
export function AddressPool() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  const path = { id: Number(id) };
  const columns = useColumns<Schema<'PoolAddress'>>(
    ['address', 'state', 'service_id', 'dns_name', 'rests_until', 'note', 'actions'],
    {
      state: ({ state }) => t(`running.address_${state}`),
      service_id: ({ service_id: service }) =>
        service === null ? (
          '–'
        ) : (
          <LinkTo to="/staff/services/$id" params={{ id: String(service) }}>
            {service}
          </LinkTo>
        ),
      actions: ({ address, state }) => {
        const reserve = (reserved: boolean, note?: string) =>
          client.patch('/staff/address-pools/{id}/addresses', { path, body: { address, reserved, note } });
        if (state === 'reserved')
          return (
            <Act operation="updatePoolAddress" label={t('running.release')} onAct={() => reserve(false)} />
          );
        return (
          state === 'free' && (
            <Act
              operation="updatePoolAddress"
              fields={updatePoolAddress}
              label={t('running.reserve')}
              onAct={({ note }) => reserve(true, note)}
            >
              <Named name="note" isOptional />
            </Act>
          )
        );
      },
    },
  );
  return (
    <Thing title={t('staff.pools')} query={addressPool(path)}>
      {({ address_pool: pool }) => (
        <ListPage
          title={pool.name}
          empty={t('empty.addresses')}
          list={(filter) => poolAddresses(filter, path)}
          filters={[
            { name: 'state', of: states.map((value) => ({ value, label: t(`running.address_${value}`) })) },
          ]}
          columns={columns}
          keyOf={({ address }) => address}
        >
          <Section title={pool.network}>
            <Facts of={pool} names={['location', 'gateway', 'rest_hours', 'created_at']} />
          </Section>
        </ListPage>
      )}
    </Thing>
  );
}
