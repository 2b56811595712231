import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  isDuplicate,
  refuse,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { rackCreated, rackDeleted, rackUpdated } from '../events.ts';

interface RackRow {
  id: number;
  name: string;
  location: string;
  units: number;
  power_watts: number | null;
  note: string | null;
  servers: number;
  units_taken: number;
  created_at: Date;
}

export interface NewRack {
  name: string;
  location: string;
  units: number;
  power_watts?: number | null;
  note?: string | null;
}

export type RackChange = Partial<NewRack>;

const selectRack = `
  select t.id, t.name, t.location, t.units, t.power_watts, t.note, t.created_at,
    (select count(*)::int from servers s where s.rack_id = t.id) as servers,
    (select coalesce(sum(s.height), 0)::int from servers s where s.rack_id = t.id) as units_taken
  from racks t`;
const rackById = statement<RackRow, { id: number }>('fleet.rack', `${selectRack} where t.id = :id`);
const lock = statement<never, { id: number }>(
  'fleet.lockRack',
  'select id from racks where id = :id for update',
);
const insertRack = statement<
  { id: number },
  { name: string; location: string; units: number; powerWatts: number | null; note: string | null; now: Date }
>(
  'fleet.insertRack',
  `insert into racks (name, location, units, power_watts, note, created_at)
   values (:name, :location, :units, :powerWatts::integer, :note, :now) returning id`,
);
const updateRack = statement<
  never,
  {
    id: number;
    name: string;
    location: string;
    units: number;
    powerWatts: number | null;
    note: string | null;
  }
>(
  'fleet.updateRack',
  `update racks set name = :name, location = :location, units = :units, power_watts = :powerWatts::integer, note = :note
   where id = :id`,
);
const deleteRack = statement<never, { id: number }>('fleet.deleteRack', 'delete from racks where id = :id');
const highest = statement<{ name: string; top: number }, { id: number }>(
  'fleet.highestServerOfRack',
  `select name, unit + height - 1 as top from servers where rack_id = :id order by unit desc limit 1`,
);

const racks = pagedList<RackRow>({
  name: 'fleet.racks',
  from: 'racks t',
  select: selectRack,
  filters: { location: 't.location = :location' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null, name: { by: 't.name', type: 'text', of: (row) => row.name } },
  order: 'name',
});

export async function listRacks(ctx: Context, query: ListRequest & { location?: string | undefined }) {
  const { rows, at } = await racks(ctx, query, { location: query.location });
  return listData('racks', rows, at);
}

export async function readRack(ctx: Context, id: number) {
  return { rack: await requireRow(ctx, rackById, { id }) };
}

/** Nobody changes the rack, or what stands in it, until the transaction ends. */
export async function lockRack(tx: TxContext, id: number): Promise<void> {
  await tx.db.many(lock, { id });
}

/** Adds a rack; `conflict` when there is one of its name. */
export async function addRack(ctx: Context, wanted: NewRack) {
  const { name, location, units, power_watts: powerWatts = null, note = null } = wanted;
  return transaction(ctx, 'fleet.addRack', async (tx) => {
    const values = { name, location, units, powerWatts, note, now: tx.clock.now() };
    const { id } = await named(name, () => tx.db.one(insertRack, values));
    await record(tx, rackCreated, { ...about(id), data: { name, location, units, power_watts: powerWatts } });
    return readRack(tx, id);
  });
}

/** Changes what is said of a rack. `invalid_request` when a server stands above the units that it would have. */
export async function changeRack(ctx: Context, id: number, change: RackChange) {
  return transaction(ctx, 'fleet.changeRack', async (tx) => {
    await lockRack(tx, id);
    const { rack } = await readRack(tx, id);
    const { name, location, units, power_watts: powerWatts, note } = { ...rack, ...change };
    const tallest = await tx.db.maybe(highest, { id });
    if (tallest !== null && tallest.top > units)
      throw refuse('units', `must be at least ${tallest.top}: ${tallest.name} stands up there`);
    await named(name, () => tx.db.run(updateRack, { id, name, location, units, powerWatts, note }));
    await record(tx, rackUpdated, { ...about(id), data: { name: rack.name, change } });
    return readRack(tx, id);
  });
}

/** Forgets a rack in which nothing stands; otherwise `conflict`. */
export async function removeRack(ctx: Context, id: number) {
  return transaction(ctx, 'fleet.removeRack', async (tx) => {
    await lockRack(tx, id);
    const { rack } = await readRack(tx, id);
    const { name, servers } = rack;
    if (servers > 0) {
      const message = `${servers === 1 ? 'A server stands' : `${servers} servers stand`} in ${name}; place or retire them first`;
      throw fail('conflict', { message });
    }
    await tx.db.run(deleteRack, { id });
    await record(tx, rackDeleted, { ...about(id), data: { name } });
    return {};
  });
}

async function named<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isDuplicate(error, 'racks_name')) throw error;
    throw fail('conflict', { message: `There is a rack called ${name} already`, cause: error });
  }
}

function about(id: number) {
  return { subject: { type: 'rack', id }, organizationId: null };
}
