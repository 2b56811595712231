import { type Cluster, HypervisorError, type MachineSpec } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import { findPlacement, moveRoom, takeRoomElsewhere } from '../../fleet/index.ts';
import {
  causesOf,
  type Failure,
  fail,
  type NamedJob,
  type Run,
  saga,
  sendJobsAlong,
  type TxContext,
  type TxRun,
  transaction,
} from '../../platform/index.ts';
import { type InstalledKey, writeAccess } from '../access/keys.ts';
import { cancelledByForce, startUnlessToStop } from '../actions/forcedStop.ts';
import {
  finishAction,
  isLatestAction,
  isOpenAction,
  noteAction,
  openSystemAction,
  progressAction,
} from '../actions/history.ts';
import { withMachine } from '../actions/saga.ts';
import { forgetSecrets } from '../actions/secrets.ts';
import { vpsRecovered } from '../events.ts';
import { incarnationsIn, requireFreeIn, requireGone, seenToOtherwise, standsStill } from '../incarnations.ts';
import { findMachine, machineIdOf, setMachineState, specOf } from '../machine.ts';
import { startMachine } from '../power.ts';
import { findVps, lockVps } from '../queries.ts';
import { holdCopies } from '../snapshots/rows.ts';
import type { MachineState } from '../states.ts';
import { waitForUnknown } from '../unknown.ts';
import { reasonAgainst } from './reasons.ts';
import {
  copyToRecover,
  disownRecovery,
  endRecovery,
  forgetLostCopies,
  incarnationOfRecovery,
  lockLostNode,
  lockRecovery,
  lostMachine,
  nameRecovery,
  noteStuckRecovery,
  openRecovery,
  type RecoveryRow,
  toldOf,
  writeIncarnation,
} from './rows.ts';

/** What the job of one machine knows. */
export interface RecoverPayload {
  serviceId: number;
  organizationId: number;
  /** Of the recovery and of the action in the machine's history alike. */
  actionId: number;
}

export const recoverJob: NamedJob<RecoverPayload> = { name: 'vps.recover' };

interface RecoverState {
  /** The node that is lost, and the one that it is made on. */
  from: number;
  to: number;
  member: string;
  clusterId: number;
  /** What engines call it there and here. */
  old: string;
  anew: string;
  incarnation: number;
  backup: string;
  /** The image that the backup is of. */
  image: string;
  before: { state: MachineState; wanted: 'running' | 'stopped' };
}

type RecoverRun = Run<RecoverPayload, RecoverState>;

const greetingMs = 60_000;

/**
 * Makes a machine of a lost node anew on another member of its cluster, from its last backup. Its room is held there first. Until it is written
 * down there nothing has changed, and all is taken back; from then on it is the machine, and what the lost node has of it is left over.
 */
export const recoverMachine = saga<RecoverPayload, RecoverState>({
  name: recoverJob.name,
  queue: 'bulk',
  steps: [
    { name: 'place', transactional: true, do: place, undo: settle },
    { name: 'free', do: requireFree },
    { name: 'disk', do: makeDisk, undo: destroyHalf },
    { name: 'arrive', transactional: true, do: arrive },
    { name: 'copies', do: handOver },
    { name: 'on', attempts: 2, do: on },
  ],
  progress: (run, done, of) => progressAction(run.ctx, run.payload.actionId, Math.floor((100 * done) / of)),
  succeeded: end,
  failed: async (tx, payload, failure) => {
    await giveUp(tx, payload, failure);
    // It is named where staff looks for it: on the node's page.
    return 'unwanted';
  },
  // Half of it may be done: until a person has seen to it, the machine is nobody else's.
  stuck: async (tx, { actionId: id }, { message: reason }) => {
    await tx.db.run(noteStuckRecovery, { id, reason });
    if (await isOpenAction(tx, id)) await noteAction(tx, id, standsStill);
  },
});

