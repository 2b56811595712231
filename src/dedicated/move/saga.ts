import { sshKeysOf } from '../../account/index.ts';
import { record } from '../../events/index.ts';
import {
  askNow,
  closeAssignment,
  dropWasOn,
  exchangeVlans,
  findAssignment,
  installedOn,
  isApart,
  isAside,
  isBeingSwitched,
  isHeldForMove,
  isServerOn,
  keepWasOn,
  letGoOfMove,
  lockServerOf,
  openAssignment,
  planVlanExchange,
  readWasOn,
  ServerFailure,
  serverName,
  serverOfService,
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
  findLastRestore,
  type Run,
  type Step,
  saga,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { hashServerPassword, requireOrder } from '../../services/index.ts';
import { endActionById, isActionOpen, writeProgress } from '../actions.ts';
import { forgetCredentials, keepPassword } from '../credentials/keep.ts';
import { moved } from '../events.ts';
import { isServersFault } from '../faults.ts';
import { passwordStep, type WithPassword } from '../password.ts';
import { placeOn } from '../placeOn.ts';
import { progressOf } from '../progress.ts';
import { findDedicated } from '../queries.ts';
import { addressesOf } from '../reinstall/reinstall.ts';
import { comeBack } from '../return/comeBack.ts';
import { callOff, disarmIfHeard, leaveOff, openedAt, requireGreeting, serverIn, stages } from '../stages.ts';
import { isStillIts, requireCompared } from '../stillIts.ts';
import { resumeServer } from '../suspend/suspend.ts';
import { writeSystem } from '../systems.ts';
import { calledOff, endWork, isWanted, lookFirst, mayRun, requireWanted, verdictOn } from '../work.ts';
import { type MovePayload, moveJob } from './move.ts';
import { requireWentOver } from './restored.ts';
import { endMove, leaveStop, noteStop, passwordOf, readMove } from './rows.ts';

/** `serverId` is the one that the service is to get. */
interface State extends WithPassword {
  /** Whether its customer had the server before on when the move began. */
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
/** Since these the server before is off, or goes off. */
const onceOff: ReadonlySet<string> = new Set(['off', 'vlan', 'confirm', ...onceOn]);

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

/** What a move does outside is done by one that a restore holds no more, and nothing is taken back by it; {@link requireWentOver} comes before each of its steps. */
function unlessHeld(step: MoveStep): MoveStep {
  if (step.transactional === true) return step;
  const { do: does, undo } = step;
  return {
    ...step,
    do: async (run) => (run.isHeld ? {} : ((await does(run)) ?? {})),
    ...(undo && {
      undo: async (run) => {
        if (!run.isHeld) await undo(run);
      },
    }),
  };
}

/** While this does not go on the service is on no server: staff and its customer read that, and staff what to do. */
async function orTell(run: MoveRun, whatToDo: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof Error) await tellStop(run, `${error.message}. ${whatToDo}`);
    throw error;
  }
  await tellStop(run, null);
}

async function tellStop(run: MoveRun, problem: string | null): Promise<void> {
  if (!(await noteStop(run.ctx, run.payload.moveId, problem))) return;
  const note =
    problem === null
      ? null
      : 'Your server is off for the moment: something here does not answer, and our staff has been told';
  await tellProgress(run, 85, note);
}

const lookStep: MoveStep = {
  name: 'look',
  do: async (run) => {
    const { ctx, payload } = run;
    await requireGoing(run);
    const server = await serverOfService(ctx, payload.serviceId);
    // Nobody asks it, and so nobody hears that it is somebody else's since a backup.
    if (payload.isUnplugged && server !== null) await requireCompared(ctx, server);
    const wasOn = payload.isUnplugged ? false : await lookFirst(run);
    return { serverId: payload.toServerId, wasOn };
  },
};

