import type { Hypervisor } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import { type Context, enqueue, job, type Run, statement, type TxContext } from '../../platform/index.ts';
import { actionStarted } from '../events.ts';
import { findMachine, machineIdOf, setMachineState } from '../machine.ts';
import { inSql, openStatuses } from '../states.ts';
import { powerJobs } from './job.ts';

/*
 * Whoever abuses a machine is switched off at once, whatever is done to it. Most actions end for a stop with force.
 * One that would leave the machine half (a copy, a reinstall, an upgrade) keeps its lock until it has ended by itself;
 * the power goes meanwhile, no such action gives it back, and the stop has its turn before anybody else.
 */

const waitingStop = statement<{ id: number }, { serviceId: number }>(
  'vps.waitingStop',
  `select id from vps_actions where service_id = :serviceId and command = 'stop' and waits`,
);
const openStop = statement<{ id: number }, { actionId: number }>(
  'vps.openStop',
  `select id from vps_actions where id = :actionId and status in ${inSql(openStatuses)}`,
);
const cancelledAction = statement<{ id: number }, { actionId: number; code: string }>(
  'vps.cancelledAction',
  'select id from vps_actions where id = :actionId and error_code = :code',
);
const takeTurn = statement<{ id: number }, { serviceId: number }>(
  'vps.takeTurnToStop',
  `update vps_actions set waits = false where service_id = :serviceId and command = 'stop' and waits returning id`,
);

interface Payload {
  serviceId: number;
  actionId: number;
}

/** Takes the power for a stop with force: a job of its own, which waits for nobody's actions. */
export const takePower = job<Payload>('vps.take_power', async (run) => {
  const { serviceId, actionId } = run.payload;
  const machine = await findMachine(run.ctx, serviceId);
  // A stop that has ended says nothing of a machine that was started since.
  if (machine === null || (await run.ctx.db.maybe(openStop, { actionId })) === null) return;
  await run.drivers.hypervisor(machine.node_id).powerOff(machineIdOf(serviceId));
});

/** Whether a stop with force waits for the end of the action under way. */
export async function isToStop(ctx: Context, serviceId: number): Promise<boolean> {
  return (await ctx.db.maybe(waitingStop, { serviceId })) !== null;
}

/** Fails an action for good that goes no further for a stop with force. */
export async function requireNoStop({ ctx, payload }: Run<{ serviceId: number }, object>): Promise<void> {
  if (await isToStop(ctx, payload.serviceId)) throw stopped();
}

/** Code of an action that a stop with force ended: it did not fail. */
export const cancelledByForce = 'cancelled';

/** Whether an action was ended by a stop with force. */
export async function wasCancelled(ctx: Context, actionId: number): Promise<boolean> {
  return (await ctx.db.maybe(cancelledAction, { actionId, code: cancelledByForce })) !== null;
}

export function stopped(): Error {
  return Object.assign(new Error('The machine was stopped with force'), {
    code: cancelledByForce,
    permanent: true,
    unwanted: true,
  });
}

/** Starts a machine for an action that holds its lock, unless it is to stop. Whether it was left running. */
export async function startUnlessToStop(
  { ctx, payload }: Run<{ serviceId: number }, object>,
  hypervisor: Hypervisor,
  start: () => Promise<void>,
): Promise<boolean> {
  if (await isToStop(ctx, payload.serviceId)) return false;
  await start();
  // Asked for since then, its power was taken before the start.
  if (!(await isToStop(ctx, payload.serviceId))) return true;
  await hypervisor.powerOff(machineIdOf(payload.serviceId));
  return false;
}

/** Gives the lock of an action that has just ended to the stop that waits for it, in the same transaction. */
export async function giveTurnToStop(
  ctx: TxContext,
  { serviceId, organizationId }: { serviceId: number; organizationId: number },
): Promise<void> {
  const machine = await findMachine(ctx, serviceId);
  const next = await ctx.db.maybe(takeTurn, { serviceId });
  if (next === null || machine === null) return;
  const { state, wanted, node_id: nodeId } = machine;
  await setMachineState(ctx, serviceId, 'stopping', { wanted: 'stopped' });
  await record(ctx, actionStarted, {
    subject: { type: 'service', id: serviceId },
    organizationId,
    data: { action_id: next.id, command: 'stop' },
  });
  const before = { state, wanted };
  const { command } = powerJobs.stop;
  const payload = { serviceId, organizationId, actionId: next.id, command, before, force: true };
  await enqueue(ctx, powerJobs.stop, payload, { organizationId, nodeId });
}
