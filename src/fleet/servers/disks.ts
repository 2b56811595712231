import { record } from '../../events/index.ts';
import {
  type Context,
  fail,
  isDuplicate,
  refuse,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { serverDiskChanged } from '../events.ts';
import { disksChanged } from './rent.ts';
import { about, readServer, requireServer } from './staff.ts';

export interface DiskChange {
  removed?: string;
  installed?: string;
  model?: string;
}

const takeOut = statement<never, { serverId: number; serial: string; now: Date }>(
  'fleet.takeOutDisk',
  'update server_disks set removed_at = :now where server_id = :serverId and serial = :serial and removed_at is null',
);
// In the place of another one it is of its kind and size, until it is measured.
const putIn = statement<
  never,
  { serverId: number; serial: string; model: string | null; removed: string | null; now: Date }
>(
  'fleet.putInDisk',
  `insert into server_disks (server_id, serial, model, installed_at, kind, bytes)
   select :serverId, :serial, :model::text, :now, b.kind, b.bytes
   from (select 1) one left join lateral (
     select was.kind, was.bytes from (
       select d.value ->> 'kind' as kind, (d.value ->> 'bytes')::bigint as bytes, 1 as nth
       from servers s, jsonb_array_elements(s.hardware -> 'disks') d
       where s.id = :serverId and d.value ->> 'serial' = :removed::text
       union all
       select kind, bytes, 2 from server_disks where server_id = :serverId and serial = :removed::text and kind is not null
     ) was order by was.nth limit 1) b on true`,
);
const unmeasure = statement<never, { id: number; reason: string; now: Date }>(
  'fleet.unmeasureServer',
  `update servers set state = 'waiting', reason = :reason, state_since = :now where id = :id and state = 'ready'`,
);

/**
 * Writes down that a disk was taken out of a server, put in, or one for another: whoever is to wipe or install it is held to that. One in stock waits to be
 * measured anew, and one that an order holds does when it is given back. `invalid_request` when it had no such disk, `conflict` when
 * the new one is in a server already.
 */
export async function changeServerDisk(ctx: Context, id: number, { removed, installed, model }: DiskChange) {
  if (removed === undefined && installed === undefined)
    throw refuse('body', 'must say which disk was taken out, or which was put in');
  if (installed === undefined && model !== undefined)
    throw refuse('model', 'has no meaning without a disk that was put in');
  return transaction(ctx, 'fleet.changeServerDisk', async (tx) => {
    const { name } = await requireServer(tx, id);
    const now = tx.clock.now();
    if (removed !== undefined && (await tx.db.run(takeOut, { serverId: id, serial: removed, now })) === 0)
      throw refuse('removed', `is the serial of no disk in ${name}`);
    if (installed !== undefined)
      await install(tx, id, { serial: installed, model: model ?? null, removed: removed ?? null });
    // Sold is what was measured: nobody gets a disk that nobody has looked at, or fewer than its profile says.
    await tx.db.run(unmeasure, { id, reason: disksChanged, now });
    const data = { name, removed: removed ?? null, installed: installed ?? null };
    await record(tx, serverDiskChanged, { ...about(id), data });
    return readServer(tx, id);
  });
}

async function install(
  tx: TxContext,
  serverId: number,
  disk: { serial: string; model: string | null; removed: string | null },
): Promise<void> {
  const { serial } = disk;
  try {
    await tx.db.run(putIn, { serverId, ...disk, now: tx.clock.now() });
  } catch (error) {
    if (!isDuplicate(error, 'server_disks_serial')) throw error;
    throw fail('conflict', { message: `The disk ${serial} is in a server already`, cause: error });
  }
}
