import type { Inventory } from '../../drivers/installer/index.ts';
import { type Context, statement, type TxContext } from '../../platform/index.ts';
import type { ServerSystem } from '../serverImages.ts';
import { isTenant } from '../servers/tenant.ts';
import { disksOf, type ServerDisk } from './disksOf.ts';
import {
  type Assignment,
  assignmentById,
  endAssignment,
  isUnfinished,
  lastInstallation,
  lastOfService,
  lockAssignment,
  sealWork,
  unfinishedOf,
  type Work,
} from './rows.ts';

const insert = statement<
  { id: number },
  {
    serverId: number;
    serviceId: number | null;
    ofTenant: boolean;
    kind: string;
    tree: string | null;
    diskImage: string | null;
    disks: string;
    wipe: string | null;
    keys: string | null;
    hasPassword: boolean | null;
    layout: 'single' | 'raid1' | null;
    now: Date;
  }
>(
  'fleet.insertAssignment',
  `insert into server_assignments (server_id, service_id, of_tenant, kind, state, tree, disk_image, disks, wipe, keys, has_password, layout, opened_at)
   values (:serverId, :serviceId, :ofTenant, :kind, 'open', :tree, :diskImage::jsonb, :disks::jsonb, :wipe::jsonb, :keys::jsonb, :hasPassword, :layout, :now) returning id`,
);
const saidBy = statement<SaidWithPlan, { id: number }>(
  'fleet.saidWithPlan',
  'select inventory, start_mac::text as "startMac" from server_assignments where id = :id',
);
const isLast = statement<{ is: boolean }, { id: number }>(
  'fleet.isLastAssignment',
  `select not exists (select from server_assignments o where o.server_id = g.server_id and o.id > g.id) as is from server_assignments g where g.id = :id`,
);
const writePlan = statement<never, { id: number; plan: Buffer }>(
  'fleet.writeAssignmentPlan',
  'update server_assignments set plan = :plan where id = :id',
);
const endStarts = statement<never, { id: number }>(
  'fleet.endAssignmentStarts',
  'delete from server_starts where assignment_id = :id',
);

/**
 * From now on the installer has this to do with a server: whenever it starts from the network it is told, once it is proved to be that server. The
 * caller sees to it that nobody has anything on its disks; one at a time on a server (`server_assignments_one`). With the service that it comes back from, what
 * becomes of its disks is read by that, where it has had the server. `isOthers`: the server is somebody's who asks for it, so only what the work names is wiped and has to be there, whatever
 * other disks it has. Gives the assignment's id.
 */
export async function openAssignment(
  tx: TxContext,
  serverId: number,
  work: Work,
  system: ServerSystem | null,
  { serviceId = null, isOthers = false }: { serviceId?: number | null; isOthers?: boolean } = {},
): Promise<number> {
  const disks = (await disksOf(tx, serverId)).map(({ serial }) => serial);
  const wipe = isOthers && work.task !== 'rescue' ? JSON.stringify(work.wipe) : null;
  const installed =
    work.task === 'install'
      ? { ...keysOf(work.identity), layout: work.layout.kind }
      : { keys: null, hasPassword: null, layout: null };
  const { id } = await tx.db.one(insert, {
    ...installed,
    ...{
      serverId,
      serviceId,
      ofTenant: serviceId === null || (await isTenant(tx, serverId, serviceId)),
      kind: work.task,
      tree: system?.kind === 'tree' ? system.tree : null,
      diskImage: system?.kind === 'disk' ? JSON.stringify(system.disk) : null,
      disks: JSON.stringify(disks),
      wipe,
      now: tx.clock.now(),
    },
  });
  await tx.db.run(writePlan, { id, plan: sealWork(tx, id, work) });
  return id;
}

function keysOf({ keys, passwordHash }: { keys: string[]; passwordHash: string | null }) {
  return { keys: JSON.stringify(keys), hasPassword: passwordHash !== null };
}

/** Nothing is done with its server any more, and no start of it opens anything. One that has ended stays as it ended; one that there is not is fine. */
export async function closeAssignment(tx: TxContext, id: number): Promise<void> {
  const assignment = await tx.db.maybe(lockAssignment, { id });
  if (assignment !== null && isUnfinished(assignment)) await endAssignment(tx, id, 'cancelled');
  await tx.db.run(endStarts, { id });
}

/** Whatever was to be done with a server is to be done no more. */
export async function closeAllOf(tx: TxContext, serverId: number): Promise<void> {
  for (const { id } of await tx.db.many(unfinishedOf, { serverId })) await closeAssignment(tx, id);
}

/** What was done last with the server that a service had had and gave back; null: nothing yet. One that it only held is none of these. */
export function assignmentOfReturn(ctx: Context, serviceId: number): Promise<Assignment | null> {
  return ctx.db.maybe(lastOfService, { serviceId });
}

/** How a server has been installed since then, at the latest; null: nothing of it was begun yet. */
export function installationSince(ctx: Context, serverId: number, since: Date): Promise<Assignment | null> {
  return ctx.db.maybe(lastInstallation, { serverId, since });
}

/** What is to be done with a server; null: nothing. */
export async function findUnfinishedOf(ctx: Context, serverId: number): Promise<Assignment | null> {
  const open = await ctx.db.maybe(unfinishedOf, { serverId });
  return open === null ? null : findAssignment(ctx, open.id);
}

/** What a server said that it has when it was given its plan last, and the MAC of the port that it had started from; null: it was not, or nobody knows any more. */
export interface SaidWithPlan {
  inventory: Inventory | null;
  startMac: string | null;
}

/** Both null: there is no such assignment. */
export async function saidWithPlan(ctx: Context, id: number): Promise<SaidWithPlan> {
  return (await ctx.db.maybe(saidBy, { id })) ?? { inventory: null, startMac: null };
}

/** Whether nothing else was to be done with its server since. */
export async function isLastAssignment(ctx: Context, id: number): Promise<boolean> {
  return (await ctx.db.maybe(isLast, { id }))?.is === true;
}

export function findAssignment(ctx: Context, id: number): Promise<Assignment | null> {
  return ctx.db.maybe(assignmentById, { id });
}

const kinds = ['nvme', 'ssd', 'hdd'] as const;

/** Where a system goes that nobody said a place for: two alike of the fastest disks as RAID1, else the first of the fastest. Null: it has no disk. */
export function layoutOf(
  disks: readonly ServerDisk[],
): { kind: 'single' | 'raid1'; serials: string[] } | null {
  for (const kind of kinds)
    for (const disk of disks.filter((each) => each.kind === kind)) {
      const alike = disks.filter((each) => each.kind === kind && each.bytes === disk.bytes);
      if (alike.length > 1) return { kind: 'raid1', serials: alike.slice(0, 2).map(({ serial }) => serial) };
    }
  const [first] = kinds.flatMap((kind) => disks.filter((each) => each.kind === kind));
  return first === undefined ? null : { kind: 'single', serials: [first.serial] };
}

/** Where a system goes that nobody said a place for, as {@link layoutOf} chooses; the image of a disk to the first of these. Null: it has no disk. */
export function usualLayoutOf(
  system: ServerSystem,
  disks: readonly ServerDisk[],
): ReturnType<typeof layoutOf> {
  const usual = layoutOf(disks);
  if (usual === null || system.kind === 'tree') return usual;
  return { kind: 'single', serials: usual.serials.slice(0, 1) };
}
