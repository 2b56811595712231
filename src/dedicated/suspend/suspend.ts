import {
  atWork,
  closeAllOf,
  dropWasOn,
  endCustomerWork,
  findAssignment,
  findRentedServer,
  findUnfinishedOf,
  haltServer,
  hearPower,
  keepWasOn,
  type RentedServer,
  readPowerOf,
  readWasOn,
  requireServerOff,
  startServer,
} from '../../fleet/index.ts';
import {
  type Context,
  isJobOpenAbout,
  type Run,
  type Step,
  saga,
  type TxContext,
} from '../../platform/index.ts';
import { requireOrder } from '../../services/index.ts';
import { endActionById } from '../actions.ts';
import { clearLeft, findLeft } from '../left/left.ts';
import { moveJob } from '../move/move.ts';
import { findUnderWay } from '../queries.ts';
import { reinstallJob } from '../reinstall/reinstall.ts';
import { rescueJob, rescueOffJob } from '../rescue/rescue.ts';
import { noteProblem } from '../systems.ts';
import { calledOff, verdictOn, wantedNoMore } from '../work.ts';

interface Payload {
  serviceId: number;
}

interface State {
  serverId: number;
  /** Whom the power was asked of last, and what was said. */
  at: string;
  power: 'on' | 'off';
}

type PowerRun = Run<Payload, State>;
type PowerStep = Step<Payload, State>;

/** What ends by itself or once staff has seen to the BMC. One that is silent is waited for, whatever it takes. */
const outages = [
  ...['bmc_refused', 'answer_invalid', 'nothing_happened', 'sign_in_refused', 'other_bmc'],
  ...['bmc_forgotten', 'program_absent'],
];

/** The server of a service in that state; ends the job when it is in another one by now, or has no server any more. */
async function requireIn(
  ctx: Context,
  { serviceId }: Payload,
  status: 'suspended' | 'active',
): Promise<RentedServer> {
  const { status: is } = await requireOrder(ctx, serviceId);
  const server = await findRentedServer(ctx, serviceId);
  if (is === status && server?.state === 'rented') return server;
  throw notIn(is);
}

function notIn(is: string): Error {
  return wantedNoMore(`the service is ${is}, or has no server that is its customer's`);
}

async function isIn(ctx: Context, payload: Payload, status: 'suspended' | 'active'): Promise<boolean> {
  return (await requireOrder(ctx, payload.serviceId)).status === status;
}

/** What its customer or staff has asked of its power has its end first: two at once would each undo what the other did. */
function requireRest({ switching }: RentedServer): void {
  if (switching !== null) throw atWork(`the action ${switching} is still running on the server`);
}

/** The same of what was called off with a suspension: its job ends at its next step, and is at the BMC until then. */
async function requireWorkOver(ctx: Context, { serviceId }: Payload): Promise<void> {
  for (const each of [reinstallJob, rescueJob, rescueOffJob, moveJob])
    if (await isJobOpenAbout(ctx, each, { serviceId }))
      throw atWork(`${each.name} is still at work on the server`);
}

/** Whatever our installer was to do for its customer, or does, is called off: it would have the server on. Its job sees that its action has ended. */
async function callOffWork(tx: TxContext, serviceId: number, server: RentedServer): Promise<void> {
  const found = await findUnfinishedOf(tx, server.id);
  await closeAllOf(tx, server.id);
  // As it was when it was closed: it may have begun, or ended, until then.
  const assignment = found === null ? null : await findAssignment(tx, found.id);
  if (assignment?.kind === 'install' && assignment.state === 'cancelled' && assignment.given_at !== null)
    await noteProblem(
      tx,
      serviceId,
      'The reinstallation was called off when the service was suspended, and nothing starts from its disks: reinstall once more',
    );
  const action = server.customerWork === null ? null : await findUnderWay(tx, serviceId);
  if (action === null) return;
  await endActionById(tx, action.id, { code: calledOff, message: 'The service was suspended' });
  await endCustomerWork(tx, server.id);
  // Its job may have it off at the moment; its customer had it on, or wanted it to be.
  await keepWasOn(tx, serviceId, true);
}

/** After a restore a server that is on may be somebody else's since; one whose BMC is silent is waited for. */
async function requireLeftAlone(run: PowerRun, serverId: number): Promise<void> {
  if (run.isHeld && (await readPowerOf(run, serverId)).power === 'on') await requireServerOff(run, serverId);
}

