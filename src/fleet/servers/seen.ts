import type { Inventory } from '../../drivers/installer/index.ts';
import { type Context, statement } from '../../platform/index.ts';

/** A part by its fields, for whoever words it; what a part of its kind has not, or nobody knows, is null. */
export interface PartFields {
  model: string | null;
  /** Of a disk. */
  kind: 'nvme' | 'ssd' | 'hdd' | null;
  bytes: number | null;
  healthy: boolean | null;
  /** Of memory: all of it, or a module, which has a type as well. */
  mib: number | null;
  type: string | null;
  /** Of processors. */
  sockets: number | null;
  cores: number | null;
  threads: number | null;
}

/** What of a server is not as it was measured. `was` and `is` in English, `before` and `after` by their fields; null: it was not there, or is not any more. */
export interface HardwareDifference {
  part: 'disk' | 'memory' | 'processor' | 'port';
  /** The serial number of a disk, the place of a memory module, the MAC of a port; null: there is one of it, or all of it is meant. */
  name: string | null;
  was: string | null;
  is: string | null;
  before: PartFields | null;
  after: PartFields | null;
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
      now.set(serial, part(model ?? 'not measured yet', { model }));
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
  const all = ({ memoryMib: mib }: Inventory) => new Map([['', part(`${mib} MiB`, { mib })]]);
  return apart('memory', all(was), all(is));
}

/** A part in words, by which it is told from others, and by its fields. */
interface Part {
  words: string;
  fields: PartFields;
}

function part(words: string, known: Partial<PartFields>): Part {
  const unknown = { model: null, kind: null, bytes: null, healthy: null, mib: null, type: null };
  return { words, fields: { ...unknown, sockets: null, cores: null, threads: null, ...known } };
}

/** Parts by their names. */
function apart(
  kind: HardwareDifference['part'],
  before: ReadonlyMap<string, Part>,
  after: ReadonlyMap<string, Part>,
): Omit<HardwareDifference, 'seenAt'>[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was?.words === is?.words) return [];
    const words = { was: was?.words ?? null, is: is?.words ?? null };
    const fields = { before: was?.fields ?? null, after: is?.fields ?? null };
    return [{ part: kind, name: name || null, ...words, ...fields }];
  });
}

function disksOf({ disks }: Inventory): Map<string, Part> {
  return new Map(
    disks.map(({ serial, model, kind, bytes, healthy }) => {
      const what = `${model} (${kind}, ${Math.round(bytes / 1e9)} GB)`;
      const words = healthy === false ? `${what}, which says that it fails` : what;
      return [serial, part(words, { model, kind, bytes, healthy })];
    }),
  );
}

function modulesOf({ memoryModules }: Inventory): Map<string, Part> {
  return new Map(
    memoryModules.map(({ slot, mib, type }) => [
      slot,
      part(`${mib} MiB ${type}`.trim(), { mib, type: type || null }),
    ]),
  );
}

function processorOf({ processor: { model, sockets, cores, threads } }: Inventory): Part {
  const words = `${sockets} × ${model}, ${cores} cores, ${threads} threads`;
  return part(words, { model, sockets, cores, threads });
}

function portsOf({ ports }: Inventory): Map<string, Part> {
  // What a kernel calls a port says nothing of the port.
  return new Map(ports.map(({ mac }) => [mac.toLowerCase(), part(mac.toLowerCase(), {})]));
}

/** On the wire. */
export function viewDifference({ seenAt, ...difference }: HardwareDifference) {
  return { ...difference, seen_at: seenAt };
}
