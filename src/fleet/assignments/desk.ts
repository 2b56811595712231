import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import {
  type Desk,
  type Inventory,
  type InventoryDisk,
  type PackedSystem,
  type Plan,
  type Report,
  seedOf,
} from '../../drivers/installer/index.ts';
import { type Context, statement, type TxContext, transaction } from '../../platform/index.ts';
import { enrolmentDesk } from '../enrolment/desks.ts';
import { findStart, type KeptStart } from '../enrolment/starts.ts';
import type { ServerSystem } from '../serverImages.ts';
import { keepSeen } from '../servers/seen.ts';
import { keepStarted, slowerThanSold } from '../servers/startPort.ts';
import { keepMeasuredDisks, otherThanSold } from './disksOf.ts';
import { isDoubted } from './doubts.ts';
import { hear } from './hear.ts';
import { planInside } from './lockedOut.ts';
import { lookForRescue } from './proveRescue.ts';
import {
  type Assignment,
  type AssignmentFailure,
  assignmentById,
  failAssignment,
  lockAssignment,
  openWork,
} from './rows.ts';
import { patient, type Systems } from './systems.ts';

const startDisks = statement<
  { disks: string[] | null; measured: InventoryDisk[] | null; ports: Inventory['ports'] | null },
  { startId: number }
>(
  'fleet.disksOfStart',
  `select disks, measured, inventory -> 'ports' as ports from server_starts where id = :startId`,
);
const namePacked = statement<never, { id: number; sha256: string; bytes: number }>(
  'fleet.namePacked',
  `update server_assignments set tree_sha256 = :sha256, tree_bytes = :bytes where id = :id and tree_sha256 is distinct from :sha256`,
);
const noteProblem = statement<never, { id: number; problem: string | null }>(
  'fleet.noteImageProblem',
  `update server_assignments set failure = :problem, failure_code = case when :problem::text is null then null else 'image_unusable' end
   where id = :id and state = 'working' and failure is distinct from :problem`,
);
// A server that waits for us is not late.
const noteBuilding = statement<never, { id: number; said: string; now: Date }>(
  'fleet.noteImageBuilding',
  `update server_assignments set failure = :said, failure_code = 'image_unusable', heard_at = :now where id = :id and state = 'working'`,
);

// With what the server said that it has, which goes with the start.
const noteGiven = statement<never, { id: number; startId: number; now: Date }>(
  'fleet.notePlanGiven',
  `update server_assignments set given_at = coalesce(given_at, :now), (inventory, start_mac) = (select inventory, mac from server_starts where id = :startId)
   where id = :id and state = 'working'`,
);

/** Whom the installers of all servers call: of those with which something is to be done, and of those that nobody knows. */
export function serverDesk(ctx: Context, systems: Systems): Desk {
  const strangers = enrolmentDesk(ctx);
  const systemOf = patient(systems);
  const assigned = async (hash: string): Promise<(KeptStart & { assignmentId: number }) | null> => {
    const start = await findStart(ctx, hash);
    return start !== null && start.assignmentId !== null
      ? { ...start, assignmentId: start.assignmentId }
      : null;
  };
  return {
    find: strangers.find,
    async keep(start) {
      if (await isDoubted(ctx, start.tokenHash)) return false;
      const isMine = await strangers.keep(start);
      const mine = isMine ? await assigned(start.tokenHash) : null;
      if (mine !== null) await lookForRescue(ctx, mine.assignmentId);
      return isMine;
    },
    async report(start, report: Report) {
      const mine = await assigned(start.tokenHash);
      return mine === null ? strangers.report(start, report) : hear(ctx, mine, report);
    },
    async plan(start) {
      const mine = await assigned(start.tokenHash);
      return mine === null ? strangers.plan(start) : planOf(ctx, systemOf, mine);
    },
    async meanwhile(start) {
      const mine = await assigned(start.tokenHash);
      if (mine === null) return strangers.meanwhile(start);
      // Whoever is not proved to be the server is told nothing, but to let us into a BMC of its own.
      return (await planInside(ctx, mine.id)) ?? { task: 'wait' };
    },
    async image(start) {
      const mine = await assigned(start.tokenHash);
      if (mine === null) return strangers.image(start);
      const assignment = await ctx.db.maybe(assignmentById, { id: mine.assignmentId });
      const system = assignment?.state === 'working' ? installedBy(assignment) : null;
      if (assignment === null || system === null) return null;
      const packed = await systems(system, () => undefined);
      if (packed.sha256 !== assignment.tree_sha256) return null;
      return { bytes: (await stat(packed.file)).size, content: createReadStream(packed.file) };
    },
  };
}

/** What an assignment installs; null: nothing. */
function installedBy({ tree, disk_image: disk }: Assignment): ServerSystem | null {
  if (tree !== null) return { kind: 'tree', tree };
  return disk === null ? null : { kind: 'disk', disk };
}

