import { type Hypervisor, HypervisorError, type MachineSpec } from '../../drivers/hypervisor/index.ts';
import {
  endLeftRooms,
  findPlacement,
  moveRoom,
  switchLeftRoomOff,
  takeRoomElsewhere,
} from '../../fleet/index.ts';
import { type Failure, fail, saga, type TxContext, type TxRun, transaction } from '../../platform/index.ts';
import { reasonToBeOff } from '../actions/forcedStop.ts';
import { isLatestAction, locked, openSystemAction, progressAction } from '../actions/history.ts';
import {
  incarnationsIn,
  requireFreeIn,
  requireGone,
  requireLatest,
  requireLatestSoon,
  seenToOtherwise,
} from '../incarnations.ts';
import { findMachine, type MachineRow, machineIdOf } from '../machine.ts';
import { startMachine, stopMachine } from '../power.ts';
import { findVps, lockVps } from '../queries.ts';
import { waitForUnknown } from '../unknown.ts';
import { writeArrival } from './arrival.ts';
import { carryBackups, passingOf } from './backups.ts';
import {
  clusterOf,
  type IntoClusterRun,
  type IntoClusterState,
  ownDriver,
  parts,
  specHere,
  specThere,
} from './carrying.ts';
import {
  copiesLost,
  departingMachine,
  noRoomIn,
  ofCopies,
  reasonAgainst,
  requireDestination,
} from './departing.ts';
import { intoClusterJob, type MovePayload } from './next.ts';
import {
  beginMove,
  disownIncarnation,
  haltEvacuationOf,
  mayRunThere,
  moveIsOpen,
  noteBack,
  noteIncarnation,
  noteMayRun,
  noteNeverRan,
  noteRanThere,
  noteStayedOn,
  openMove,
} from './rows.ts';
import {
  actionOf,
  elsewhere,
  end,
  greetingMs,
  never,
  noteTakenDown,
  notWanted,
  standStill,
  startAgain,
  stated,
} from './turn.ts';

/** How long a cluster is waited for before anything is taken down, and while the machine is off for it. */
const reachMs = 60_000;
const silenceMs = 15 * 60_000;
const answerMs = 10_000;
const bootMs = 300_000;
/** Of the copy that it is made anew of, over about three minutes, as an undo has. */
const keepAttempts = 12;

/**
 * Brings one machine of a host of our own into a cluster: it is shut down, kept as it is then, made anew there of that, started, and written down
 * there once it was seen running; what the host had of it goes last. Until it is written down there all is taken back when something fails,
 * and it starts again where it was. Its host's process does it all, which streams the disk to the cluster.
 */
export const moveIntoCluster = saga<MovePayload, IntoClusterState>({
  name: intoClusterJob.name,
  queue: 'bulk',
  steps: [
    { name: 'open', attempts: Number.POSITIVE_INFINITY, do: open },
    { name: 'reach', attempts: 2, do: reach },
    { name: 'place', attempts: 2, transactional: true, do: place, undo: settle },
    { name: 'free', attempts: 2, do: requireFree },
    { name: 'off', attempts: 1, do: off, undo: on },
    { name: 'keep', attempts: keepAttempts, do: keep, undo: drop },
    { name: 'disk', attempts: 3, do: makeDisk, undo: takeAway },
    { name: 'start', attempts: 2, do: startThere },
    { name: 'arrive', transactional: true, do: arrive },
    { name: 'backups', do: (run) => carryBackups(run, parts(run)), undo: dropPassing },
    { name: 'remove', do: remove },
  ],
  progress: (run, done, of) => progressAction(run.ctx, run.payload.actionId, Math.floor((100 * done) / of)),
  succeeded: async (tx, payload, { wasRunning, old }) => {
    if (old !== undefined) await endLeftRooms(tx, old);
    await end(tx, payload, { state: 'moved', live: wasRunning ? false : null });
  },
  failed: async (tx, payload, failure) => {
    await giveUp(tx, payload, failure);
    // It is named where staff looks for it: in the evacuation.
    return 'unwanted';
  },
  stuck: standStill,
});