/** The same system for the same people; it is left off when it is there, since its addresses are still in use. */
const planStep: MoveStep = {
  name: 'plan',
  transactional: true,
  do: async ({ ctx, payload, isHeld }) => {
    if (isHeld) return {}; // a plan answers whoever starts from the network
    const { serviceId, serverId: fromId, toServerId, moveId } = payload;
    // Staff may have taken it away at this moment, and a plan would have whatever starts there wiped.
    if (!(await lockServerOf(ctx, toServerId, serviceId)))
      throw off('the server that it was to get was taken away');
    const move = await readMove(ctx, moveId);
    const { organizationId } = await requireOrder(ctx, serviceId);
    const dedicated = await findDedicated(ctx, organizationId, serviceId);
    if (dedicated === null) throw off('the service is on no server any more');
    const before = await installedOn(ctx, fromId);
    const { disks, system, layout: usual } = await placeOn(ctx, toServerId, dedicated.os);
    const layout =
      before.layout === 'single' ? { kind: 'single' as const, serials: usual.serials.slice(0, 1) } : usual;
    const password = passwordOf(ctx, move);
    const identity = {
      ...{ hostname: dedicated.hostname, keys: before.keys ?? (await keysOf(ctx, serviceId)) },
      passwordHash: password === null ? null : hashServerPassword(password),
      ...{ addresses: await addressesOf(ctx, serviceId), nameservers: [], userData: null },
    };
    const wipe = disks.map(({ serial }) => serial);
    const work = { task: 'install' as const, wipe, layout, identity, after: 'off' as const };
    return { assignmentId: await openAssignment(ctx, toServerId, work, system) };
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
    await requireGoing(run);
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
    throw waits('the new server is installed, and switches itself off');
  await switchOff(run, serverId, since);
}

const offStep: MoveStep = {
  name: 'off',
  attempts: 2,
  do: async (run) => {
    const { ctx, payload } = run;
    await requireGoing(run);
    await tellProgress(run, 85, 'The new server is installed; the server before is switched off');
    if (payload.isUnplugged) return;
    await noteWasOn(ctx, payload.serviceId, await isServerOn(run, payload.serverId));
    await shutDownServer(run, payload.serverId, buttonMs);
  },
  undo: startAgain,
};

/** Said once, before it is switched off; whatever becomes of the move, it is on again then. */
async function noteWasOn(ctx: Context, serviceId: number, wasOn: boolean): Promise<void> {
  await transaction(ctx, 'dedicated.noteWasOn', (tx) => keepWasOn(tx, serviceId, wasOn));
}

/**
 * Whoever stays where they were goes on as before. Where that cannot be had at once, or others may switch it already because the move stood still in between, it is
 * started by {@link resumeServer}, which the end of the move begins.
 */
async function startAgain(run: MoveRun): Promise<void> {
  const { ctx, payload, state } = run;
  const { serviceId, serverId } = payload;
  if (payload.isUnplugged || !(await isStillIts(ctx, serviceId, serverId))) return;
  // Nobody could ask it any more before it was to go off.
  if (state.wasOn !== undefined) await noteWasOn(ctx, serviceId, state.wasOn);
  if (
    (await readWasOn(ctx, serviceId)) !== true ||
    !(await isWanted(ctx, payload)) ||
    !(await mayRun(ctx, payload))
  )
    return;
  try {
    await startFromDisks(run, serverId);
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    ctx.log.warn(
      { server: serverId, err: error },
      'a server waits for its BMC to be on again after a move that failed',
    );
  }
}

const silentSwitch =
  'The service is off until then: have the switch answer; or, where it is gone for good, set the VLANs of both servers by hand and say in its list of ports that nothing is plugged in there';

const vlanStep: MoveStep = {
  name: 'vlan',
  do: async (run) => {
    await requireGoing(run);
    await orTell(run, silentSwitch, () => exchangeVlans(run, exchangeOf(run, 'there')));
  },
  undo: async (run) => orTell(run, silentSwitch, () => exchangeVlans(run, exchangeOf(run, 'back'))),
};

function exchangeOf({ payload, state }: MoveRun, way: 'there' | 'back') {
  return { leftId: payload.serverId, takenId: payload.toServerId, pairs: state.vlans ?? [], way };
}

/** Whoever cannot be asked is not told to start: of one that may have heard it, nobody would know whether it is on. */
const confirmStep: MoveStep = {
  name: 'confirm',
  do: async (run) => {
    await requireGoing(run);
    if (run.state.startedAt !== undefined) return; // it was told before there was this step
    await switchOff(run, serverIn(run.state));
  },
};

const startStep: MoveStep = {
  name: 'start',
  do: async (run) => {
    await requireGoing(run);
    await tellProgress(run, 90, 'The new server starts with the addresses of the service');
    await startFromDisks(run, serverIn(run.state));
    return { startedAt: run.ctx.clock.now().toISOString() };
  },
  undo: restAgain,
};

/**
 * Before the server before starts again: both would have the same addresses. One that cannot be switched off is set aside where its ports are in VLANs of their own, which
 * they get back now. Anywhere else the service waits, and staff is told, until its BMC answers or staff takes it away, which is to pull its power first.
 */
async function restAgain(run: MoveRun): Promise<void> {
  const { ctx, payload, state } = run;
  const { serviceId } = payload;
  const serverId = serverIn(state);
  const name = await serverName(ctx, serverId);
  const whatToDo = `The service stays off until ${name} is off: have its BMC answer, or pull its power and then put it into quarantine`;
  await orTell(run, whatToDo, async () => {
    if (!(await isStillIts(ctx, serviceId, serverId))) {
      if (await isBeingSwitched(ctx, serverId)) throw waits(`${name} is being switched off`);
      // It may have been told to start at the moment at which staff took it away. One that cannot be asked staff has pulled out, as it was told.
      if (await isAside(ctx, serverId)) await switchOff(run, serverId).catch(passOver);
      return;
    }
    try {
      await switchOff(run, serverId);
    } catch (error) {
      if (!(error instanceof ServerFailure)) throw error;
      const isAlone = payload.isUnplugged || (await isApart(ctx, serverId, state.vlans ?? []));
      if (!isAlone)
        throw waits(
          `${name} was started with the addresses of the service, and cannot be switched off: ${error.message}`,
        );
      const reason = `it was started for the service ${serviceId}, which did not go there, and cannot be switched off: pull its power, for it may run with the addresses of that service: ${error.message}`;
      await transaction(ctx, 'dedicated.setAside', async (tx) => {
        if (await isStillIts(tx, serviceId, serverId)) await setServerAside(tx, serverId, reason);
      });
    }
  });
}

function passOver(error: unknown): void {
  if (!(error instanceof ServerFailure)) throw error;
}

function waits(message: string): Error {
  return Object.assign(new Error(message), { code: 'server_at_work', waits: true });
}

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
  do: async ({ ctx, payload, state, isHeld }) => {
    const { serviceId, serverId: fromId, toServerId: toId, actionId, moveId } = payload;
    await ctx.db.many(lockService, { id: serviceId });
    const move = await readMove(ctx, moveId);
    const { status, organizationId, userId } = await requireOrder(ctx, serviceId);
    const dedicated = await findDedicated(ctx, organizationId, serviceId);
    // That of one that a restore holds ended with it.
    const isGoing = isHeld || (await isActionOpen(ctx, actionId));
    if (dedicated === null || status !== 'active' || !isGoing)
      throw off('the service has ended, or the action has');
    const hadSince = (await serverOfService(ctx, serviceId))?.stateSince.toISOString();
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
    if (isHeld) await setServerAside(ctx, fromId, mayBeAnothers(serviceId));
    else
      await enqueue(
        ctx,
        comeBack,
        { leftBy: serviceId, serverId: fromId, ...(hadSince !== undefined && { hadSince }) },
        { organizationId },
      );
  },
};

