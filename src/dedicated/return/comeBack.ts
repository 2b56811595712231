import {
  atWork,
  type BmcUser,
  beginReturn,
  closeAllOf,
  closeAssignment,
  disksOf,
  findLeftServer,
  findRentedServer,
  isLastAssignment,
  noteOfReturn,
  openAssignment,
  othersAtBmc,
  requireServerOff,
  restockServer,
  type SeenBmc,
  ServerFailure,
  type ServerOfService,
  saidWithPlan,
  serverOfService,
  setServerAside,
  shutOthersOut,
  switchOff,
} from '../../fleet/index.ts';
import {
  type Context,
  findLastRestore,
  isJobUnfinishedAbout,
  type Run,
  type Step,
  saga,
  type TxRun,
  transaction,
} from '../../platform/index.ts';
import { isServersFault, unfit } from '../faults.ts';
import { giveBackAddresses } from '../giveBackAddresses.ts';
import { moveJob } from '../move/move.ts';
import { passwordStep, type WithPassword } from '../password.ts';
import { findUnderWay } from '../queries.ts';
import { callOff, serverIn, stages } from '../stages.ts';
import { holdStillIts, requireCompared, takenAway } from '../stillIts.ts';
import { requireSuspensionAtRest } from '../suspend/suspend.ts';
import { keepProof } from './proof.ts';

/** Of a service that has ended, or of a server that its service has left for another one. */
type Payload = { serviceId: number } | LeftServer;

interface LeftServer {
  leftBy: number;
  serverId: number;
  /** Since when the service had it, ISO 8601; not known of what began before that was kept. */
  hadSince?: string;
}

interface State extends WithPassword {
  /** Who could sign in at its BMC besides us when it came back. */
  others: string[];
  /** What they could do there, as a baseline names them. */
  users: BmcUser[];
  /** How its BMC is beside that. */
  seen: SeenBmc;
  /** When the last disk was. */
  wipedAt: string;
}

type ReturnRun = Run<Payload, State>;
type ReturnStep = Step<Payload, State>;

/** Whose server it was, and the one of several that a service has left. */
function of(payload: Payload): { serviceId: number; leftId: number | null } {
  return 'leftBy' in payload
    ? { serviceId: payload.leftBy, leftId: payload.serverId }
    : { serviceId: payload.serviceId, leftId: null };
}

/** The server that comes back; null: it does no longer. */
function serverOf(
  ctx: Context,
  payload: Payload,
): Promise<Pick<ServerOfService, 'id' | 'state' | 'stateSince'> | null> {
  const { serviceId, leftId } = of(payload);
  return leftId === null ? serverOfService(ctx, serviceId) : findLeftServer(ctx, leftId, serviceId);
}

/** The server that this job has is on its way back as its own; null: it has come back since, and is somebody's, or on its way once more. */
async function findComing({
  ctx,
  payload,
  state: { serverId, assignmentId },
}: Pick<ReturnRun, 'ctx' | 'payload' | 'state'>): Promise<number | null> {
  const server = await serverOf(ctx, payload);
  if (server === null || server.id !== serverId || server.state !== 'returning') return null;
  return assignmentId === undefined || (await isLastAssignment(ctx, assignmentId)) ? server.id : null;
}

async function comingServer(run: Pick<ReturnRun, 'ctx' | 'payload' | 'state'>): Promise<number> {
  const serverId = await findComing(run);
  if (serverId === null) throw takenAway(of(run.payload).serviceId, serverIn(run.state));
  return serverId;
}

async function requireComing(run: ReturnRun): Promise<void> {
  await comingServer(run);
}

/** The same, and nobody takes it away until the transaction ends. */
async function holdComing(run: TxRun<Payload, State>): Promise<number> {
  await holdStillIts(run.ctx, of(run.payload).serviceId, serverIn(run.state));
  return comingServer(run);
}

/** Code of a return of a service that has no server, or none any more. */
const nothingToReturn = 'nothing_to_return';