async function place({ ctx, payload, moveTo }: TxRun<RecoverPayload, RecoverState>): Promise<RecoverState> {
  const { serviceId, actionId } = payload;
  await lockVps(ctx, serviceId);
  const wanted = await requireWanted(ctx, actionId);
  await requireSilent(ctx, wanted.node_id);
  const image = await requireRecoverable(ctx, serviceId, wanted);
  await endWhatWasUnderWay(ctx, serviceId);
  const target = await takeRoomElsewhere(ctx, serviceId, null, { leaves: wanted.machine });
  if (target === null) throw never('insufficient_stock', noRoom);
  await openSystemAction(ctx, actionOf(payload));
  const found = await findMachine(ctx, serviceId);
  if (found === null) throw never(notWanted, 'The machine is gone');
  // Suspended it stays, in all that anybody sees.
  if (found.state !== 'suspended') await setMachineState(ctx, serviceId, 'restoring');
  moveTo(target.nodeId);
  const { incarnation } = await ctx.db.one(nameRecovery, { id: actionId, serviceId });
  return {
    ...{ from: wanted.node_id, to: target.nodeId, member: target.member, clusterId: target.clusterId },
    ...{ old: wanted.machine, anew: machineIdOf(serviceId, incarnation), incarnation },
    ...{ backup: wanted.backup, image: image ?? found.image },
    before: { state: found.state, wanted: found.wanted },
  };
}

const noRoom = 'No other member of the cluster that takes machines has room for it';
const notWanted = 'called_off';

async function requireWanted(ctx: TxContext, id: number): Promise<RecoveryRow> {
  const wanted = await ctx.db.maybe(lockRecovery, { id });
  if (wanted === null) throw never(notWanted, 'It has ended');
  return wanted;
}

/** What answers again has its machine, which nobody may run twice. */
async function requireSilent(ctx: TxContext, nodeId: number): Promise<void> {
  const node = await ctx.db.maybe(lockLostNode, { id: nodeId });
  if (node?.answers === true) throw never(notWanted, `${node.name} answers again, and has the machine`);
}

async function requireRecoverable(ctx: TxContext, serviceId: number, wanted: RecoveryRow) {
  const machine = await ctx.db.maybe(lostMachine, { serviceId });
  if (machine === null || machine.node_id !== wanted.node_id)
    throw never(notWanted, 'The machine is not on that node any more');
  const reason = reasonAgainst(machine);
  if (reason !== null) throw never('conflict', reason);
  const copy = await ctx.db.maybe(copyToRecover, { serviceId, name: wanted.backup });
  if (copy === null) throw never('conflict', `Its backup ${wanted.backup} is gone`);
  return copy.image;
}

/** Its job goes along with the machine, and finds there that it goes no further. */
async function endWhatWasUnderWay(ctx: TxContext, serviceId: number): Promise<void> {
  const action = (await findVps(ctx, serviceId))?.action;
  const vps = await findMachine(ctx, serviceId);
  if (!action || action.waits || vps === null) return;
  const ended = { id: action.id, organizationId: vps.organization_id, serviceId, command: action.command };
  await forgetSecrets(ctx, action.id);
  await finishAction(ctx, ended, { code: cancelledByForce, message: 'The host of the machine was lost' });
}

/** Fails for good once the recovery has ended, as where staff has seen to its stuck job by other means. */
async function requireGoingOn({ ctx, payload }: RecoverRun): Promise<void> {
  if ((await ctx.db.maybe(openRecovery, { id: payload.actionId })) === null)
    throw never(notWanted, 'It has ended');
}

/**
 * Once, before anything is made: whatever is found under the new name later is this attempt's. Where the cluster has a later incarnation, as after
 * the restore of a backup, that is the machine; where its engine knows how the machine is, that is not lost, whatever the database says of its node.
 */
async function requireFree(run: RecoverRun): Promise<void> {
  await requireGoingOn(run);
  const { old, anew } = known(run);
  const all = await target(run).cluster.list();
  const there = await incarnationsIn({ list: async () => all }, run.payload.serviceId);
  await requireFreeIn(run.ctx, there, old, [anew]);
  // One that is on no member went with its own: the engine knows its name, and that it does not run.
  const found = all.find(
    ({ id, power, node }) => id === old && node !== undefined && (power === 'running' || power === 'stopped'),
  );
  if (found === undefined) return;
  const how = found.power === 'running' ? 'runs' : 'is off';
  throw never(
    notWanted,
    `${old} is not lost: by what its engine says it ${how} on ${found.node}. Look again in a minute, when the database has followed it there`,
  );
}

