import type { Report } from '../../drivers/installer/index.ts';
import { record } from '../../events/index.ts';
import { type Context, statement, type TxContext, transaction } from '../../platform/index.ts';
import { serverInstalled } from '../events.ts';
import { about, requireServer } from '../servers/staff.ts';
import { noteInstalledTenant } from '../servers/tenant.ts';
import { disksOf } from './disksOf.ts';
import { forgetInstalled } from './installed.ts';
import { hearInside } from './lockedOut.ts';
import {
  type Assignment,
  type AssignmentFailure,
  type Erasure,
  endAssignment,
  failAssignment,
  lockAssignment,
} from './rows.ts';

const writeDisks = statement<never, { startId: number; disks: string; measured: string; inventory: string }>(
  'fleet.writeStartDisks',
  'update server_starts set disks = :disks::jsonb, measured = :measured::jsonb, inventory = :inventory::jsonb where id = :startId and disks is null',
);
const write = statement<
  never,
  { id: number; step: string | null; bytes: number | null; erasures: string; now: Date }
>(
  'fleet.hearAssignment',
  `update server_assignments set step = :step, bytes = :bytes, erasures = :erasures::jsonb, heard_at = :now, failure = null, failure_code = null
   where id = :id`,
);
const reopen = statement<never, { id: number; failure: string; now: Date }>(
  'fleet.reopenAssignment',
  `update server_assignments set state = 'open', step = null, bytes = null, failure = :failure, tries = tries + 1, powered_at = null, reached_at = null,
     heard_at = :now where id = :id`,
);
const noteReached = statement<never, { id: number; now: Date }>(
  'fleet.noteRescueReached',
  'update server_assignments set reached_at = :now, heard_at = :now, begun = 0, failure = null, failure_code = null where id = :id',
);
const endStarts = statement<never, { id: number }>(
  'fleet.endProvedStarts',
  'delete from server_starts where assignment_id = :id and proved',
);

/** Steps since which a disk may have what is its customer's. */
const identifying: ReadonlySet<string> = new Set(['identity', 'boot']);
/** So often is begun what did not come to its end for a reason that may pass. */
const mostTries = 2;

/** A server that is to be worked on says something. From one that is not proved only what it says that it has is kept, with its start. */
export async function hear(
  ctx: Context,
  start: { id: number; assignmentId: number; proved: boolean },
  report: Report,
): Promise<void> {
  if (report.kind === 'inventory') {
    const disks = report.inventory.disks.map(({ serial }) => serial);
    const measured = JSON.stringify(report.inventory.disks);
    const inventory = JSON.stringify(report.inventory);
    await ctx.db.run(writeDisks, { startId: start.id, disks: JSON.stringify(disks), measured, inventory });
    return;
  }
  if (report.kind === 'bmc') return hearInside(ctx, start.id, report.problem);
  if (!start.proved) return;
  await transaction(ctx, 'fleet.hearAssignment', async (tx) => {
    const assignment = await tx.db.maybe(lockAssignment, { id: start.assignmentId });
    // The last report may come twice.
    if (assignment?.state !== 'working') return;
    await note(tx, assignment, report);
  });
}

async function note(
  tx: TxContext,
  assignment: Assignment,
  report: Exclude<Report, { kind: 'inventory' | 'bmc' }>,
): Promise<void> {
  const { id } = assignment;
  if (report.kind === 'failed') return giveUp(tx, assignment, failureOf(report.reason), report.reason);
  if (report.kind === 'done') return finish(tx, assignment);
  // Whoever is root in the rescue system knows the secret of its start, and nothing is wiped there.
  if (report.kind === 'wiped' && !wipesOf(assignment).includes(report.wiped.serial)) return;
  if (report.kind === 'step' && assignment.kind === 'install' && identifying.has(report.step))
    await noteInstalledTenant(tx, assignment.server_id);
  const now = tx.clock.now();
  const erasures: Record<string, Erasure> = { ...assignment.erasures };
  if (report.kind === 'wiped') {
    const { serial } = report.wiped;
    // Kept with it: another disk may be in the server by when somebody reads it.
    const measured = (await disksOf(tx, assignment.server_id)).find((disk) => disk.serial === serial);
    erasures[serial] = { ...report.wiped, model: measured?.model ?? null, endedAt: now.toISOString() };
  }
  const { step, bytes } =
    report.kind === 'step'
      ? { step: report.step, bytes: null }
      : { step: assignment.step, bytes: report.kind === 'progress' ? report.bytes : assignment.bytes };
  // A disk that takes nothing any more has as much written to it as before each time that it is told.
  const isStill = report.kind === 'progress' && report.bytes === assignment.bytes;
  const heard = isStill ? (assignment.heard_at ?? now) : now;
  await tx.db.run(write, { id, step, bytes, erasures: JSON.stringify(erasures), now: heard });
}

/** Serials of the disks that are wiped for an assignment. */
function wipesOf({ kind, disks, wipe }: Assignment): string[] {
  return kind === 'rescue' ? [] : (wipe ?? disks);
}

/** What it did is believed as far as it was read: a disk of which nobody saw that it was wiped was not. */
async function finish(tx: TxContext, assignment: Assignment): Promise<void> {
  const { id, server_id: serverId, kind, erasures } = assignment;
  // It is what the server starts until somebody says otherwise.
  if (kind === 'rescue') return void (await tx.db.run(noteReached, { id, now: tx.clock.now() }));
  const left = wipesOf(assignment).filter((serial) => (erasures[serial]?.method ?? null) === null);
  if (left.length > 0)
    return failAssignment(tx, id, 'disk_not_wiped', `not shown to be wiped: ${left.join(', ')}`);
  await endAssignment(tx, id, 'done');
  await forgetInstalled(tx, serverId, id);
  if (kind !== 'install') return;
  await noteInstalledTenant(tx, serverId);
  const { name } = await requireServer(tx, serverId);
  await record(tx, serverInstalled, { ...about(serverId), data: { name } });
}

/** By the words of the installer's scripts. */
function failureOf(reason: string): AssignmentFailure {
  if (reason.startsWith('the image')) return 'image_unusable';
  if (reason.endsWith('could not be wiped')) return 'disk_not_wiped';
  return 'server_failed';
}

/**
 * Ends an assignment whose work did not come to its end; what may pass is begun anew first, from the wipe. The assignment is locked by the caller.
 */
export async function giveUp(
  tx: TxContext,
  { id, tries }: Assignment,
  code: AssignmentFailure,
  failure: string,
): Promise<void> {
  const mayPass = code === 'image_unusable' || code === 'server_silent';
  if (!mayPass || tries >= mostTries) return failAssignment(tx, id, code, failure);
  await tx.db.run(endStarts, { id });
  await tx.db.run(reopen, { id, failure, now: tx.clock.now() });
}