/** Ends the move of a job that staff has seen to by other means. */
export async function letGoOfMove(tx: TxContext, payload: MovePayload, failure: Failure): Promise<void> {
  const { serviceId, actionId } = payload;
  const { may = false, incarnation } = (await tx.db.maybe(mayRunThere, { id: actionId })) ?? {};
  const there = await findPlacement(tx, serviceId);
  const isThere = await isAsFarAs(tx, serviceId, incarnation);
  await giveUp(tx, payload, failure);
  const machine = await findMachine(tx, serviceId);
  if (machine === null || isThere) return;
  const of = machineIdOf(serviceId, machine.incarnation);
  const leaves = incarnation == null ? null : machineIdOf(serviceId, incarnation);
  await moveRoom(tx, serviceId, machine.node_id, { of, leaves });
  if (incarnation == null || there === null) return;
  // It may run in the cluster, also where it is not known to: a backup that was restored is older than its start there. Nobody starts it here
  // before the cluster has said that it is not there, and where it is known to have run, before a person has looked.
  const left = { nodeId: there.nodeId, machine: machineIdOf(serviceId, incarnation) };
  await waitForUnknown(tx, { ...left, serviceId, goesOn: !may });
}

function open({ ctx, payload, moveTo }: IntoClusterRun): Promise<Partial<IntoClusterState>> {
  const { serviceId, actionId } = payload;
  return transaction(ctx, 'vps.openMoveIntoCluster', async (tx) => {
    await lockVps(tx, serviceId);
    const move = await tx.db.maybe(openMove, { id: actionId });
    if (move === null) throw never(notWanted, 'Staff stopped it');
    if (move.cluster_id === null) throw never(notWanted, 'The cluster was removed');
    const vps = await findVps(tx, serviceId);
    if (vps?.node_id == null) throw never(notWanted, 'The machine is gone');
    if (vps.action !== null && !vps.action.waits && vps.action.id !== actionId)
      throw locked(vps.action.command);
    if (vps.node_id !== move.node_id) throw never(elsewhere, 'It was moved by others');
    await requireGoing(tx, serviceId, move);
    await openSystemAction(tx, actionOf(payload, vps.organization_id));
    await tx.db.run(beginMove, { id: actionId, now: tx.clock.now() });
    moveTo(vps.node_id);
    const old = machineIdOf(serviceId, vps.incarnation ?? 1);
    return { clusterId: move.cluster_id, from: vps.node_id, old };
  });
}

async function requireGoing(
  ctx: TxContext,
  serviceId: number,
  { cluster_id: clusterId, drops_copies: drops }: { cluster_id: number | null; drops_copies: boolean },
): Promise<void> {
  const machine = await ctx.db.maybe(departingMachine, { serviceId });
  if (machine === null || clusterId === null) throw never(notWanted, 'The machine is gone');
  const to = await requireDestination(ctx, clusterId);
  const reason = reasonAgainst(machine, to) ?? (drops ? null : ofCopies(copiesLost(machine, to)));
  if (reason !== null) throw never('conflict', reason);
}

/** Looks before anything is changed: whether this process reaches the cluster, and how the machine is. */
async function reach(run: IntoClusterRun): Promise<Partial<IntoClusterState>> {
  const move = await run.ctx.db.maybe(openMove, { id: run.payload.actionId });
  if (move === null) throw never(notWanted, 'Staff stopped it');
  const { clusterId, old } = run.state;
  await orGiveUp(
    run,
    move.began_at,
    reachMs,
    async () => void (await clusterOf(run, stated(clusterId)).nodes()),
  );
  // Whether it runs or not, and before this attempt has a name: another cluster may have it by now, and what is made of an old copy would be called
  // as that is.
  await requireLatestSoon(run.ctx, stated(old));
  const driver = ownDriver(run);
  const { power } = await driver.inspect(stated(old));
  if (power === 'absent' || power === 'unknown') throw never('conflict', `Its host says that it is ${power}`);
  if (power === 'stopped') return { wasRunning: false, answered: false };
  if (!move.cold)
    throw never('conflict', 'It runs, and goes with its power off alone: say cold where it may');
  const deadline = { timeoutMs: answerMs, signal: run.signal };
  const answered = await driver.waitUntilReady(await specHere(run), deadline).then(
    () => true,
    () => false,
  );
  return { wasRunning: true, answered };
}

async function place({
  ctx,
  payload,
  state,
}: TxRun<MovePayload, IntoClusterState>): Promise<Partial<IntoClusterState>> {
  const { serviceId, actionId } = payload;
  const clusterId = stated(state.clusterId);
  await lockVps(ctx, serviceId);
  const move = await ctx.db.maybe(openMove, { id: actionId });
  if (move === null) throw never(notWanted, 'Staff stopped it');
  await requireGoing(ctx, serviceId, move);
  const target = await takeRoomElsewhere(ctx, serviceId, null, { clusterId, leaves: stated(state.old) });
  if (target === null)
    throw fail('insufficient_stock', { message: noRoomIn(await requireDestination(ctx, clusterId)) });
  const { incarnation } = await ctx.db.one(noteIncarnation, { id: actionId, serviceId });
  const anew = machineIdOf(serviceId, incarnation);
  return { to: target.nodeId, member: target.member, incarnation, anew };
}