async function makeDisk(run: RecoverRun): Promise<void> {
  await requireGoingOn(run);
  const { cluster, member } = target(run);
  const { old, backup } = known(run);
  await cluster.recover(await specThere(run), member, { of: old, name: backup });
}

/** What the machine is to be where it is made anew. */
async function specThere(run: RecoverRun): Promise<MachineSpec> {
  const machine = await findMachine(run.ctx, run.payload.serviceId);
  if (machine === null) throw never(notWanted, 'The machine is gone');
  const { incarnation, image } = known(run);
  return specOf(run.ctx, { ...machine, incarnation, image });
}

/** Nothing was under its name before this attempt: `free` has looked. */
async function destroyHalf(run: RecoverRun): Promise<void> {
  if (await hasArrived(run)) return;
  const { cluster, member } = target(run);
  const there = cluster.on(member);
  const isOpen = (await run.ctx.db.maybe(openRecovery, { id: run.payload.actionId })) !== null;
  if (run.isHeld || !isOpen) await requireGone(there, known(run).anew);
  else await there.destroy(known(run).anew);
}

/** Whether it is the machine by now, or was until it was made anew once more: then nothing of it is taken back. */
async function hasArrived({ ctx, payload, state }: RecoverRun): Promise<boolean> {
  const machine = await findMachine(ctx, payload.serviceId);
  return machine !== null && state.incarnation !== undefined && machine.incarnation >= state.incarnation;
}

async function arrive({ ctx, payload, state }: TxRun<RecoverPayload, RecoverState>): Promise<void> {
  const { serviceId, organizationId, actionId } = payload;
  const { from, to, incarnation, image, backup } = all(state);
  await lockVps(ctx, serviceId);
  const wanted = await requireWanted(ctx, actionId);
  await requireSilent(ctx, from);
  const machine = await findMachine(ctx, serviceId);
  if (machine === null) throw never(notWanted, 'The machine is gone');
  const copy = await ctx.db.maybe(copyToRecover, { serviceId, name: backup });
  await ctx.db.run(writeIncarnation, { serviceId, nodeId: to, incarnation, image });
  await sendJobsAlong(ctx, { about: { serviceId }, from, to });
  await moveRoom(ctx, serviceId, to);
  await ctx.db.run(forgetLostCopies, { serviceId });
  await holdCopies(ctx, serviceId);
  // The disk lets in whom it did when it was kept.
  const access = (copy?.access ?? null) as InstalledKey[] | null;
  if (access !== null) await writeAccess(ctx, serviceId, organizationId, access);
  const { user_id, name, before } = await ctx.db.one(toldOf, { serviceId, from, to });
  await record(ctx, vpsRecovered, {
    ...{ subject: { type: 'service', id: serviceId }, organizationId },
    data: { user_id, hostname: machine.hostname, name, before, backup_at: wanted.backup_at.toISOString() },
  });
}

async function handOver(run: RecoverRun): Promise<void> {
  const { old, anew } = known(run);
  await target(run).cluster.handOver(old, anew);
}

/** One that does not start where it is now is left to the next comparison: it is the machine all the same. */
async function on(run: RecoverRun): Promise<void> {
  if (known(run).before.wanted !== 'running') return;
  // What others have made of it since it stood still is theirs.
  if (!(await isLatestAction(run.ctx, run.payload.serviceId, run.payload.actionId))) return;
  await withMachine(run, async (driver, spec, machine) => {
    const why = await startUnlessToStop(run, driver, () => startMachine(run.ctx, driver, spec, machine));
    if (why !== null) return;
    await driver.waitUntilReady(spec, { timeoutMs: greetingMs, signal: run.signal });
  }).catch((error: Error) => {
    if (error instanceof HypervisorError && error.waits) throw error;
    const { serviceId: service } = run.payload;
    run.ctx.log.warn({ service, err: causesOf(error) }, 'a machine that was made anew is not ready yet');
  });
}

/** After one that failed: the room is where the machine is written down. */
async function settle(run: RecoverRun): Promise<void> {
  const { serviceId } = run.payload;
  await transaction(run.ctx, 'vps.settleRecovery', async (tx) => {
    await lockVps(tx, serviceId);
    const machine = await findMachine(tx, serviceId);
    const of = machine === null ? null : machineIdOf(serviceId, machine.incarnation);
    if (machine !== null) await moveRoom(tx, serviceId, machine.node_id, { of });
  });
}

