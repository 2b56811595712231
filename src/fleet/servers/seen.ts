import type { Inventory } from '../../drivers/installer/index.ts';
import { type Context, statement } from '../../platform/index.ts';

/** What of a server is not as it was measured. `was` and `is` in words; null: it was not there, or is not any more. */
export interface HardwareDifference {
  part: 'disk' | 'memory' | 'processor' | 'port';
  /** The serial number of a disk, the place of a memory module, the MAC of a port; null: there is one of it, or all of it is meant. */
  name: string | null;
  was: string | null;
  is: string | null;
  /** When a start said so last, or staff wrote it down. */
  seenAt: Date;
}

/** What is known of a server's parts: as they were measured, as a start said them last, and as staff wrote disks down since. */
export interface KnownParts {
  hardware: Inventory | null;
  measuredAt: Date | null;
  seen: Inventory | null;
  seenAt: Date | null;
  /** With what was taken out. */
  disks: readonly { serial: string; model: string | null; installedAt: Date; removedAt: Date | null }[];
}

/** Kernels of two versions count the memory of one machine a little differently. */
const memoryTolerance = 0.02;

const keep = statement<never, { serverId: number; startId: number; now: Date }>(
  'fleet.keepSeenHardware',
  `update servers s set seen_hardware = t.inventory, seen_at = :now, seen_start_id = t.id
   from server_starts t where t.id = :startId and t.proved and t.inventory is not null and s.id = :serverId
     and s.hardware is not null and s.seen_start_id is distinct from t.id`,
);

/** Keeps what a server said that it has when it was started for work on it: once for each start, and of one that is proved alone. */
export async function keepSeen(ctx: Context, serverId: number, startId: number): Promise<void> {
  await ctx.db.run(keep, { serverId, startId, now: ctx.clock.now() });
}

/** How a server differs from what was measured of it; empty: in nothing that anybody has seen. */
export function hardwareDifferences(known: KnownParts): HardwareDifference[] {
  const { hardware, measuredAt, seen, seenAt } = known;
  if (hardware === null || measuredAt === null) return [];
  const disks = ofDisks(known, hardware, seenAt ?? measuredAt);
  if (seen === null || seenAt === null) return disks;
  const others = [
    ...apart('memory', modulesOf(hardware), modulesOf(seen)),
    ...ofMemory(hardware, seen),
    ...apart('processor', new Map([['', processorOf(hardware)]]), new Map([['', processorOf(seen)]])),
    ...apart('port', portsOf(hardware), portsOf(seen)),
  ];
  return [...disks, ...others.map((each) => ({ ...each, seenAt }))];
}

/** What staff wrote down after anybody looked is newer than what was seen. */
function ofDisks({ seen, disks }: KnownParts, hardware: Inventory, lookedAt: Date): HardwareDifference[] {
  const now = disksOf(seen ?? hardware);
  const writtenAt = new Map<string, Date>();
  for (const { serial, model, installedAt, removedAt } of disks) {
    if (installedAt > lookedAt) {
      now.set(serial, model ?? 'not measured yet');
      writtenAt.set(serial, installedAt);
    }
    if (removedAt !== null && removedAt > lookedAt) {
      now.delete(serial);
      writtenAt.set(serial, removedAt);
    }
  }
  return apart('disk', disksOf(hardware), now).map((each) => ({
    ...each,
    seenAt: writtenAt.get(each.name ?? '') ?? lookedAt,
  }));
}

function ofMemory(was: Inventory, is: Inventory): Omit<HardwareDifference, 'seenAt'>[] {
  if (Math.abs(is.memoryMib / Math.max(1, was.memoryMib) - 1) <= memoryTolerance) return [];
  return [{ part: 'memory', name: null, was: `${was.memoryMib} MiB`, is: `${is.memoryMib} MiB` }];
}

/** Parts by their names, each in words. */
function apart(
  part: HardwareDifference['part'],
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Omit<HardwareDifference, 'seenAt'>[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [was = null, is = null] = [before.get(name), after.get(name)];
    return was === is ? [] : [{ part, name: name || null, was, is }];
  });
}

function disksOf({ disks }: Inventory): Map<string, string> {
  return new Map(
    disks.map(({ serial, model, kind, bytes, healthy }) => {
      const what = `${model} (${kind}, ${Math.round(bytes / 1e9)} GB)`;
      return [serial, healthy === false ? `${what}, which says that it fails` : what];
    }),
  );
}

function modulesOf({ memoryModules }: Inventory): Map<string, string> {
  return new Map(memoryModules.map(({ slot, mib, type }) => [slot, `${mib} MiB ${type}`.trim()]));
}

function processorOf({ processor: { model, sockets, cores, threads } }: Inventory): string {
  return `${sockets} × ${model}, ${cores} cores, ${threads} threads`;
}

function portsOf({ ports }: Inventory): Map<string, string> {
  // What a kernel calls a port says nothing of the port.
  return new Map(ports.map(({ mac }) => [mac.toLowerCase(), mac.toLowerCase()]));
}

/** On the wire. */
export function viewDifference({ part, name, was, is, seenAt }: HardwareDifference) {
  return { part, name, was, is, seen_at: seenAt };
}