function mayBeAnothers(serviceId: number): string {
  return `the service ${serviceId} had left it before the database was restored: it was not wiped since, and may be somebody’s. Look what is on it, and release it only when nobody needs that`;
}

/**
 * A service goes from its server to another one: that is installed while the one before goes on, gets the VLANs and the addresses once the one before is off, and is its
 * customer's once it greets. Until then whatever fails leaves the service where it is.
 */
export const move = saga<MovePayload, State>({
  name: moveJob.name,
  queue: 'racks',
  progress: async (run) => {
    if (run.isHeld) await requireWentOver(run);
  },
  steps: [
    ...[lookStep, planStep, passwordStep<MovePayload, State>(openedAt), vlansStep],
    ...carryingOut,
    ...[restStep, offStep, vlanStep, confirmStep, startStep, readyStep],
    ...[{ name: 'disarm', do: disarmIfHeard } satisfies MoveStep, swapStep],
  ].map(unlessHeld),
  failed: async (tx, payload, failure) => {
    const { toServerId, serviceId, moveId } = payload;
    const isItsFault = isServersFault(failure) && !ofTheOld.has(failure.step);
    if (await isOfBackup(tx, payload)) await letGoOfMove(tx, toServerId, serviceId);
    else if (isItsFault && (await isHeldForMove(tx, toServerId, serviceId)))
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
    await endBadly(tx, payload, failure, onceOff.has(failure.step) && !payload.isUnplugged ? goesOn : stays);
    await haveOnAgain(tx, payload);
    return verdictOn(failure);
  },
  // What was begun with the new server is not undone: it stays held until the job has come to an end.
  stuck: async (tx, payload, failure) => {
    await leaveStop(tx, payload.moveId);
    const said = failure.code === 'held' ? held : onceOff.has(failure.step) ? isOff : stays;
    await endBadly(tx, payload, failure, said);
  },
});

/** The customer has asked for nothing, and nothing of theirs has changed. */
const stays = 'Your server was to be replaced by another one, which could not be done: it stays as it was';
const goesOn =
  'Your server was to be replaced by another one, which could not be done: it stays as it was, and is switched on again where it was on';
const isOff =
  'Your server was to be replaced by another one, which could not be done: it is off for the moment, and our staff has been told';
const held =
  'Our database was restored from a backup while your server was being replaced by another one: nothing is done to either before our staff has looked';

async function endBadly(tx: TxContext, payload: MovePayload, { code }: Failure, said: string): Promise<void> {
  const message = code === calledOff ? 'It was called off: your server stays as it was' : said;
  await endWork(tx, payload, { code, message });
}

/** Whether it was asked for before the database was restored. */
async function isOfBackup(ctx: Context, { moveId }: MovePayload): Promise<boolean> {
  const restore = await findLastRestore(ctx);
  return restore !== null && (await readMove(ctx, moveId)).asked_at <= restore.restored_at;
}

/** What was on before it was switched off for the move is on again, as soon as its BMC answers; not where a backup says so, for it may be somebody else's since. */
async function haveOnAgain(tx: TxContext, payload: MovePayload): Promise<void> {
  const { serviceId, serverId } = payload;
  const { status, organizationId } = await requireOrder(tx, serviceId);
  const server = await serverOfService(tx, serviceId);
  // What a suspension has to put right it goes on knowing.
  if (server?.id !== serverId || server.state !== 'rented' || status !== 'active') return;
  if (!(await isOfBackup(tx, payload)) && (await readWasOn(tx, serviceId)) === true)
    await enqueue(tx, resumeServer, { serviceId }, { organizationId });
  else await dropWasOn(tx, serviceId);
}