async function end(tx: TxContext, payload: RecoverPayload, state: Partial<RecoverState>): Promise<void> {
  const { serviceId, actionId: id } = payload;
  const { before } = all(state);
  await lockVps(tx, serviceId);
  const wanted = await tx.db.maybe(lockRecovery, { id });
  if (wanted === null) return; // staff has ended it
  await tx.db.run(endRecovery, { id, state: 'recovered', reason: null, now: tx.clock.now() });
  // Where it is not, the next comparison finds it down, and starts it or says why not.
  const { wanted: power } = (await findMachine(tx, serviceId)) ?? before;
  if (before.state !== 'suspended') await setMachineState(tx, serviceId, power);
  await noteAction(tx, id, noteOf(wanted.backup_at));
  await finishAction(tx, actionOf(payload), null);
}

/** Ends the recovery of a job that staff has seen to by other means. */
export async function letGoOfRecovery(
  tx: TxContext,
  payload: RecoverPayload,
  failure: Failure,
): Promise<void> {
  const { serviceId, actionId: id } = payload;
  const there = await findPlacement(tx, serviceId);
  await giveUp(tx, payload, failure);
  const machine = await findMachine(tx, serviceId);
  if (machine === null) return;
  const { incarnation } = (await tx.db.maybe(incarnationOfRecovery, { id })) ?? {};
  const isLeft = incarnation != null && machine.incarnation < incarnation;
  const of = machineIdOf(serviceId, machine.incarnation);
  await moveRoom(tx, serviceId, machine.node_id, {
    of,
    leaves: isLeft ? machineIdOf(serviceId, incarnation) : null,
  });
  if (!isLeft || there === null) return;
  // A backup that was restored may be older than its start there.
  const left = { nodeId: there.nodeId, machine: machineIdOf(serviceId, incarnation) };
  await waitForUnknown(tx, { ...left, serviceId, goesOn: true });
}

async function giveUp(tx: TxContext, payload: RecoverPayload, failure: Failure): Promise<void> {
  const { serviceId, actionId: id } = payload;
  await lockVps(tx, serviceId);
  const wanted = await tx.db.maybe(lockRecovery, { id });
  if (wanted === null) return;
  const machine = await findMachine(tx, serviceId);
  const isAnew = machine !== null && machineIdOf(serviceId, machine.incarnation) !== wanted.machine;
  const [state, reason] = [isAnew ? ('recovered' as const) : ('stays' as const), failure.message];
  await tx.db.run(endRecovery, { id, state, reason, now: tx.clock.now() });
  if (failure.step === 'free' || failure.code === seenToOtherwise) await tx.db.run(disownRecovery, { id });
  if (machine?.state === 'restoring') await setMachineState(tx, serviceId, machine.wanted);
  if (!(await isOpenAction(tx, id))) return;
  await noteAction(tx, id, isAnew ? noteOf(wanted.backup_at) : null);
  await finishAction(tx, actionOf(payload), isAnew ? null : { code: 'conflict', message: stays });
}

const stays = 'The machine could not be made anew on another host; it goes on when its own is back';

function noteOf(backupAt: Date): string {
  const at = backupAt.toISOString().slice(0, 16).replace('T', ' ');
  return `Its host was lost. It was made anew on another one from its backup of ${at} UTC: what was written since is gone, and its keys and its password are those of that time`;
}

function target(run: RecoverRun): { cluster: Cluster; member: string } {
  const { clusterId, member } = known(run);
  return { cluster: run.drivers.clusters.of(clusterId), member };
}

function known(run: RecoverRun): RecoverState {
  return all(run.state);
}

function all(state: Partial<RecoverState>): RecoverState {
  if (state.anew === undefined) throw new Error('the first step says it');
  return state as RecoverState;
}

function actionOf({ actionId, organizationId, serviceId }: RecoverPayload) {
  return { id: actionId, organizationId, serviceId, command: 'recover' };
}

function never(code: string, message: string): Error {
  return Object.assign(fail('conflict', { message }), { code, permanent: true });
}
