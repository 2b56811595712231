import {
  beginCustomerWork,
  endCustomerWork,
  isServerOn,
  type RentedServer,
  requireServerOff,
  type ServerFailure,
  serverOfService,
} from '../fleet/index.ts';
import {
  type Context,
  enqueue,
  type Failure,
  fail,
  findLastRestore,
  type NamedJob,
  type OrganizationContext,
  type Run,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { requireOrder } from '../services/index.ts';
import type { ActionRow } from '../vps/index.ts';
import { endActionById, isActionOpen, openAction } from './actions.ts';
import { noteLeft, type Wanted } from './left/left.ts';
import { type Dedicated, factsOf, requireDedicated } from './queries.ts';
import { reasonAgainst, reasonAgainstMove } from './states.ts';
import { requireCompared } from './stillIts.ts';

/** What every job knows by which a customer has something done with their server beside its power. */
export interface CustomerJob {
  serviceId: number;
  serverId: number;
  actionId: number;
}

type Command = 'reinstall' | 'rescue' | 'rescue_off' | 'move';

/**
 * Opens an action on a server and asks for its job; from then on nobody switches the server until the action ends. `prepare` says what the job has to know besides; what it
 * throws takes everything back. `not_found`, `forbidden`, `not_on_server`, `locked`, `action_not_allowed`.
 */
export async function requestWork<P extends CustomerJob>(
  ctx: OrganizationContext,
  id: number,
  command: Command,
  job: NamedJob<P>,
  prepare: (
    tx: OrganizationContext & TxContext,
    dedicated: Dedicated,
    server: RentedServer,
    action: ActionRow,
  ) => Promise<Omit<P, keyof CustomerJob>>,
): Promise<ActionRow> {
  return transaction(ctx, job.name, async (tx) => {
    const dedicated = await requireDedicated(tx, id, { lock: true });
    const facts = factsOf(dedicated);
    const refusal = command === 'move' ? reasonAgainstMove(facts) : reasonAgainst(command, facts);
    if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
    const { server } = dedicated;
    if (server === null) throw new Error(`service ${id} is active and has no server`);
    await beginCustomerWork(tx, server.id, command);
    const action = await openAction(tx, { serviceId: id, serverId: server.id, command });
    const beside = await prepare(tx, dedicated, server, action);
    const common: CustomerJob = { serviceId: id, serverId: server.id, actionId: action.id };
    await enqueue(tx, job, { ...common, ...beside } as P); // the compiler does not see that both together are all of it
    return action;
  });
}

/** Code of what is wanted no more: its action has ended, or the service has, or is in another state. */
export const calledOff = 'called_off';

/** A job that nobody calls for any more ends with this for good, and nobody has anything to see to; {@link verdictOn} its end. */
export function wantedNoMore(message: string): Error {
  return Object.assign(new Error(message), { code: calledOff, permanent: true, unwanted: true });
}

/** Whether a job may still do something with the server: the service has it, and the action goes on. */
export async function isWanted(ctx: Context, payload: CustomerJob): Promise<boolean> {
  const server = await serverOfService(ctx, payload.serviceId);
  if (server?.id !== payload.serverId || server.state !== 'rented') return false;
  return isActionOpen(ctx, payload.actionId);
}

/** Whether a server may be switched on for its customer: it may not while its service is suspended. */
export async function mayRun(ctx: Context, { serviceId }: CustomerJob): Promise<boolean> {
  return (await requireOrder(ctx, serviceId)).status === 'active';
}

/** Fails for good when nobody wants it any more, and nothing is to be seen to. */
export async function requireWanted(ctx: Context, payload: CustomerJob): Promise<void> {
  if (await isWanted(ctx, payload)) return;
  throw wantedNoMore('the service has ended, or the action has: ask for it again');
}

/** Before the first change: it is wanted, and after a restore a server that is on is left alone. */
export async function requireUntouched<P extends CustomerJob, S>(run: Run<P, S>): Promise<void> {
  await requireWanted(run.ctx, run.payload);
  if (run.isHeld) await requireServerOff(run, run.payload.serverId);
}

/** Code of a server that may have become somebody else's before a restore of the database. */
export const restoredSince = 'restored_since';

/**
 * Whether a server is on, before the first change to it. `restored_since` of one that is on and was rented before the backup that was restored: it may be somebody
 * else's since, whose power nobody takes, and whose disks nobody wipes or shows to others. One that is off waits until the restore is released.
 */
export async function lookFirst<P extends CustomerJob, S>(run: Run<P, S>): Promise<boolean> {
  const { ctx, payload } = run;
  await requireUntouched(run);
  const isOn = await isServerOn(run, payload.serverId);
  const restore = await findLastRestore(ctx);
  const server = await serverOfService(ctx, payload.serviceId);
  if (isOn && restore !== null && server !== null && server.stateSince <= restore.restored_at)
    throw Object.assign(new Error('the server is on, and was rented before the backup that was restored'), {
      ...{ code: restoredSince, permanent: true, unwanted: true },
    });
  if (!isOn && !run.isHeld && server !== null) await requireCompared(ctx, server);
  return isOn;
}

/** Ends a job's action, in words for its customer, and the server is at rest; one that has ended stays as it ended. */
export async function endWork(
  tx: TxContext,
  { actionId, serverId }: CustomerJob,
  error: { code: string; message: string } | null,
): Promise<void> {
  if (await endActionById(tx, actionId, error)) await endCustomerWork(tx, serverId);
}

/** Staff hears of what failed, but for what nobody wants any more, and for what its customer is told to look at. */
export function verdictOn({ code }: Failure): 'unwanted' | undefined {
  return code === calledOff || code === restoredSince ? 'unwanted' : undefined;
}

const reasons: Readonly<Record<string, string>> = {
  server_silent: 'The server did not start our system, or was not heard of any more',
  other_disks: 'A disk that the system was to go to was not found in the server',
  disk_not_wiped: 'A disk of the server could not be wiped',
  image_unusable: 'The system could not be loaded onto the server',
  server_unfit: 'The server started, and does not answer by SSH at its first address',
  [restoredSince]:
    'Our database was restored from a backup, and since then nothing is done to a server that is on: look whether it is yours, stop it, and ask again',
  [calledOff]: 'It was called off, because the service has ended',
};

/** Why it failed, for its customer: what a BMC said, and where that is, is staff's. */
export function inCustomersWords({ code }: Failure): string {
  return reasons[code] ?? 'The server could not be switched, or did not do what it was told';
}

/**
 * After something with a customer's server had failed, it could not be switched to what it was before: its customer and staff read that. Nothing of ours switches it
 * later, since what runs on it by then may be its customer's. Nothing is noted of an action that nobody wants any more.
 */
export async function leaveServerAs(
  ctx: Context,
  job: CustomerJob,
  wanted: Wanted,
  { message }: ServerFailure,
): Promise<void> {
  await transaction(ctx, 'dedicated.leaveServerAs', async (tx) => {
    const { serviceId, actionId } = job;
    if (await isWanted(tx, job)) await noteLeft(tx, { serviceId, actionId, wanted, problem: message });
  });
}
