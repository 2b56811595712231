import type { InventoryDisk } from '../../drivers/installer/index.ts';
import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { fitOne } from '../profiles/keep.ts';
import { lockServer } from '../servers/staff.ts';

/** A disk that a server has. One that staff recorded and nobody has measured may be of any kind and size. */
export interface ServerDisk extends Pick<InventoryDisk, 'serial'> {
  model: string | null;
  kind: InventoryDisk['kind'] | null;
  bytes: number | null;
}

const known = statement<
  { measured: InventoryDisk[] | null; recorded: ServerDisk[]; gone: string[] },
  { serverId: number }
>(
  'fleet.disksOfServer',
  `select s.hardware -> 'disks' as measured, r.recorded, r.gone from servers s cross join lateral (
     select coalesce(jsonb_agg(jsonb_build_object('serial', d.serial, 'model', d.model, 'kind', d.kind, 'bytes', d.bytes) order by d.id)
         filter (where d.removed_at is null), '[]') as recorded,
       coalesce(jsonb_agg(d.serial) filter (where d.removed_at is not null), '[]') as gone
     from server_disks d where d.server_id = s.id) r
   where s.id = :serverId`,
);
const writeMeasured = statement<never, { id: number; disks: string; now: Date }>(
  'fleet.writeMeasuredDisks',
  `update servers set hardware = jsonb_set(hardware, '{disks}', :disks::jsonb), measured_at = :now where id = :id and hardware is not null`,
);

/**
 * The disks that a server has to have: those that were measured, without those that staff recorded as taken out since, and with those recorded as put in. None
 * where nothing was measured.
 */
export async function disksOf(ctx: Context, serverId: number): Promise<ServerDisk[]> {
  const row = await ctx.db.maybe(known, { serverId });
  if (row === null || row.measured === null) return [];
  const { measured, recorded, gone } = row;
  const inside = new Set(recorded.map(({ serial }) => serial));
  const left = measured.filter(({ serial }) => inside.has(serial) || !gone.includes(serial));
  const since = recorded.filter((disk) => !measured.some(({ serial }) => serial === disk.serial));
  return [...left, ...since];
}

/** A server that is proved has said what its disks are: those that staff had recorded by their serial numbers alone are measured so. */
export async function keepMeasuredDisks(
  tx: TxContext,
  serverId: number,
  disks: readonly InventoryDisk[],
): Promise<void> {
  const before = (await tx.db.maybe(known, { serverId }))?.measured ?? null;
  if (before === null) return;
  const same = before.length === disks.length && disks.every((disk) => before.some(isSame(disk)));
  if (same) return;
  await lockServer(tx, serverId);
  await tx.db.run(writeMeasured, { id: serverId, disks: JSON.stringify(disks), now: tx.clock.now() });
  await fitOne(tx, serverId);
}

function isSame({ serial }: InventoryDisk) {
  return (other: InventoryDisk) => other.serial === serial;
}