/** Once, before anything is made: whatever is found under these names later is this attempt's. */
async function requireFree(run: IntoClusterRun): Promise<void> {
  await requireGoingOn(run);
  const [old, anew, incarnation] = [
    stated(run.state.old),
    stated(run.state.anew),
    stated(run.state.incarnation),
  ];
  const { serviceId } = run.payload;
  const there = await incarnationsIn(parts(run).cluster, serviceId);
  await requireFreeIn(run.ctx, there, old, [anew, machineIdOf(serviceId, incarnation + 1)]);
}

async function off(run: IntoClusterRun): Promise<Partial<IntoClusterState>> {
  await requireGoingOn(run);
  const offAt = run.ctx.clock.now().toISOString();
  if (run.state.wasRunning !== true) return { offAt };
  await requireLatest(run.ctx, stated(run.state.old));
  await transaction(run.ctx, 'vps.takeDownForCluster', (tx) => noteTakenDown(tx, run.payload));
  const stopping = stopMachine(ownDriver(run), stated(run.state.old), false, run.signal);
  await stopping.catch(async (error: unknown) => {
    const isOn = error instanceof HypervisorError && error.code === 'shutdown_timeout';
    if (isOn) await run.ctx.db.run(noteStayedOn, { id: run.payload.actionId });
    throw error;
  });
  return { offAt };
}

/** Of a machine that is off: nothing is written after it. */
async function keep(run: IntoClusterRun): Promise<void> {
  await requireGoingOn(run);
  const since = new Date(stated(run.state.offAt));
  const work = async () => void (await ownDriver(run).createBackup(stated(run.state.old), nameOf(run)));
  await orGiveUp(run, since, silenceMs, work, 'Its host does not answer').catch((error: unknown) => {
    // Room comes and goes on a host. What is tried for a few minutes costs less than an evening that was announced for nothing.
    const mayHelp = error instanceof HypervisorError && error.permanent && error.code !== 'machine_absent';
    throw mayHelp ? new HypervisorError(error.code, error.message, { cause: error }) : error;
  });
}

async function makeDisk(run: IntoClusterRun): Promise<void> {
  await requireGoingOn(run);
  const { driver, cluster, member } = parts(run);
  const since = new Date(stated(run.state.offAt));
  await orGiveUp(run, since, silenceMs, async () => {
    const disk = await driver.openBackup(stated(run.state.old), nameOf(run));
    await cluster.importMachine(await specThere(run), member, disk);
  });
}

/** One that ran has to run there, and is late if it answered before and does not there; one that was off has to be whole. */
async function startThere(run: IntoClusterRun): Promise<Partial<IntoClusterState>> {
  await requireGoingOn(run);
  const { ctx, payload, signal } = run;
  const { cluster, member } = parts(run);
  const [there, spec] = [cluster.on(member), await specThere(run)];
  const machine = await findMachine(ctx, payload.serviceId);
  if (machine === null) throw never(notWanted, 'The machine is gone');
  const isToBeOff = async () => (await reasonToBeOff(ctx, payload.serviceId)) !== null;
  if (run.state.wasRunning !== true || (await isToBeOff())) {
    const { power } = await there.inspect(spec.id);
    if (power === 'absent') throw new Error(`${spec.id} is not in the cluster`);
    return { isLate: false };
  }
  await ctx.db.run(noteMayRun, { id: payload.actionId });
  // Its host would send what is for its addresses to where it was.
  await ownDriver(run).unplug(stated(run.state.old));
  if (!(await startedThere(run, there, spec, machine))) return { hasDied: true };
  if (await isToBeOff()) {
    await there.powerOff(spec.id);
    return { isLate: false };
  }
  const timeoutMs = run.state.answered === true ? bootMs : greetingMs;
  const code = await there.waitUntilReady(spec, { timeoutMs, signal }).then(
    () => null,
    (error: unknown) => {
      if (
        error instanceof HypervisorError &&
        (error.code === 'ready_timeout' || error.code === 'machine_died')
      )
        return error.code;
      throw error;
    },
  );
  // It has run, and may have written what nobody else has: it is not taken back, and neither is what its host has, before a person has looked.
  if (code === 'machine_died') return { hasDied: true };
  if (code !== null && run.state.answered === true) return { isLate: true };
  await ctx.db.run(noteBack, { id: payload.actionId, now: ctx.clock.now() });
  return { isLate: false };
}

