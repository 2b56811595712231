import { type Bmc, type BmcConnection, BmcError } from '../../drivers/bmc/index.ts';
import {
  type Context,
  findLastRestore,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { readNonce } from '../enrolment/readNonce.ts';
import { proveStart } from '../enrolment/starts.ts';
import { bmcConnection, deafToButton } from '../servers/life.ts';
import { isOutOfOrder } from '../servers/silence.ts';
import { type AtHand, atWork, ServerFailure } from './atHand.ts';
import { disksOf, type ServerDisk } from './disksOf.ts';
import { giveUp } from './hear.ts';
import { isLockedOut, lockedOut, noteLockedOut, requireLetIn } from './lockedOut.ts';
import { findAssignment } from './open.ts';
import { type Assignment, type AssignmentFailure, lockAssignment } from './rows.ts';

export { type AtHand, atWork, ServerFailure } from './atHand.ts';

/** Until where an assignment is carried out: the server was switched on for it, it was proved to be the server, the installer is done. */
export type Stage = 'powered' | 'proved' | 'done';

/** Large servers look at their memory for minutes before they start anything. */
const comesWithinMs = 20 * 60_000;
const saysSomethingWithinMs = 10 * 60_000;
const oursToMend: ReadonlySet<string> = new Set(['program_absent', 'spec_invalid', 'not_supported']);
/** It prints its nonce every two seconds; of a stranger's start none is read however long one listens. */
const proofMs = 10_000;
/**
 * So often an installer begins that comes to no end and does not say why, as where its power goes; once more after the server was off, and then it is given up.
 */
const mostBegun = 3;
/** Of the slowest disks, while they are overwritten. */
const slowestBytesPerMs = 20_000;

const claimed = statement<{ id: number; mac: string; nonce: string }, { id: number }>(
  'fleet.claimedStarts',
  `select id, mac::text as mac, nonce from server_starts where assignment_id = :id and secret_hash is not null and not proved order by id`,
);
const endOtherStarts = statement<never, { id: number; startId: number }>(
  'fleet.endOtherAssignmentStarts',
  'delete from server_starts where assignment_id = :id and id <> :startId',
);
const powered = statement<never, { id: number; now: Date }>(
  'fleet.noteAssignmentPowered',
  `update server_assignments set powered_at = :now where id = :id and state = 'open'`,
);
const begin = statement<never, { id: number; now: Date }>(
  'fleet.beginAssignment',
  `update server_assignments set state = 'working', begun = begun + 1, broke_off_at = coalesce(step, broke_off_at), step = null, bytes = null, reached_at = null, erasures = '{}', heard_at = :now, powered_at = coalesce(powered_at, :now) where id = :id`,
);
const touch = statement<never, { id: number; now: Date }>(
  'fleet.touchAssignment',
  `update server_assignments set heard_at = :now where id = :id and state = 'open'`,
);
const beginAnew = statement<never, { id: number; now: Date }>(
  'fleet.beginAssignmentAnew',
  `update server_assignments set state = 'open', step = null, bytes = null, reached_at = null, erasures = '{}', begun = 0, broke_off_at = null, powered_at = null, heard_at = null, opened_at = :now
   where id = :id and state in ('open', 'working')`,
);
const firmwareOf = statement<{ boot: 'bios' | 'uefi' | null }, { serverId: number }>(
  'fleet.firmwareOfServer',
  `select hardware -> 'firmware' ->> 'boot' as boot from servers where id = :serverId`,
);

/**
 * Goes on with an assignment until a stage is reached, and returns; while it is not, it throws what makes a job come again and use no attempt up (`waits`).
 * Each call finds by itself what is to be done next, so it may be repeated after anything. {@link ServerFailure} when the server is out of order.
 */
export async function carryOut(at: AtHand, id: number, until: Stage): Promise<void> {
  let assignment = await requireGoing(at.ctx, id);
  if (isReached(assignment)) return;
  if (at.isHeld) assignment = await begunSinceRestore(at, assignment);
  if (assignment.powered_at === null) {
    if (at.isHeld && assignment.heard_at === null) await requireServerOff(at, assignment.server_id);
    if (assignment.locked_out_at !== null) await requireLetIn(at, assignment, assignment.locked_out_at);
    await powerFromNetwork(at, assignment);
    await at.ctx.db.run(powered, { id, now: at.ctx.clock.now() });
  }
  if (until === 'powered') return;
  await proveClaimed(at, assignment, { isBounded: true });
  assignment = await requireGoing(at.ctx, id);
  if (isReached(assignment) || (assignment.state === 'working' && until === 'proved')) return;
  const late = lateness(at.ctx, assignment, await disksOf(at.ctx, assignment.server_id));
  if (late !== null) {
    await transaction(at.ctx, 'fleet.giveUpAssignment', (tx) => giveUpAt(tx, assignment, late));
    await requireGoing(at.ctx, id);
  }
  // What comes back is wiped for hours, and nobody waits for it.
  throw atWork(inWords(assignment), { isSoon: assignment.kind !== 'wipe' });
}

/** Of a server that comes back whose BMC does not let us in: waits until it does again. */
async function powerFromNetwork(at: AtHand, assignment: Assignment): Promise<void> {
  try {
    await withBmcOf(at, assignment.server_id, sinceOf(assignment), (bmc) =>
      startFromNetwork(at.ctx, bmc, assignment),
    );
  } catch (error) {
    if (at.isHeld || !isLockedOut(assignment, error)) throw error;
    await noteLockedOut(at.ctx, assignment.id);
    throw lockedOut();
  }
}

/** A rescue system that runs goes on being what the server starts. */
function isReached({ state, reached_at: reached }: Assignment): boolean {
  return state === 'done' || reached !== null;
}

/** An assignment that a backup brought back begins anew, once, if the server is off; what was begun after the restore goes on as it is. */
async function begunSinceRestore(at: AtHand, assignment: Assignment): Promise<Assignment> {
  const { id, server_id: serverId, opened_at: opened } = assignment;
  const restore = await findLastRestore(at.ctx);
  if (restore === null || opened > restore.restored_at) return assignment;
  await requireServerOff(at, serverId);
  await at.ctx.db.run(beginAnew, { id, now: at.ctx.clock.now() });
  return requireGoing(at.ctx, id);
}

async function requireGoing(ctx: Context, id: number): Promise<Assignment> {
  const assignment = await findAssignment(ctx, id);
  if (assignment === null) throw new Error(`there is no assignment ${id}`);
  if (assignment.state === 'failed')
    throw new ServerFailure(assignment.failure_code ?? 'server_failed', assignment.failure ?? 'it failed');
  if (assignment.state === 'cancelled')
    throw new ServerFailure('server_failed', 'what was to be done with the server was called off');
  return assignment;
}

/** Of two that see the same silence, one gives up. */
async function giveUpAt(tx: TxContext, { id, state, tries, heard_at: heard }: Assignment, late: Late) {
  const now = await tx.db.maybe(lockAssignment, { id });
  if (now === null || now.state !== state || now.tries !== tries) return;
  if (now.heard_at?.getTime() !== heard?.getTime()) return;
  await giveUp(tx, now, late.code, late.message);
}

interface Late {
  code: AssignmentFailure;
  message: string;
}

/** What is to be said of a server that should have been heard of by now; null: there is time. */
function lateness(ctx: Context, assignment: Assignment, disks: readonly ServerDisk[]): Late | null {
  const { state, step, powered_at: poweredAt, heard_at: heardAt, failure_code: code, failure } = assignment;
  const since = state === 'open' ? poweredAt : heardAt;
  if (since === null) return null;
  const wiped = disks.find(({ serial }) => step === `wipe ${serial}`);
  // While the image of a disk is written or read back, nothing is counted for as long as there are zeros.
  const isImage = assignment.disk_image !== null && (step === 'write' || step === 'check');
  const bytes = isImage ? Math.max(0, ...disks.map((disk) => disk.bytes ?? 0)) : (wiped?.bytes ?? 0);
  const withinMs = state === 'open' ? comesWithinMs : saysSomethingWithinMs + bytes / slowestBytesPerMs;
  if (ctx.clock.now().getTime() - since.getTime() < withinMs) return null;
  if (state === 'working' && code !== null && failure !== null) return { code, message: failure };
  const minutes = Math.round(withinMs / 60_000);
  const message =
    state === 'open'
      ? `the server was switched on and did not start our installer within ${minutes} minutes, or could not be proved to be the one behind its BMC`
      : `the installer was not heard of for ${minutes} minutes${step === null ? '' : ` at: ${step}`}`;
  return { code: 'server_silent', message };
}

/** What is under way, for whoever looks at the job. */
function inWords({ state, step, bytes, tree_bytes: of, failure }: Assignment): string {
  if (state === 'open') return 'the server is on its way to the installer';
  const mb = (count: number) => Math.round(count / 1_000_000);
  const progress = bytes === null || of === null ? '' : `, ${mb(bytes)} of ${mb(of)} MB`;
  // Before its first step it may have to wait for its system.
  return `the installer is at work: ${step ?? failure ?? 'it has just begun'}${progress}`;
}

/** Off first: whatever runs on it is not asked. What it starts from is said while it is off, for some BMCs forget it within a minute. */
async function startFromNetwork(
  ctx: Context,
  bmc: Bmc,
  { id, server_id: serverId, kind, wipe, tries, heard_at: heardAt }: Assignment,
): Promise<void> {
  const firmware = (await ctx.db.one(firmwareOf, { serverId })).boot ?? 'bios';
  // What is in stock is off. After a restore somebody may have been given it since the backup. Who asks for what is done to their own has it on.
  const isOfStock = kind === 'install' && wipe === null;
  const isFirst = isOfStock && tries === 1 && heardAt === null && (await findLastRestore(ctx)) !== null;
  if (isFirst && (await bmc.readPower()) === 'on')
    throw new ServerFailure(
      'server_failed',
      'the server is on and is left alone: it may have been delivered since the backup that was restored',
    );
  // From here on it is our work that has it on, be it that the next answer is lost.
  await ctx.db.run(touch, { id, now: ctx.clock.now() });
  await bmc.powerOff();
  // Whoever looked at its serial line until now reads nothing of what the installer says there, whatever became of the process that showed it.
  (await bmc.openSerial()).destroy();
  await bmc.setNextBoot({ from: 'network', firmware });
  await bmc.powerOn();
}

/**
 * Reads which of the starts that somebody has claimed the server's own is, where there is one that is not proved. Whether the line was listened to. `isBounded`: the
 * assignment is given up when it has begun too often.
 */
export async function proveClaimed(
  at: AtHand,
  assignment: Assignment,
  { isBounded = false }: { isBounded?: boolean } = {},
): Promise<boolean> {
  const { id, server_id: serverId } = assignment;
  if ((await at.ctx.db.many(claimed, { id })).length === 0) return false;
  let isHeard = true;
  const find = async (nonce: string) =>
    (await at.ctx.db.many(claimed, { id })).find((start) => start.nonce === nonce) ?? null;
  const found = await withBmcOf(at, serverId, sinceOf(assignment), (bmc) =>
    readNonce(bmc, find, { withinMs: proofMs, signal: at.signal }),
  ).catch((error: unknown) => {
    // Somebody else looks at the line: it is read the next time.
    if (!(error instanceof BmcError) || error.code !== 'serial_taken') throw error;
    isHeard = false;
    return null;
  });
  if (found === null) return isHeard;
  await transaction(at.ctx, 'fleet.proveAssigned', async (tx) => {
    const now = await tx.db.maybe(lockAssignment, { id });
    if (now === null || (now.state !== 'open' && now.state !== 'working')) return;
    if (!(await tx.db.many(claimed, { id })).some((start) => start.id === found.id)) return;
    if (isBounded && now.begun >= mostBegun + now.tries - 1)
      return giveUp(tx, now, 'server_silent', brokeOff(now));
    await proveStart(tx, found.id, found.mac);
    await tx.db.run(endOtherStarts, { id, startId: found.id });
    await tx.db.run(begin, { id, now: tx.clock.now() });
  });
  return true;
}

/** Of one that began anew each time, and did not say why. */
function brokeOff({ begun, step, broke_off_at: before }: Assignment): string {
  const at = [...new Set([before, step])].filter((each) => each !== null);
  const words = at.length === 0 ? 'before it said what it was at' : `at: ${at.join(', then at: ')}`;
  return `the installer began ${begun} times and came to no end; it broke off ${words}`;
}

function sinceOf({ opened_at: opened, heard_at: heard, powered_at: poweredAt }: Assignment): Date {
  return heard ?? poweredAt ?? opened;
}

/**
 * What was to be done with a server is over: it is switched off, and starts its disks the next time. {@link ServerFailure} of a BMC that does not answer, after
 * some minutes since `since` where that is said, else at once.
 */
export async function switchOff(at: AtHand, serverId: number, since: Date | null = null): Promise<void> {
  await withBmcOf(at, serverId, since, async (bmc) => {
    await bmc.powerOff();
    await bmc.setNextBoot(null);
  });
}

/** It starts its own disks, whatever it did: its power goes at once, and comes again. {@link ServerFailure} of a BMC that does not answer, as {@link switchOff} says. */
export async function startFromDisks(at: AtHand, serverId: number, since: Date | null = null): Promise<void> {
  await withBmcOf(at, serverId, since, async (bmc) => {
    await bmc.powerOff();
    await bmc.setNextBoot(null);
    await bmc.powerOn();
  });
}

/** Its system has so long to shut down by the power button; then its power goes. Of one that is off: succeeds. */
export async function shutDownServer(at: AtHand, serverId: number, timeoutMs: number): Promise<void> {
  await withBmcOf(at, serverId, null, async (bmc) => {
    await bmc.shutDown({ timeoutMs }).catch((error: unknown) => {
      if (!(error instanceof BmcError) || !deafToButton.has(error.code)) throw error;
    });
    await bmc.powerOff();
  });
}

/** Whether it is on, as its BMC says. */
export async function isServerOn(at: AtHand, serverId: number, since: Date | null = null): Promise<boolean> {
  return withBmcOf(at, serverId, since, async (bmc) => (await bmc.readPower()) === 'on');
}

/** After a restore a server that is on may be somebody's since the backup: a person decides, never a job. `permanent`. */
export async function requireServerOff(at: AtHand, serverId: number): Promise<void> {
  if (!(await isServerOn(at, serverId))) return;
  const message = `the server ${serverId} is on and is left alone: it may have been delivered since the backup that was restored. When nobody needs what is on it, switch it off and retry this job`;
  throw Object.assign(new Error(message), { permanent: true });
}

/** The server's own order of starting is all that counts from now on. */
export async function disarm(at: AtHand, serverId: number): Promise<void> {
  await withBmcOf(at, serverId, null, (bmc) => bmc.setNextBoot(null));
}

/** A BMC that is silent is waited for until it is out of order itself, and not at all without `since`. */
export async function withBmcOf<T>(
  { ctx, drivers }: AtHand,
  serverId: number,
  since: Date | null,
  work: (bmc: Bmc, connection: BmcConnection) => Promise<T>,
): Promise<T> {
  const connection = await bmcConnection(ctx, serverId);
  if (connection === null)
    throw new ServerFailure('server_failed', 'nobody says how the BMC of the server is reached');
  const bmc = drivers.bmc(connection);
  try {
    return await work(bmc, connection);
  } catch (error) {
    if (!(error instanceof BmcError)) throw error;
    // Ours, and no server's: what others do with it at the moment, a program that this host lacks.
    if (!error.wasAsked || oursToMend.has(error.code)) throw error;
    const isLate = since === null || (error.waits && (await isOutOfOrder(ctx, serverId, since)));
    // One that said yes has had all of the call's time to do it.
    const isFinal = error.permanent || error.code === 'nothing_happened';
    if (error.waits ? isLate : isFinal)
      throw new ServerFailure('server_failed', error.message, { cause: error });
    throw error;
  } finally {
    await bmc.close();
  }
}
