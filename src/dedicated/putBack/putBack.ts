import {
  askNow,
  findRentedServer,
  isServerOn,
  keepWasOn,
  requireServerOff,
  ServerFailure,
  startFromDisks,
  switchOff,
} from '../../fleet/index.ts';
import {
  type Context,
  enqueue,
  isJobOpenAbout,
  type NamedJob,
  type Run,
  saga,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { requireOrder } from '../../services/index.ts';
import { findUnderWay } from '../queries.ts';
import { addressesOf } from '../reinstall/reinstall.ts';
import { type CustomerJob, calledOff, isWanted, verdictOn, wantedNoMore } from '../work.ts';
import { clearLeft, findLeft, noteLeft, noteLeftProblem, type Wanted } from './left.ts';

interface Payload extends CustomerJob {
  wanted: Wanted;
}

type PutBackRun = Run<Payload, object>;

export const putBackJob: NamedJob<Payload> = { name: 'dedicated.putBack' };

/**
 * After something with a customer's server had failed, what it was to be could not be had: staff and its customer read that, and it is tried until it is so. The action
 * goes on while this is written down.
 */
export async function putBackLater(
  ctx: Context,
  { serviceId, serverId, actionId }: CustomerJob,
  wanted: Wanted,
  { message }: ServerFailure,
): Promise<void> {
  await transaction(ctx, 'dedicated.putBackLater', async (tx) => {
    const payload = { serviceId, serverId, actionId, wanted };
    if (!(await isWanted(tx, payload))) return;
    await noteLeft(tx, { serviceId, actionId, wanted, problem: message });
    if (await isJobOpenAbout(tx, putBackJob, { actionId })) return;
    const { organizationId } = await requireOrder(tx, serviceId);
    await enqueue(tx, putBackJob, payload, { organizationId });
  });
}

function waits(message: string): Error {
  return Object.assign(new Error(message), { code: 'server_at_work', waits: true });
}

/** It is as it was left still, its customer may use it, and nobody else is at it. */
async function requireLeft({ ctx, payload }: PutBackRun): Promise<void> {
  const { serviceId, serverId } = payload;
  const { status } = await requireOrder(ctx, serviceId);
  const server = await findRentedServer(ctx, serviceId);
  const isTheirs = server?.id === serverId && server.state === 'rented' && !server.isOutOfOrder;
  if (!isTheirs || status !== 'active' || (await findLeft(ctx, payload)) === null)
    throw wantedNoMore('somebody has switched the server since, or it is not its customer’s to use any more');
  const underWay =
    (await findUnderWay(ctx, serviceId))?.command ?? server.customerWork ?? server.switching ?? null;
  if (underWay !== null) throw waits(`the action ${underWay} is still running on the server`);
}

/** Somebody may have started it by hand meanwhile: what greets at its address is its customer's. */
async function isUp(run: PutBackRun): Promise<boolean> {
  const { ctx, drivers, payload } = run;
  const [first] = await addressesOf(ctx, payload.serviceId);
  return first !== undefined && (await isServerOn(run, payload.serverId)) && drivers.greets(first.address);
}

async function switchBack(run: PutBackRun): Promise<void> {
  await requireLeft(run);
  const { ctx, payload } = run;
  const { serverId, wanted } = payload;
  try {
    if (run.isHeld) await requireServerOff(run, serverId);
    if (wanted === 'off') await switchOff(run, serverId);
    else if (!(await isUp(run))) await startFromDisks(run, serverId);
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    await noteLeftProblem(ctx, payload, error.message);
    throw waits(error.message);
  }
}

/** The server of a customer is put back as it was before something with it failed, as soon as its BMC answers; whoever switches it meanwhile, or has it out of order, has the say. */
export const putBack = saga<Payload>({
  name: putBackJob.name,
  queue: 'racks',
  steps: [{ name: 'switch', do: switchBack }],
  succeeded: async (tx, payload) => {
    if ((await findLeft(tx, payload)) === null) return;
    await clearLeft(tx, payload.serviceId);
    await askNow(tx, payload.serverId);
  },
  failed: async (tx, payload, failure) => {
    if (failure.code === calledOff) await leaveIt(tx, payload);
    return verdictOn(failure);
  },
});

/** What was to be on when its service was suspended is on again when that is over. */
async function leaveIt(tx: TxContext, payload: Payload): Promise<void> {
  if ((await findLeft(tx, payload)) === null) return;
  const { serviceId, wanted } = payload;
  await clearLeft(tx, serviceId);
  if (wanted === 'on' && (await requireOrder(tx, serviceId)).status === 'suspended')
    await keepWasOn(tx, serviceId, true);
}