/**
 * Starts it there. What its engine is told stands in the move before: only where it has refused the first time it was told is it known that the
 * guest never ran. False: it has run, or may have, and does not any more.
 */
async function startedThere(
  { ctx, payload: { actionId: id } }: IntoClusterRun,
  there: Hypervisor,
  spec: MachineSpec,
  machine: MachineRow,
): Promise<boolean> {
  let isFirst = false;
  const note = async () => {
    isFirst = (await ctx.db.run(noteRanThere, { id })) > 0;
  };
  try {
    await startMachine(ctx, there, spec, machine, { before: note });
    return true;
  } catch (error) {
    if (!(error instanceof HypervisorError) || error.waits || error.code === 'machine_absent') throw error;
    if (isFirst && error.code !== 'machine_died') {
      await ctx.db.run(noteNeverRan, { id });
      throw error;
    }
    if ((await ctx.db.maybe(mayRunThere, { id }))?.ran !== true) throw error;
    ctx.log.warn({ machine: spec.id, err: error }, 'a machine that was started in a cluster went down there');
    return false;
  }
}

async function arrive({ ctx, payload, state }: TxRun<MovePayload, IntoClusterState>): Promise<void> {
  const { serviceId } = payload;
  const [from, to, incarnation] = [stated(state.from), stated(state.to), stated(state.incarnation)];
  await lockVps(ctx, serviceId);
  await requireGoingOn({ ctx, payload });
  await writeArrival(ctx, { serviceId, from, to, incarnation, runs: state.wasRunning === true });
  await switchLeftRoomOff(ctx, stated(state.old), from);
  // What keeps it from answering, or from running, may be the cluster, and would keep the next ones from it as well.
  if (state.isLate !== true && state.hasDied !== true) return;
  const hostname = (await findMachine(ctx, serviceId))?.hostname ?? '';
  const reason =
    state.hasDied === true
      ? `${hostname} was started in the cluster, and went down there`
      : `${hostname} runs in the cluster, and does not answer there as it did before`;
  await ctx.db.run(haltEvacuationOf, { moveId: payload.actionId, reason });
}

/** What the host had of it, with its backups: all of them are in the cluster by now. */
async function remove(run: IntoClusterRun): Promise<void> {
  const { ctx, payload } = run;
  if ((await findMachine(ctx, payload.serviceId)) !== null && !(await hasArrived(run)))
    throw never('conflict', 'The machine is not the one in the cluster');
  if (run.state.isLate === true) throw never('ready_timeout', late);
  if (run.state.hasDied === true) throw never('machine_died', died);
  await ownDriver(run).destroy(stated(run.state.old));
}

/**
 * Fails for good where a move is wanted no more: it has ended, as where staff has seen to its stuck job by other means, and what others have
 * made of the machine since then is not kept anywhere here. A service that has ended has its machine ended where it is.
 */
async function requireGoingOn({
  ctx,
  payload,
}: {
  ctx: IntoClusterRun['ctx'];
  payload: MovePayload;
}): Promise<void> {
  if ((await ctx.db.maybe(moveIsOpen, { id: payload.actionId })) === null)
    throw never(notWanted, 'The move has ended');
  if (await hasEnded({ ctx, payload })) throw never(notWanted, 'Its service was terminated');
}

/** The room is where the machine is written down. What may be left in the cluster holds as much there until it is seen to be gone. */
async function settle(run: IntoClusterRun): Promise<void> {
  const { serviceId } = run.payload;
  await transaction(run.ctx, 'vps.settleMoveIntoCluster', async (tx) => {
    await lockVps(tx, serviceId);
    const machine = await findMachine(tx, serviceId);
    if (machine === null) return;
    const of = machineIdOf(serviceId, machine.incarnation);
    const leaves = run.state.offAt === undefined ? null : stated(run.state.anew);
    await moveRoom(tx, serviceId, machine.node_id, { of, leaves });
  });
}

async function on(run: IntoClusterRun): Promise<void> {
  const { serviceId, actionId } = run.payload;
  if (run.state.wasRunning !== true || (await hasArrived(run))) return;
  // What others have made of it since it stood still is theirs.
  if (!(await isLatestAction(run.ctx, serviceId, actionId))) return;
  await startAgain(run);
  await run.ctx.db.run(noteBack, { id: run.payload.actionId, now: run.ctx.clock.now() });
}