/**
 * A server that was rented before a restore of the database may have come back and been sold since the backup. Nothing begins before the restore is released, and
 * after that one that is on is left alone, and is still rented, so that staff can switch it off. Of one that its service has left, that counts from when the service
 * got it: a move after the restore has not asked it whose it is, where staff says that its power was pulled.
 */
const lookStep: ReturnStep = {
  name: 'look',
  do: async (run) => {
    const restore = await findLastRestore(run.ctx);
    const server = await serverOf(run.ctx, run.payload);
    const isAtWork = server?.state === 'rented' || of(run.payload).leftId !== null;
    if (restore === null || server === null || !isAtWork) return;
    const { hadSince } = { hadSince: undefined, ...run.payload };
    const stateSince = hadSince === undefined ? server.stateSince : new Date(hadSince);
    if (stateSince > restore.restored_at) return;
    if (!run.isHeld) await requireCompared(run.ctx, { stateSince });
    await requireServerOff(run, server.id);
  },
};

/** From here on nobody but this switches the server, and no staff says what becomes of it. */
const openStep: ReturnStep = {
  name: 'open',
  transactional: true,
  do: async ({ ctx, payload }) => {
    const { serviceId, leftId } = of(payload);
    // One that its service has left is on its way back since then.
    const serverId =
      leftId === null
        ? await beginReturn(ctx, serviceId)
        : ((await findLeftServer(ctx, leftId, serviceId))?.id ?? null);
    if (serverId !== null) return { serverId };
    const message = `the service ${serviceId} has no server that could come back`;
    throw Object.assign(new Error(message), { code: nothingToReturn, permanent: true, unwanted: true });
  },
  // What could not even be planned has switched nothing yet: its customer's system would run on.
  undo: async (run) => {
    if (run.state.assignmentId === undefined) await leaveOff(run);
  },
};

/** Whatever its customer or staff had asked of its power has its end first: two at once would each undo what the other did. */
const restStep: ReturnStep = {
  name: 'rest',
  do: async (run) => {
    const { ctx, payload, state } = run;
    const { serviceId, leftId } = of(payload);
    await requireComing(run);
    // Before anything is planned: a plan answers whoever starts from the network.
    if (run.isHeld) await requireServerOff(run, serverIn(state));
    if (leftId !== null) return; // whatever is done for its service is done with another one
    await requireSuspensionAtRest(ctx, serviceId);
    // The server that it was on its way to may run with its addresses.
    if (await isJobUnfinishedAbout(ctx, moveJob, { serviceId }))
      throw atWork('a move of the service has not come to its end');
    // What is called off for it has its end as well before another plan is written for the server.
    const switching =
      (await findUnderWay(ctx, serviceId))?.command ??
      (await findRentedServer(ctx, serviceId))?.switching ??
      null;
    if (switching === null) return;
    throw atWork(`the action ${switching} is still running on the server`);
  },
};

const planStep: ReturnStep = {
  name: 'plan',
  transactional: true,
  do: async (run) => {
    const { ctx, payload } = run;
    const { serviceId } = of(payload);
    const serverId = await holdComing(run);
    const wipe = (await disksOf(ctx, serverId)).map(({ serial }) => serial);
    if (wipe.length === 0) throw unfit('no disk of it was measured, so nobody can say that all were wiped');
    await closeAllOf(ctx, serverId);
    return { assignmentId: await openAssignment(ctx, serverId, { task: 'wipe', wipe }, null, { serviceId }) };
  },
  undo: callOff,
};

const carryingOut = stages<Payload, State>({
  before: requireComing,
  undoPower: leaveOff,
  last: { name: 'wipe', ended: ({ ctx }) => ({ wipedAt: ctx.clock.now().toISOString() }) },
});

