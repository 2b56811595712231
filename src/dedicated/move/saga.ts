import { sshKeysOf } from '../../account/index.ts';
import { record } from '../../events/index.ts';
import {
  askNow,
  closeAssignment,
  disksOf,
  exchangeVlans,
  findAssignment,
  installedOn,
  isHeldForMove,
  isServerOn,
  layoutOf,
  letGoOfMove,
  missingDisks,
  openAssignment,
  planVlanExchange,
  requireOrderedImage,
  requireServerOff,
  ServerFailure,
  serverTreeOf,
  setServerAside,
  shutDownServer,
  startFromDisks,
  swapServers,
  switchOff,
  type VlanExchange,
} from '../../fleet/index.ts';
import {
  type Context,
  enqueue,
  type Failure,
  type Run,
  type Step,
  saga,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { hashServerPassword, requireOrder } from '../../services/index.ts';
import { endActionById, isActionOpen, writeProgress } from '../actions.ts';
import { forgetCredentials, keepPassword } from '../credentials/keep.ts';
import { moved } from '../events.ts';
import { isServersFault, unfit } from '../faults.ts';
import { passwordStep, type WithPassword } from '../password.ts';
import { progressOf } from '../progress.ts';
import { findDedicated } from '../queries.ts';
import { addressesOf } from '../reinstall/reinstall.ts';
import { comeBack } from '../return/comeBack.ts';
import { callOff, disarmIfHeard, leaveOff, openedAt, requireGreeting, serverIn, stages } from '../stages.ts';
import { writeSystem } from '../systems.ts';
import { calledOff, endWork, isWanted, lookFirst, mayRun, requireWanted, verdictOn } from '../work.ts';
import { type MovePayload, moveJob } from './move.ts';
import { endMove, passwordOf, readMove } from './rows.ts';

/** `serverId` is the one that the service is to get. */
interface State extends WithPassword {
  /** Whether its customer had the server before on. */
  wasOn: boolean;
  vlans: VlanExchange[];
  /** When the new server was to start what was installed. */
  startedAt: string;
}

type MoveRun = Run<MovePayload, State>;
type MoveStep = Step<MovePayload, State>;

/** The system before has so long to write down what it has. */
const buttonMs = 120_000;
/** Steps in which the server before is asked: what goes wrong there is not the new one's. */
const ofTheOld: ReadonlySet<string> = new Set(['look', 'vlans', 'off', 'vlan']);
/** Since these whoever is to have the new server may have signed in there, and done with its BMC what they liked. */
const onceOn: ReadonlySet<string> = new Set(['start', 'ready', 'disarm', 'swap']);

const lockService = statement<never, { id: number }>(
  'dedicated.lockMovedService',
  'select id from services where id = :id for update',
);

/** The service is to go over, may be used, and the new server is still held for it; `called_off`. */
async function requireGoing(run: MoveRun): Promise<void> {
  const { ctx, payload } = run;
  await requireWanted(ctx, payload);
  const isGoing =
    (await mayRun(ctx, payload)) && (await isHeldForMove(ctx, payload.toServerId, payload.serviceId));
  if (!isGoing)
    throw off('the service may not be used any more, or the server that it was to get was taken away');
}

function off(message: string): Error {
  return Object.assign(new Error(message), { code: calledOff, permanent: true, unwanted: true });
}

/** After a restore either server may be somebody else's: one that is on is left alone. */
async function requireBothLeft(run: MoveRun): Promise<void> {
  await requireGoing(run);
  if (!run.isHeld) return;
  await requireServerOff(run, run.payload.serverId);
  await requireServerOff(run, run.payload.toServerId);
}

const lookStep: MoveStep = {
  name: 'look',
  do: async (run) => {
    const { payload } = run;
    await requireBothLeft(run);
    const wasOn = payload.isUnplugged ? false : await lookFirst(run);
    return { serverId: payload.toServerId, wasOn };
  },
};

/** The same system for the same people; it is left off when it is there, since its addresses are still in use. */
const planStep: MoveStep = {
  name: 'plan',
  transactional: true,
  do: async ({ ctx, payload }) => {
    const { serviceId, serverId: fromId, toServerId, moveId } = payload;
    const move = await readMove(ctx, moveId);
    const { organizationId } = await requireOrder(ctx, serviceId);
    const dedicated = await findDedicated(ctx, organizationId, serviceId);
    if (dedicated === null) throw off('the service is on no server any more');
    const before = await installedOn(ctx, fromId);
    const disks = await disksOf(ctx, toServerId);
    const usual = layoutOf(disks);
    if (usual === null) throw unfit('no disk of it was measured');
    const missing = await missingDisks(ctx, toServerId);
    if (missing > 0) throw unfit(`it lacks ${missing} of the disks that its profile says`);
    const layout =
      before.layout === 'single' ? { kind: 'single' as const, serials: usual.serials.slice(0, 1) } : usual;
    const tree = serverTreeOf(await requireOrderedImage(ctx, dedicated.os));
    if (tree === null)
      throw Object.assign(new Error(`${dedicated.os} is no system for servers any more`), {
        permanent: true,
      });
    const password = passwordOf(ctx, move);
    const identity = {
      ...{ hostname: dedicated.hostname, keys: before.keys ?? (await keysOf(ctx, serviceId)) },
      passwordHash: password === null ? null : hashServerPassword(password),
      ...{ addresses: await addressesOf(ctx, serviceId), nameservers: [], userData: null },
    };
    const wipe = disks.map(({ serial }) => serial);
    const work = { task: 'install' as const, wipe, layout, identity, after: 'off' as const };
    return { assignmentId: await openAssignment(ctx, toServerId, work, tree) };
  },
  undo: callOff,
};

/** Of a system that was installed when nobody wrote down whom it lets in. */
async function keysOf(ctx: Context, serviceId: number): Promise<string[]> {
  const { userId } = await requireOrder(ctx, serviceId);
  return (await sshKeysOf(ctx, userId)).map((key) => key.publicKey);
}

/** Before anything is switched: what cannot be moved to another port is known while the service goes on. */
const vlansStep: MoveStep = {
  name: 'vlans',
  do: async (run) => {
    await requireGoing(run);
    return { vlans: await planVlanExchange(run, run.payload.serverId, run.payload.toServerId) };
  },
};

const carryingOut = stages<MovePayload, State>({
  before: async (run) => {
    await requireGoing(run);
    const assignment = run.state.assignmentId && (await findAssignment(run.ctx, run.state.assignmentId));
    if (!assignment) return;
    const { percent, note } = progressOf(assignment);
    await tellProgress(run, Math.floor(percent * 0.8), note === null ? null : `The new server: ${note}`);
  },
  undoPower: leaveOff,
  last: { name: 'install', ended: () => ({}) },
});

async function tellProgress({ ctx, payload }: MoveRun, percent: number, note: string | null): Promise<void> {
  await writeProgress(ctx, payload.actionId, { percent, note });
}

/** It goes off by itself; here it is made sure of, before anybody else gives its addresses up. */
const restStep: MoveStep = {
  name: 'rest',
  do: async (run) => {
    await requireBothLeft(run);
    const { assignmentId } = run.state;
    const assignment = assignmentId === undefined ? null : await findAssignment(run.ctx, assignmentId);
    await restOff(run, assignment?.ended_at ?? run.ctx.clock.now());
  },
};

/** It writes what it has still in memory, and powers itself off then; one that does not within a minute is switched off. */
const restsWithinMs = 60_000;

async function restOff(run: MoveRun, since: Date): Promise<void> {
  const serverId = serverIn(run.state);
  if (
    run.ctx.clock.now().getTime() - since.getTime() < restsWithinMs &&
    (await isServerOn(run, serverId, since))
  )
    throw Object.assign(new Error('the new server is installed, and switches itself off'), {
      ...{ code: 'server_at_work', waits: true },
    });
  await switchOff(run, serverId, since);
}

const offStep: MoveStep = {
  name: 'off',
  attempts: 2,
  do: async (run) => {
    await requireBothLeft(run);
    await tellProgress(run, 85, 'The new server is installed; the server before is switched off');
    if (!run.payload.isUnplugged) await shutDownServer(run, run.payload.serverId, buttonMs);
  },
  undo: startAgain,
};

/** Whoever stays where they were goes on as before. */
async function startAgain(run: MoveRun): Promise<void> {
  const { ctx, payload, state, isHeld } = run;
  if (isHeld || payload.isUnplugged || state.wasOn !== true) return;
  if (!(await isWanted(ctx, payload)) || !(await mayRun(ctx, payload))) return;
  try {
    // However long its BMC is silent: nobody else has it on again.
    await startFromDisks(run, payload.serverId, ctx.clock.now());
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    ctx.log.warn(
      { server: payload.serverId, err: error },
      'a server was not started after a move to another one that failed',
    );
  }
}

const vlanStep: MoveStep = {
  name: 'vlan',
  do: async (run) => {
    await requireGoing(run);
    await exchangeVlans(run, run.state.vlans ?? [], 'there');
  },
  undo: async (run) => exchangeVlans(run, run.state.vlans ?? [], 'back'),
};

const startStep: MoveStep = {
  name: 'start',
  do: async (run) => {
    await requireGoing(run);
    await tellProgress(run, 90, 'The new server starts with the addresses of the service');
    await startFromDisks(run, serverIn(run.state));
    return { startedAt: run.ctx.clock.now().toISOString() };
  },
  // Before the server before starts again: both would have the same addresses.
  undo: leaveOff,
};

const readyStep: MoveStep = {
  name: 'ready',
  do: async (run) => {
    await requireGoing(run);
    const { ctx, payload, state } = run;
    const [first] = await addressesOf(ctx, payload.serviceId);
    if (first === undefined) return; // nobody hears it
    await requireGreeting(run, first.address, new Date(state.startedAt ?? 0), 'what was installed');
  },
};

/** The new server is its customer's, and the one before is on its way back, from this moment on. */
const swapStep: MoveStep = {
  name: 'swap',
  transactional: true,
  do: async ({ ctx, payload, state }) => {
    const { serviceId, serverId: fromId, toServerId: toId, actionId, moveId } = payload;
    await ctx.db.many(lockService, { id: serviceId });
    const move = await readMove(ctx, moveId);
    const { status, organizationId, userId } = await requireOrder(ctx, serviceId);
    const dedicated = await findDedicated(ctx, organizationId, serviceId);
    if (dedicated === null || status !== 'active' || !(await isActionOpen(ctx, actionId)))
      throw off('the service has ended, or the action has');
    if (!(await swapServers(ctx, serviceId, { fromId, toId })))
      throw off('one of the two servers was taken away meanwhile');
    if (state.assignmentId !== undefined) await closeAssignment(ctx, state.assignmentId);
    const { hostname, os } = dedicated;
    await writeSystem(ctx, serviceId, { os, hostname });
    const password = passwordOf(ctx, move);
    if (password === null) await forgetCredentials(ctx, serviceId);
    else await keepPassword(ctx, serviceId, organizationId, password);
    await endMove(ctx, moveId, null);
    await record(ctx, moved, {
      ...{ subject: { type: 'service', id: serviceId }, organizationId },
      data: { user_id: userId, hostname, new_password: password !== null },
    });
    await endActionById(ctx, actionId, null);
    await askNow(ctx, toId);
    await enqueue(ctx, comeBack, { leftBy: serviceId, serverId: fromId }, { organizationId });
  },
};

/**
 * A service goes from its server to another one: that is installed while the one before goes on, gets the VLANs and the addresses once the one before is off, and is its
 * customer's once it greets. Until then whatever fails leaves the service where it is.
 */
export const move = saga<MovePayload, State>({
  name: moveJob.name,
  queue: 'racks',
  steps: [
    ...[lookStep, planStep, passwordStep<MovePayload, State>(openedAt), vlansStep],
    ...carryingOut,
    ...[restStep, offStep, vlanStep, startStep, readyStep],
    ...[{ name: 'disarm', do: disarmIfHeard }, swapStep],
  ],
  failed: async (tx, payload, failure) => {
    const { toServerId, serviceId, moveId } = payload;
    const isItsFault = isServersFault(failure) && !ofTheOld.has(failure.step);
    if (isItsFault && (await isHeldForMove(tx, toServerId, serviceId)))
      await setServerAside(
        tx,
        toServerId,
        `it could not be installed for a service that was to go there: ${failure.message}`,
      );
    else if (onceOn.has(failure.step) && (await isHeldForMove(tx, toServerId, serviceId)))
      await setServerAside(
        tx,
        toServerId,
        'its system ran for a moment with the keys of a service that did not go there: have it enrolled again before it is sold',
      );
    else await letGoOfMove(tx, toServerId, serviceId);
    await endMove(tx, moveId, `${failure.step}: ${failure.message}`);
    await endBadly(tx, payload, failure);
    return verdictOn(failure);
  },
  // What was begun with the new server is not undone: it stays held until the job has come to an end.
  stuck: endBadly,
});

/** The customer has asked for nothing, and nothing of theirs has changed. */
const stays = 'Your server was to be replaced by another one, which could not be done: it stays as it was';

async function endBadly(tx: TxContext, payload: MovePayload, { code }: Failure): Promise<void> {
  const message = code === calledOff ? 'It was called off: your server stays as it was' : stays;
  await endWork(tx, payload, { code, message });
}
