import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  isDuplicate,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { serverCreated, serverUpdated } from '../events.ts';
import { keepBmc, type NewBmc, readBmc } from './bmc.ts';
import { keepMacs, readMacs } from './macs.ts';
import { requirePlace } from './place.ts';
import { byName, bySerial, lockRow, type ServerRow, selectServer, serverById, viewServer } from './rows.ts';
import { requireAction, type ServerState } from './states.ts';

export interface NewServer {
  name: string;
  serial: string;
  rack_id?: number | null;
  unit?: number | null;
  height?: number;
  macs?: string[];
  bmc?: NewBmc | null;
  note?: string | null;
}

export type ServerChange = Partial<NewServer>;

interface Written {
  name: string;
  serial: string;
  rackId: number | null;
  unit: number | null;
  height: number;
  note: string | null;
}

const insertServer = statement<{ id: number }, Written & { now: Date }>(
  'fleet.insertServer',
  `insert into servers (name, serial, state, state_since, rack_id, unit, height, note, created_at)
   values (:name, :serial, 'waiting', :now, :rackId::bigint, :unit::integer, :height, :note, :now) returning id`,
);
const updateServer = statement<never, Written & { id: number }>(
  'fleet.updateServer',
  `update servers set name = :name, serial = :serial, rack_id = :rackId::bigint, unit = :unit::integer, height = :height,
     note = :note where id = :id`,
);

type Listed = ServerRow & { by_name: string };

const name = { by: byName, type: 'text', of: (row: Listed) => row.by_name } as const;
const servers = pagedList<Listed>({
  name: 'fleet.servers',
  from: 'servers t',
  select: selectServer,
  filters: {
    state: 't.state = :state',
    rackId: 't.rack_id = :rackId',
    profileId: 't.profile_id = :profileId',
  },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null, name, unit: { by: 'coalesce(t.unit, 0)', type: 'bigint', of: (row) => row.unit ?? 0 } },
  order: 'name',
  search: [name, { by: bySerial }],
});

export async function listServers(
  ctx: Context,
  query: ListRequest & {
    state?: ServerState | undefined;
    rack_id?: number | undefined;
    profile_id?: number | undefined;
  },
) {
  const { rows, at } = await servers(ctx, query, {
    state: query.state,
    rackId: query.rack_id,
    profileId: query.profile_id,
  });
  return listData('servers', rows.map(viewServer), at);
}

export async function readServer(ctx: Context, id: number) {
  return { server: viewServer(await requireRow(ctx, serverById, { id })) };
}

/** Nobody changes the server until the transaction ends. */
export async function lockServer(tx: TxContext, id: number): Promise<void> {
  await tx.db.many(lockRow, { id });
}

/** The row, locked until the transaction ends; `not_found`. */
export async function requireServer(tx: TxContext, id: number): Promise<ServerRow> {
  await lockServer(tx, id);
  return requireRow(tx, serverById, { id });
}

/**
 * Adds a server, which waits to be accepted. `invalid_request` says what of it is wrong, `conflict` that there is one of its name, serial,
 * BMC or ports.
 */
export async function addServer(ctx: Context, wanted: NewServer) {
  return transaction(ctx, 'fleet.addServer', async (tx) => readServer(tx, await insertOne(tx, wanted)));
}

/** The same within a transaction; answers its id. */
export async function insertOne(tx: TxContext, wanted: NewServer): Promise<number> {
  const { name: called, serial, rack_id: rackId = null, unit = null, height = 1, note = null } = wanted;
  const macs = readMacs(wanted.macs ?? []);
  const bmc = wanted.bmc ?? null;
  if (bmc !== null) readBmc(tx, bmc);
  await requirePlace(tx, 0, { rackId, unit, height });
  const values = { name: called, serial, rackId, unit, height, note };
  const { id } = await once(values, () => tx.db.one(insertServer, { ...values, now: tx.clock.now() }));
  await keepMacs(tx, id, macs);
  if (bmc !== null) await once(values, () => keepBmc(tx, id, bmc));
  await record(tx, serverCreated, {
    ...about(id),
    data: { name: called, serial, rack_id: rackId, unit, macs },
  });
  return id;
}

/** Changes what is said of a server; a BMC is given whole, with its password, or null. Errors as {@link addServer}. */
export async function changeServer(ctx: Context, id: number, change: ServerChange) {
  return transaction(ctx, 'fleet.changeServer', async (tx) => {
    const before = await requireServer(tx, id);
    const macs = change.macs && readMacs(change.macs);
    if (change.bmc) readBmc(tx, change.bmc);
    const { name: called, serial, rack_id: rackId, unit, height, note } = { ...before, ...change };
    const values = { name: called, serial, rackId, unit, height, note };
    if (rackId !== before.rack_id || unit !== before.unit || height !== before.height) {
      requireAction('place', before);
      await requirePlace(tx, id, values);
    }
    await once(values, () => tx.db.run(updateServer, { id, ...values }));
    if (macs !== undefined) await keepMacs(tx, id, macs);
    const { bmc, ...rest } = change;
    if (bmc !== undefined) {
      requireAction('place', before);
      await once(values, () => keepBmc(tx, id, bmc));
    }
    const told = { ...rest, ...(bmc !== undefined && { bmc: bmc === null ? null : ('another' as const) }) };
    await record(tx, serverUpdated, { ...about(id), data: { name: before.name, change: told } });
    return readServer(tx, id);
  });
}

async function once<T>({ name: called, serial }: Written, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const message = twice(error, called, serial);
    if (message === null) throw error;
    throw fail('conflict', { message, cause: error });
  }
}

function twice(error: unknown, called: string, serial: string): string | null {
  if (isDuplicate(error, 'servers_name')) return `There is a server called ${called} already`;
  if (isDuplicate(error, 'servers_serial')) return `There is a server with the serial ${serial} already`;
  if (isDuplicate(error, 'server_bmcs_address')) return 'The BMC at this address is that of another server';
  return null;
}

export function about(id: number) {
  return { subject: { type: 'server', id }, organizationId: null };
}