// It is off before its addresses rest; where that cannot be had, staff reads so, and nobody gets them until it is.
async function leaveOff(run: ReturnRun): Promise<void> {
  const { ctx, payload, state } = run;
  const serverId = await findComing(run);
  if (serverId === null) return;
  if (run.isHeld) return requireServerOff(run, serverId);
  try {
    await switchOff(run, serverId);
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    const problem = `it could not be switched off, and what is on it may still run with the addresses that its customer had: ${error.message}`;
    await transaction(ctx, 'dedicated.noteOfReturn', async (tx) => {
      if ((await findComing({ ctx: tx, payload, state })) === null) return;
      await noteOfReturn(tx, serverId, problem);
      if (of(payload).leftId === null) await giveBackAddresses(tx, of(payload).serviceId, serverId);
    });
  }
}

const wipedAt = async ({ state }: ReturnRun) => new Date(state.wipedAt ?? 0);

/** Its customer's system runs no more since it was proved, so nobody undoes what is done here. */
const othersStep: ReturnStep = {
  name: 'others',
  do: async (run) => othersAtBmc(run, await comingServer(run), await wipedAt(run)),
};

const shutOutStep: ReturnStep = {
  name: 'shut_out',
  do: async (run) => ({ seen: await shutOthersOut(run, await comingServer(run), await wipedAt(run)) }),
};

const offStep: ReturnStep = {
  name: 'off',
  do: async (run) => {
    const serverId = await comingServer(run);
    // Since the backup it may have been sold to somebody else.
    if (run.isHeld) await requireServerOff(run, serverId);
    await switchOff(run, serverId, await wipedAt(run));
  },
};

const stockStep: ReturnStep = {
  name: 'stock',
  transactional: true,
  do: async (run) => {
    const { ctx, payload, state } = run;
    const { assignmentId, others = [], users = null, seen } = state;
    const { serviceId, leftId } = of(payload);
    const serverId = await holdComing(run);
    // Begun before anybody looked at that: of what is not known nothing is compared.
    const found = seen === undefined ? null : { ...seen, users };
    const said =
      assignmentId === undefined
        ? { inventory: null, startMac: null }
        : await saidWithPlan(ctx, assignmentId);
    if (!(await restockServer(ctx, serverId, { accounts: others, ...said, seen: found })))
      throw takenAway(serviceId, serverId);
    if (assignmentId !== undefined) {
      await closeAssignment(ctx, assignmentId);
      await keepProof(ctx, serviceId, assignmentId);
    }
    if (leftId === null) await giveBackAddresses(ctx, serviceId);
  },
};

/**
 * From a service that has ended to a server in stock: it is switched off, started into the installer, proved, and each of its disks is wiped, which is kept as
 * proof. One that differs from the baseline of its profile is in quarantine until that is accepted. One of which a disk cannot be wiped is broken, and one with which anything else is wrong is in quarantine; both are nobody's then.
 */
export const comeBack = saga<Payload, State>({
  name: 'dedicated.return',
  queue: 'racks',
  steps: [
    ...[lookStep, openStep, restStep, planStep],
    ...carryingOut,
    ...[passwordStep<Payload, State>(wipedAt, requireComing), othersStep, shutOutStep],
    ...[offStep, stockStep],
  ],
  failed: async (tx, payload, failure) => {
    if (failure.code === nothingToReturn || failure.code === 'server_taken_away') return 'unwanted';
    // Anything else is a defect of ours: the server stays on its way, and staff has the job tried again.
    if (!isServersFault(failure)) return undefined;
    const { serviceId, leftId } = of(payload);
    const server = await serverOf(tx, payload);
    if (server !== null) {
      const isBroken = failure.code === 'disk_not_wiped';
      const reason = `it came back and could not be wiped: ${failure.message}`;
      await setServerAside(tx, server.id, reason, { state: isBroken ? 'broken' : 'quarantined' });
    }
    if (leftId === null) await giveBackAddresses(tx, serviceId);
    return 'unwanted'; // staff sees at the server what is wrong
  },
});
