import { type Cluster, HypervisorError } from '../../drivers/hypervisor/index.ts';
import { takeRoomElsewhere } from '../../fleet/index.ts';
import { fail, type Run, saga, statement, type TxRun, transaction } from '../../platform/index.ts';
import { isLatestAction, locked, openSystemAction, progressAction } from '../actions/history.ts';
import { writeNode } from '../follow.ts';
import { requireLatest } from '../incarnations.ts';
import { machineIdOf } from '../machine.ts';
import { stopMachine } from '../power.ts';
import { findVps, lockVps, type VpsRow } from '../queries.ts';
import { type MovePayload, moveJob } from './next.ts';
import { beginMove, moveIsOpen, noteBack, noteStayedOn, type OpenMove, openMove } from './rows.ts';
import {
  actionOf,
  elsewhere,
  end,
  movable,
  never,
  noteTakenDown,
  notWanted,
  standStill,
  startAgain,
  stated,
} from './turn.ts';

interface MoveState {
  cold: boolean;
  /** The node that it is on, and the one that it goes to. */
  from: number;
  to: number;
  member: string;
  clusterId: number;
  /** What its engine calls it. */
  machine: string;
  wasRunning: boolean;
  wentLive: boolean;
}

type MoveRun = Run<MovePayload, MoveState>;

const memberAt = statement<{ id: number }, { clusterId: number; member: string }>(
  'vps.memberAt',
  'select id from nodes where cluster_id = :clusterId and member = :member',
);

/**
 * Brings one machine to another member of its cluster: live where its engine can, else with its power off where staff allowed that. Its room is
 * held there first. What is cut off anywhere goes on where it was; what fails leaves it where it is, running if it ran.
 */
export const moveMachine = saga<MovePayload, MoveState>({
  name: moveJob.name,
  queue: 'bulk',
  steps: [
    { name: 'open', attempts: Number.POSITIVE_INFINITY, do: open },
    { name: 'place', attempts: 2, transactional: true, do: place, undo: settle },
    { name: 'live', attempts: 2, do: goLive },
    { name: 'off', attempts: 1, do: off, undo: on },
    { name: 'cold', do: goCold },
    { name: 'arrive', transactional: true, do: arrive },
    { name: 'on', attempts: 2, do: on },
  ],
  progress: (run, done, of) => progressAction(run.ctx, run.payload.actionId, Math.floor((100 * done) / of)),
  succeeded: (tx, payload, { wasRunning, wentLive }) =>
    end(tx, payload, { state: 'moved', live: wasRunning === true ? wentLive === true : null }),
  failed: async (tx, payload, failure) => {
    await end(tx, payload, failure.code === elsewhere ? { state: 'moved' } : { state: 'stays', failure });
    // It is named where staff looks for it: in the evacuation.
    return 'unwanted';
  },
  stuck: standStill,
});

function open({ ctx, payload, moveTo }: MoveRun): Promise<{ cold: boolean; from: number; machine: string }> {
  const { serviceId, actionId } = payload;
  return transaction(ctx, 'vps.openMove', async (tx) => {
    await lockVps(tx, serviceId);
    const [vps, move] = [await findVps(tx, serviceId), await tx.db.maybe(openMove, { id: actionId })];
    if (move === null) throw never(notWanted, 'Staff stopped it');
    if (vps?.node_id == null) throw never(notWanted, 'The machine is gone');
    if (vps.action !== null && !vps.action.waits && vps.action.id !== actionId)
      throw locked(vps.action.command);
    requireMovable(vps, move);
    await openSystemAction(tx, actionOf(payload, vps.organization_id));
    await tx.db.run(beginMove, { id: actionId, now: tx.clock.now() });
    moveTo(vps.node_id);
    const machine = machineIdOf(serviceId, vps.incarnation ?? 1);
    return { cold: move.cold, from: vps.node_id, machine };
  });
}

function requireMovable({ node_id: nodeId, state }: VpsRow, { kind, node_id }: OpenMove): void {
  if ((nodeId === node_id) !== (kind === 'evacuate')) throw never(elsewhere, 'It was moved by others');
  if (state !== null && movable.includes(state)) return;
  throw never('action_not_allowed', `The machine is ${state}`);
}

async function place(run: TxRun<MovePayload, MoveState>): Promise<Partial<MoveState>> {
  const { ctx, payload } = run;
  const { serviceId, actionId } = payload;
  await lockVps(ctx, serviceId);
  const move = await ctx.db.maybe(openMove, { id: actionId });
  if (move === null) throw never(notWanted, 'Staff stopped it');
  const only = move.kind === 'restore' ? move.node_id : null;
  const target = await takeRoomElsewhere(ctx, serviceId, only, { leaves: nameOf(run) });
  if (target === null)
    throw fail('insufficient_stock', {
      message: only === null ? noRoom : `${move.node} takes no machines now, or has no room for it`,
    });
  const { nodeId: to, member, clusterId } = target;
  return { to, member, clusterId };
}