/** What a server is to do that is proved. What it lacks for it ends the assignment in words, before anything was done to a disk. */
async function planOf(
  ctx: Context,
  systemOf: ReturnType<typeof patient>,
  { id: startId, mac, assignmentId }: KeptStart & { assignmentId: number },
): Promise<Plan> {
  const assignment = await ctx.db.maybe(assignmentById, { id: assignmentId });
  if (assignment === null || assignment.state !== 'working') return { task: 'restart' };
  const { id, plan: sealed } = assignment;
  if (sealed === null) return { task: 'restart' };
  const {
    disks: said = null,
    measured = null,
    ports = null,
  } = (await ctx.db.maybe(startDisks, { startId })) ?? {};
  if (said === null) return { task: 'wait' };
  await keepSeen(ctx, assignment.server_id, startId);
  if (assignment.kind !== 'rescue') {
    const wrong = wrongDisks(assignment, said) ?? (await notAsSold(ctx, assignment, measured));
    if (wrong !== null) {
      await transaction(ctx, 'fleet.refuseDisks', (tx) => refuse(tx, id, wrong));
      return { task: 'wait' };
    }
    if (assignment.kind === 'install' && assignment.wipe === null && ports !== null) {
      const started = { mac, ports };
      // Before a disk is touched: what an order was sold with is not what is in the rack.
      const slow = await slowerThanSold(ctx, assignment.server_id, started);
      if (slow !== null) {
        await transaction(ctx, 'fleet.refusePort', (tx) => refuse(tx, id, slow, 'port_too_slow'));
        return { task: 'wait' };
      }
      await transaction(ctx, 'fleet.keepStarted', (tx) => keepStarted(tx, assignment.server_id, started));
    }
    // Of a server that is somebody's only the disks of the work are known to be there as they are written down.
    if (measured !== null && assignment.wipe === null)
      await transaction(ctx, 'fleet.keepMeasuredDisks', (tx) =>
        keepMeasuredDisks(tx, assignment.server_id, measured),
      );
  }
  const work = openWork(ctx, id, sealed);
  const { nameservers } = ctx.config;
  if (work.task === 'rescue') return { ...work, mac, nameservers };
  if (work.task === 'wipe') return given(ctx, id, startId, work);
  const system = installedBy(assignment);
  if (system === null) throw new Error(`assignment ${id} installs no system`);
  const packed = await systemOf(system);
  if ('problem' in packed) {
    const { problem, isBuilding } = packed;
    if (isBuilding) {
      await ctx.db.run(noteBuilding, { id, said: problem, now: ctx.clock.now() });
      return { task: 'wait' };
    }
    ctx.log.warn({ assignment: id, problem }, 'a server waits for what it is to be installed with');
    await ctx.db.run(noteProblem, { id, problem });
    return { task: 'wait' };
  }
  const small = tooSmall(packed, work.layout.serials, measured ?? []);
  if (small !== null) {
    await transaction(ctx, 'fleet.refuseDisks', (tx) => refuse(tx, id, small, 'image_unusable'));
    return { task: 'wait' };
  }
  await ctx.db.run(noteProblem, { id, problem: null });
  const { sha256, disk } = packed;
  await ctx.db.run(namePacked, { id, sha256, bytes: (await stat(packed.file)).size });
  const identity = { ...work.identity, mac, nameservers };
  const image =
    disk === null ? { sha256 } : { sha256, disk: { ...disk, seed: seedOf(`server-${id}`, identity) } };
  return given(ctx, id, startId, { ...work, image, identity });
}

/** Noted before it goes out: from here on its disks may be written to. Of work that was called off meanwhile nothing goes out. */
async function given(ctx: Context, id: number, startId: number, plan: Plan): Promise<Plan> {
  const written = await ctx.db.run(noteGiven, { id, startId, now: ctx.clock.now() });
  return written > 0 ? plan : { task: 'restart' };
}

/** Nobody gets another server than they bought. What comes back is wiped as it is. */
async function notAsSold(
  ctx: Context,
  { kind, server_id: serverId }: Assignment,
  measured: InventoryDisk[] | null,
) {
  return kind === 'install' && measured !== null ? otherThanSold(ctx, serverId, measured) : null;
}

/** Beside the image there has to be room for who the server is. */
const roomBeside = 8 * 2 ** 20;

/** Why one of the disks cannot take the image of a disk, before anything is wiped for it; null: all can, or it is none. */
function tooSmall(
  { disk: image }: PackedSystem,
  serials: readonly string[],
  measured: readonly InventoryDisk[],
): string | null {
  if (image === null) return null;
  const coarse = measured.find(
    ({ serial, sectorBytes = 512 }) => serials.includes(serial) && sectorBytes !== 512,
  );
  if (coarse !== undefined)
    return `the image has sectors of 512 bytes, and the disk ${coarse.serial} has ${coarse.sectorBytes}`;
  const gb = (bytes: number) => Math.ceil(bytes / 1e8) / 10;
  const small = measured.find(
    ({ serial, bytes }) => serials.includes(serial) && bytes < image.bytes + roomBeside,
  );
  if (small === undefined) return null;
  return `the image takes ${gb(image.bytes + roomBeside)} GB, and the disk ${small.serial} has ${gb(small.bytes)}`;
}

async function refuse(
  tx: TxContext,
  id: number,
  wrong: string,
  code: AssignmentFailure = 'other_disks',
): Promise<void> {
  const assignment = await tx.db.maybe(lockAssignment, { id });
  if (assignment?.state === 'working') await failAssignment(tx, id, code, wrong);
}

/**
 * What is in the server and should not be, or the other way round; null: exactly what was measured. Of a server that is somebody's only what is wiped has to be
 * there: no other disk is touched.
 */
function wrongDisks({ disks, wipe }: Assignment, said: readonly string[]): string | null {
  const lost = wipe?.filter((serial) => !said.includes(serial)) ?? [];
  if (lost.length > 0) return `the server lacks ${lost.join(', ')}`;
  if (wipe !== null) return null;
  const gone = disks.filter((serial) => !said.includes(serial));
  const others = said.filter((serial) => !disks.includes(serial));
  if (gone.length === 0 && others.length === 0) return null;
  const parts = [
    ...(gone.length > 0 ? [`it lacks ${gone.join(', ')}`] : []),
    ...(others.length > 0 ? [`it has ${others.join(', ')}`] : []),
  ];
  return `the server has other disks than were measured: ${parts.join(', and ')}`;
}