const suspendedStep: PowerStep = {
  name: 'find',
  transactional: true,
  do: async ({ ctx, payload }) => {
    const server = await requireIn(ctx, payload, 'suspended');
    await callOffWork(ctx, payload.serviceId, server);
    return { serverId: server.id };
  },
};

const lookStep: PowerStep = {
  name: 'look',
  do: async (run) => {
    const server = await requireIn(run.ctx, run.payload, 'suspended');
    requireRest(server);
    await requireWorkOver(run.ctx, run.payload);
    return readPowerOf(run, server.id);
  },
  recorded: async (tx, { serviceId }, { power }) => {
    // What is off, or on, since a failure left it so is not how its customer had it.
    const left = await findLeft(tx, serviceId);
    await keepWasOn(tx, serviceId, left === null ? power === 'on' : left === 'on');
    await clearLeft(tx, serviceId);
  },
};

/** From here on it goes to the end: once its button was pressed the server goes off, be it minutes later, and what has it on again waits for that. */
const restStep: PowerStep = {
  name: 'rest',
  do: async ({ ctx, payload }) => {
    requireRest(await requireIn(ctx, payload, 'suspended'));
    await requireWorkOver(ctx, payload);
  },
};

const offStep: PowerStep = {
  name: 'off',
  do: async (run) => {
    const { ctx, payload } = run;
    const isPaid = await isIn(ctx, payload, 'active');
    const server = await requireIn(ctx, payload, isPaid ? 'active' : 'suspended');
    // Its customer has had something done with it since.
    if (isPaid && (server.customerWork !== null || server.switching !== null)) throw notIn('active');
    requireRest(server);
    await requireLeftAlone(run, server.id);
    return haltServer(run, server.id);
  },
};

/**
 * Switches off the server of a service that was suspended: by its power button, and by force where its system does not follow. Whether it was on is kept, for when
 * it may run again. While its BMC is silent the job waits, and the service is suspended all the same.
 */
export const suspendServer = saga<Payload, State>({
  name: 'dedicated.suspend',
  queue: 'machine',
  outages,
  steps: [suspendedStep, lookStep, restStep, offStep],
  succeeded: async (tx, _payload, { serverId, at, power }) => {
    if (serverId !== undefined && at !== undefined && power !== undefined)
      await hearPower(tx, serverId, at, power);
  },
  failed: async (_tx, _payload, failure) => verdictOn(failure),
});

const onStep: PowerStep = {
  name: 'on',
  do: async (run) => {
    const { ctx, payload } = run;
    const server = await requireIn(ctx, payload, 'active');
    requireRest(server);
    if (server.customerWork !== null)
      throw atWork(`the action ${server.customerWork} is still running on the server`);
    await requireWorkOver(ctx, payload);
    if (await isJobOpenAbout(ctx, suspendServer, payload))
      throw atWork('the server is still being switched off');
    if ((await readWasOn(ctx, payload.serviceId)) !== true) return {};
    await requireLeftAlone(run, server.id);
    const found = await startServer(run, server.id, () => isIn(ctx, payload, 'active'));
    return { serverId: server.id, ...found };
  },
};

/** What was on before its service was suspended is on again, once its BMC answers. */
export const resumeServer = saga<Payload, State>({
  name: 'dedicated.resume',
  queue: 'machine',
  outages,
  steps: [onStep],
  succeeded: async (tx, { serviceId }, { serverId, at, power }) => {
    if (serverId !== undefined && at !== undefined && power !== undefined)
      await hearPower(tx, serverId, at, power);
    // Suspended again meanwhile: it still is to be what it was before.
    if (await isIn(tx, { serviceId }, 'active')) await dropWasOn(tx, serviceId);
  },
  failed: async (_tx, _payload, failure) => verdictOn(failure),
});

/** Nothing of a suspension is at work with a server any more. */
export async function requireSuspensionAtRest(ctx: PowerRun['ctx'], serviceId: number): Promise<void> {
  for (const each of [suspendServer, resumeServer])
    if (await isJobOpenAbout(ctx, each, { serviceId }))
      throw atWork('the server is being switched for the suspension of its service');
}