const noRoom = 'No other member of the cluster that takes machines has room for it';

/** Fails for good once the move has ended, as where staff has seen to its stuck job by other means. */
async function requireGoingOn({ ctx, payload }: MoveRun): Promise<void> {
  if ((await ctx.db.maybe(moveIsOpen, { id: payload.actionId })) === null)
    throw never(notWanted, 'The move has ended');
}

async function goLive(run: MoveRun): Promise<Partial<MoveState>> {
  await requireGoingOn(run);
  const id = nameOf(run);
  const { cluster, member } = target(run);
  const { power } = await cluster.on(member).inspect(id);
  if (power !== 'running') return { wasRunning: false, wentLive: false };
  const failure = await cluster.move(id, member, { live: true }).then(
    () => null,
    (error: unknown) => error,
  );
  if (failure === null) return { wasRunning: true, wentLive: true };
  // Nothing is taken down that could not go anywhere then.
  const mayGoCold = run.state.cold && cluster.moves.includes('cold');
  if (mayGoCold && failure instanceof HypervisorError && failure.code === 'not_possible')
    return { wasRunning: true, wentLive: false };
  throw failure;
}

async function off(run: MoveRun): Promise<void> {
  if (!isOff(run)) return;
  await requireGoingOn(run);
  const { cluster, member } = target(run);
  const { actionId } = run.payload;
  await requireLatest(run.ctx, nameOf(run));
  await transaction(run.ctx, 'vps.takeMovedDown', (tx) => noteTakenDown(tx, run.payload));
  const stopping = stopMachine(cluster.on(member), nameOf(run), false, run.signal);
  await stopping.catch(async (error: unknown) => {
    const isOn = error instanceof HypervisorError && error.code === 'shutdown_timeout';
    if (isOn) await run.ctx.db.run(noteStayedOn, { id: actionId });
    throw error;
  });
}

async function goCold(run: MoveRun): Promise<void> {
  if (run.state.wentLive) return;
  await requireGoingOn(run);
  const { cluster, member } = target(run);
  await cluster.move(nameOf(run), member, { live: false });
}

async function arrive({ ctx, payload, state, moveTo }: TxRun<MovePayload, MoveState>): Promise<void> {
  const to = stated(state.to);
  await lockVps(ctx, payload.serviceId);
  await writeNode(ctx, payload.serviceId, to, 'innkeeper');
  moveTo(to);
}

/** One that does not start where it is now is left to the next comparison: it has moved all the same. */
async function on(run: MoveRun): Promise<void> {
  if (!isOff(run)) return;
  // What others have made of it since it stood still is theirs.
  if (!(await isLatestAction(run.ctx, run.payload.serviceId, run.payload.actionId))) return;
  await startAgain(run);
  await run.ctx.db.run(noteBack, { id: run.payload.actionId, now: run.ctx.clock.now() });
}

/** After a move that failed: the room and what is written down are where the machine is. */
async function settle(run: MoveRun): Promise<void> {
  const { serviceId } = run.payload;
  const { clusterId, from } = run.state;
  if (clusterId === undefined || from === undefined) return; // nothing was held
  const at = await whereIs(run, clusterId);
  await transaction(run.ctx, 'vps.settleMove', async (tx) => {
    await lockVps(tx, serviceId);
    await writeNode(tx, serviceId, at ?? from, 'innkeeper');
  });
}

/** Null: nobody can say now. Where it is found then it is followed. */
async function whereIs(run: MoveRun, clusterId: number): Promise<number | null> {
  const { cluster, member } = target(run);
  const report = await cluster
    .on(member)
    .inspect(nameOf(run))
    .catch((error: unknown) => {
      if (error instanceof HypervisorError && error.waits) return null;
      throw error;
    });
  if (report?.node === undefined) return null;
  return (await run.ctx.db.maybe(memberAt, { clusterId, member: report.node }))?.id ?? null;
}

function target(run: MoveRun): { cluster: Cluster; member: string } {
  const cluster = run.drivers.clusters.of(stated(run.state.clusterId));
  return { cluster, member: stated(run.state.member) };
}

/** Of a move that an older version began, no machine has another. */
function nameOf({ payload, state }: Pick<MoveRun, 'payload' | 'state'>): string {
  return state.machine ?? machineIdOf(payload.serviceId);
}

/** Whether it goes with its power off although it ran. */
function isOff({ state }: MoveRun): boolean {
  return state.wasRunning === true && state.wentLive === false;
}
