import { record } from '../events/index.ts';
import { type ListRequest, listData, pagedList } from '../platform/http/index.ts';
import {
  type Context,
  fail,
  isDuplicate,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { daysUntilFull } from './days.ts';
import { addressReserved, addressUnreserved, poolCreated, poolDeleted, poolUpdated } from './events.ts';
import { addressIn } from './networks.ts';
import { createPool } from './pools.ts';

interface PoolRow {
  id: number;
  name: string;
  location: string;
  family: 4 | 6;
  network: string;
  gateway: string;
  rest_hours: number;
  created_at: Date;
  free: number;
  taken: number;
  resting: number;
  reserved: number;
  full_in_days: number | null;
}

interface AddressRow {
  address: string;
  state: 'free' | 'taken' | 'resting' | 'reserved';
  service_id: number | null;
  organization_id: number | null;
  held: boolean;
  dns_name: string | null;
  rests_until: Date | null;
  note: string | null;
}

const selectPool = `
  select t.id, t.name, t.location, t.family, t.network::text as network, host(t.gateway) as gateway, t.rest_hours,
    t.created_at, a.free, a.taken, a.resting, a.reserved,
    ${daysUntilFull('pool', 't.id', 'addresses', 'a.free')} as full_in_days
  from address_pools t, lateral (
    select count(*) filter (where state = 'free')::int as free, count(*) filter (where state = 'taken')::int as taken,
      count(*) filter (where state = 'resting')::int as resting,
      count(*) filter (where state = 'reserved')::int as reserved
    from addresses where pool_id = t.id) a`;
const poolById = statement<PoolRow, { id: number }>('fleet.pool', `${selectPool} where t.id = :id`);
const lock = statement<never, { id: number }>(
  'fleet.lockPool',
  'select id from address_pools where id = :id for update',
);
const lockAddresses = statement<never, { poolId: number }>(
  'fleet.lockAddressesOfPool',
  'select address from addresses where pool_id = :poolId order by address for update',
);
const updatePool = statement<never, { id: number; name: string; restHours: number }>(
  'fleet.updatePool',
  'update address_pools set name = :name, rest_hours = :restHours where id = :id',
);
const deleteFree = statement<never, { poolId: number }>(
  'fleet.deleteFreeAddresses',
  `delete from addresses where pool_id = :poolId and state = 'free'`,
);
const deletePool = statement<never, { id: number }>(
  'fleet.deletePool',
  'delete from address_pools where id = :id',
);

const selectAddress = `
  select host(t.address) as address, t.state, t.service_id, t.organization_id, t.held, t.dns_name, t.rests_until, t.note
  from addresses t`;
const addressOfPool = statement<AddressRow, { poolId: number; address: string }>(
  'fleet.addressOfPool',
  `${selectAddress} where t.pool_id = :poolId and t.address = :address`,
);
const reserve = statement<never, { poolId: number; address: string; note: string | null }>(
  'fleet.reserveAddress',
  `insert into addresses (address, pool_id, state, note) values (:address, :poolId, 'reserved', :note)
   on conflict (address) do update set state = 'reserved', note = excluded.note
   where addresses.state in ('free', 'reserved')`,
);
const unreserve = statement<never, { poolId: number; address: string }>(
  'fleet.unreserveAddress',
  `update addresses set state = 'free', note = null where pool_id = :poolId and address = :address
     and state in ('free', 'reserved')`,
);

const pools = pagedList<PoolRow>({
  name: 'fleet.pools',
  from: 'address_pools t',
  select: selectPool,
  filters: { location: 't.location = :location' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null, name: { by: 't.name', type: 'text', of: (row) => row.name } },
  order: 'id',
});
const addresses = pagedList<AddressRow>({
  name: 'fleet.addresses',
  from: 'addresses t',
  select: selectAddress,
  within: 't.pool_id = :poolId',
  filters: { state: 't.state = :state' },
  key: { by: 't.address', type: 'inet', of: (row) => row.address },
  sorts: { address: null },
  order: 'address',
});

export async function listPools(ctx: Context, query: ListRequest & { location?: string | undefined }) {
  const { rows, at } = await pools(ctx, query, { location: query.location });
  return listData('address_pools', rows.map(viewPool), at);
}

export async function readPool(ctx: Context, id: number) {
  const row = await requireRow(ctx, poolById, { id });
  return { address_pool: viewPool(row) };
}

function viewPool({ free, taken, resting, reserved, ...pool }: PoolRow) {
  // An IPv6 network is not listed: as good as all of it is free.
  return { ...pool, addresses: { free: pool.family === 4 ? free : null, taken, resting, reserved } };
}

export interface NewPool {
  name: string;
  location: string;
  network: string;
  gateway?: string;
  rest_hours?: number;
}

/** Adds a pool. Nodes of its location answer on its gateway within seconds. */
export async function addPoolAsStaff(ctx: Context, { rest_hours: restHours, ...pool }: NewPool) {
  return transaction(ctx, 'fleet.addPool', async (tx) => {
    const id = await createPool(tx, { ...pool, restHours });
    const data = { ...pool, rest_hours: restHours };
    await record(tx, poolCreated, { subject: subjectOf(id), organizationId: null, data });
    return readPool(tx, id);
  });
}

/** Nobody changes the pool until the transaction ends. */
export async function lockPool(tx: TxContext, id: number): Promise<void> {
  await tx.db.many(lock, { id });
}

/** Nobody takes or reserves an address of the pool until the transaction ends. */
export async function lockPoolAddresses(tx: TxContext, id: number): Promise<void> {
  await lockPool(tx, id);
  await tx.db.many(lockAddresses, { poolId: id });
}

/** Changes name and rest; a new rest counts for addresses freed from now on. */
export async function changePool(ctx: Context, id: number, change: { name?: string; rest_hours?: number }) {
  return transaction(ctx, 'fleet.changePool', async (tx) => {
    await lockPool(tx, id);
    const { address_pool: pool } = await readPool(tx, id);
    try {
      await tx.db.run(updatePool, {
        id,
        name: change.name ?? pool.name,
        restHours: change.rest_hours ?? pool.rest_hours,
      });
    } catch (error) {
      if (!isDuplicate(error, 'address_pools_name_key')) throw error;
      throw fail('conflict', { message: `There is a pool called ${change.name} already`, cause: error });
    }
    await record(tx, poolUpdated, { subject: subjectOf(id), organizationId: null, data: { change } });
    return readPool(tx, id);
  });
}

/** Removes a pool of which no address is in use, rests or is reserved; otherwise `conflict`. */
export async function removePool(ctx: Context, id: number) {
  return transaction(ctx, 'fleet.removePool', async (tx) => {
    await lockPool(tx, id);
    // First the free ones: an order that is taking one at this moment is waited for and then counted below.
    await tx.db.run(deleteFree, { poolId: id });
    const { address_pool: pool } = await readPool(tx, id);
    const { taken, resting, reserved } = pool.addresses;
    if (taken + resting + reserved > 0) {
      throw fail('conflict', {
        message: `Of ${pool.name}, ${taken} addresses are taken, ${resting} rest and ${reserved} are reserved`,
      });
    }
    await tx.db.run(deletePool, { id });
    const data = { name: pool.name, network: pool.network };
    await record(tx, poolDeleted, { subject: subjectOf(id), organizationId: null, data });
    return {};
  });
}

export async function listPoolAddresses(
  ctx: Context,
  id: number,
  query: ListRequest & { state?: AddressRow['state'] | undefined },
) {
  await readPool(ctx, id);
  const { rows, at } = await addresses(ctx, query, { poolId: id, state: query.state });
  return listData('addresses', rows, at);
}

/** Keeps a free address for something that is no machine, or gives it back; `conflict` when it is in use or rests. */
export async function reserveAddress(
  ctx: Context,
  id: number,
  request: { address: string; reserved: boolean; note?: string | null },
) {
  return transaction(ctx, 'fleet.reserveAddress', async (tx) => {
    await lockPool(tx, id);
    const { address_pool: pool } = await readPool(tx, id);
    const address = addressIn(pool.network, request.address, 'address');
    if (address === pool.gateway)
      throw fail('conflict', { message: `${address} is the gateway of this pool` });
    const changed = request.reserved
      ? await tx.db.run(reserve, { poolId: id, address, note: request.note ?? null })
      : await tx.db.run(unreserve, { poolId: id, address });
    const row = await tx.db.maybe(addressOfPool, { poolId: id, address });
    if (row === null) throw fail('not_found', { message: `${address} was never given out nor reserved` });
    if (changed === 0) throw fail('conflict', { message: `${address} is ${row.state}` });
    const event = request.reserved ? addressReserved : addressUnreserved;
    const data = { address, note: row.note };
    await record(tx, event, { subject: subjectOf(id), organizationId: null, data });
    return { address: row };
  });
}

function subjectOf(id: number) {
  return { type: 'address_pool', id };
}