async function drop(run: IntoClusterRun): Promise<void> {
  if (await hasArrived(run)) return;
  await ownDriver(run).deleteBackup(stated(run.state.old), nameOf(run));
}

/**
 * Takes away what was made in the cluster, before the machine starts where it was. One that was never started there does not keep it waiting
 * for a cluster that is silent: what is left of it is found among the unknown machines, and never started. One that has run there, or may have,
 * is left to a person, unless its service has ended.
 */
async function takeAway(run: IntoClusterRun): Promise<void> {
  if (await hasArrived(run)) return;
  const anew = stated(run.state.anew);
  const { may = false, ran = false } =
    (await run.ctx.db.maybe(mayRunThere, { id: run.payload.actionId })) ?? {};
  try {
    const { cluster, member } = parts(run);
    if ((await isNobodys(run)) || (ran && !(await hasEnded(run))))
      await requireGone(cluster.on(member), anew);
    else await cluster.on(member).destroy(anew);
  } catch (error) {
    if (may || ran || !(error instanceof HypervisorError)) throw error;
    run.ctx.log.warn({ machine: anew, err: error }, 'what was made of a machine in a cluster is left there');
  }
}

async function hasEnded({ ctx, payload }: Pick<IntoClusterRun, 'ctx' | 'payload'>): Promise<boolean> {
  return (await reasonToBeOff(ctx, payload.serviceId)) === 'terminated';
}

/** What a backup was made of on its way when it went no further. Nobody starts it, so a cluster that is silent keeps nothing waiting for it. */
async function dropPassing(run: IntoClusterRun): Promise<void> {
  if (await isNobodys(run)) return;
  const { cluster, member } = parts(run);
  const passing = passingOf(run);
  await cluster
    .on(member)
    .destroy(passing)
    .catch((error: unknown) => {
      if (!(error instanceof HypervisorError)) throw error;
      run.ctx.log.warn({ machine: passing, err: error }, 'what a backup was on its way is left in a cluster');
    });
}

/** Does `work`; where whoever does it has been silent for so long since then, the failure is for good. */
async function orGiveUp(
  run: IntoClusterRun,
  since: Date | null,
  forMs: number,
  work: () => Promise<void>,
  silence = 'The cluster cannot be reached from its host',
): Promise<void> {
  await work().catch((error: unknown) => {
    const isSilent = error instanceof HypervisorError && error.waits;
    const waitedMs = run.ctx.clock.now().getTime() - (since?.getTime() ?? 0);
    if (!isSilent || waitedMs < forMs) throw error;
    throw never('cluster_silent', `${silence}: ${error.message}`);
  });
}

/** Whether the machine is the one in the cluster by now, or was until it was made anew once more: then nothing is taken back. */
function hasArrived({ ctx, payload, state }: IntoClusterRun): Promise<boolean> {
  return isAsFarAs(ctx, payload.serviceId, state.incarnation);
}

async function isAsFarAs(
  ctx: IntoClusterRun['ctx'],
  serviceId: number,
  incarnation: number | null | undefined,
): Promise<boolean> {
  const machine = await findMachine(ctx, serviceId);
  return machine !== null && incarnation != null && machine.incarnation >= incarnation;
}

/** Whether what has its name in the cluster may be somebody's by now: the move was held, or has ended without this job. */
async function isNobodys({ ctx, payload, isHeld }: IntoClusterRun): Promise<boolean> {
  return isHeld || (await ctx.db.maybe(moveIsOpen, { id: payload.actionId })) === null;
}

async function giveUp(tx: TxContext, payload: MovePayload, failure: Failure): Promise<void> {
  if (failure.code === elsewhere) return end(tx, payload, { state: 'moved' });
  const { incarnation } = (await tx.db.maybe(mayRunThere, { id: payload.actionId })) ?? {};
  if (!(await isAsFarAs(tx, payload.serviceId, incarnation))) {
    if (failure.step === 'free' || failure.code === seenToOtherwise)
      await tx.db.run(disownIncarnation, { id: payload.actionId });
    return end(tx, payload, { state: 'stays', failure });
  }
  const left = `It has moved, and what its host had of it is left there: ${failure.message}`;
  await end(tx, payload, { state: 'moved', failure: { ...failure, message: left } });
}

const died =
  'it was started in the cluster and went down there. Look at it, and remove what its host has once it is well';
const late = `it runs in the cluster and has not answered on SSH there within ${bootMs / 1_000} seconds, as it did before. Look at it, and remove what its host has once it is well`;

/** Of the backup that it is made anew of. */
function nameOf({ payload }: IntoClusterRun): string {
  return `move-${payload.actionId}`;
}
