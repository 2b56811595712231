import type { InventoryDisk } from '../../drivers/installer/index.ts';
import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { fits, type Measured, type Rules, sizeTolerance } from '../profiles/fit.ts';
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

/** Whether the disks that a server has to have are exactly those that were measured. One of which nothing was measured: yes. */
export async function areDisksMeasured(ctx: Context, serverId: number): Promise<boolean> {
  const measured = (await ctx.db.maybe(known, { serverId }))?.measured ?? null;
  if (measured === null) return true;
  const disks = await disksOf(ctx, serverId);
  return disks.length === measured.length && disks.every((disk) => measured.some(isSame(disk)));
}

const soldAs = statement<
  { name: string | null; disks: Rules['disks']; hardware: Omit<Measured, 'portMbps'> | null },
  { serverId: number }
>(
  'fleet.serverSoldAs',
  `select f.name, f.disks, s.hardware from servers s left join server_profiles f on f.id = s.profile_id where s.id = :serverId and s.state = 'held'`,
);

/** How many disks a server that an order holds lacks of those that its profile says, by what staff recorded. */
export async function missingDisks(ctx: Context, serverId: number): Promise<number> {
  const rules = (await ctx.db.maybe(soldAs, { serverId }))?.disks ?? null;
  if (rules === null) return 0;
  const wanted = rules.reduce((sum, { count }) => sum + count, 0);
  return Math.max(0, wanted - (await disksOf(ctx, serverId)).length);
}

/**
 * What of a server that an order holds is not as it was sold, by what its installer measured just now: a disk of another kind or size than was known, or disks that
 * its profile does not say. Null: nothing, or no order holds it.
 */
export async function otherThanSold(
  ctx: Context,
  serverId: number,
  measured: readonly InventoryDisk[],
): Promise<string | null> {
  const sold = await ctx.db.maybe(soldAs, { serverId });
  if (sold === null) return null;
  const others = (await disksOf(ctx, serverId)).flatMap(({ serial, kind, bytes }) => {
    const now = measured.find((disk) => disk.serial === serial);
    if (now === undefined || kind === null || bytes === null) return [];
    const isAlike = now.kind === kind && Math.abs(now.bytes / bytes - 1) <= sizeTolerance;
    return isAlike ? [] : [`${serial} is ${inWords(now)}, and was taken for ${inWords({ kind, bytes })}`];
  });
  if (others.length > 0) return others.join('; ');
  const { name, disks, hardware } = sold;
  if (disks === null || hardware === null) return null;
  const asMeasured = { ...hardware, disks: [...measured], portMbps: null };
  if (fits({ ...{ threads: null, memory_gib: null, model: null, port_mbps: null }, disks }, asMeasured))
    return null;
  const says = disks.map(({ kind, gb, count }) => `${count} × ${kind} of ${gb} GB`).join(', ');
  return `it has ${measured.map(inWords).join(', ')}, and was sold as ${name} with ${says}`;
}

function inWords({ kind, bytes }: Pick<InventoryDisk, 'kind' | 'bytes'>): string {
  return `${kind} of ${Math.round(bytes / 1e9)} GB`;
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

function isSame({ serial }: Pick<InventoryDisk, 'serial'>) {
  return (other: InventoryDisk) => other.serial === serial;
}
