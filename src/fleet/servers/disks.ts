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
const putIn = statement<never, { serverId: number; serial: string; model: string | null; now: Date }>(
  'fleet.putInDisk',
  `insert into server_disks (server_id, serial, model, installed_at) values (:serverId, :serial, :model, :now)`,
);

/**
 * Writes down that a disk was taken out of a server, put in, or one for another. `invalid_request` when it had no such disk, `conflict` when
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
    if (installed !== undefined) await install(tx, id, installed, model ?? null);
    const data = { name, removed: removed ?? null, installed: installed ?? null };
    await record(tx, serverDiskChanged, { ...about(id), data });
    return readServer(tx, id);
  });
}

async function install(tx: TxContext, serverId: number, serial: string, model: string | null): Promise<void> {
  try {
    await tx.db.run(putIn, { serverId, serial, model, now: tx.clock.now() });
  } catch (error) {
    if (!isDuplicate(error, 'server_disks_serial')) throw error;
    throw fail('conflict', { message: `The disk ${serial} is in a server already`, cause: error });
  }
}
