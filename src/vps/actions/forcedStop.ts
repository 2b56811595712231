import type { Hypervisor } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import { findPlacement } from '../../fleet/index.ts';
import {
  type Context,
  enqueue,
  fail,
  job,
  type Run,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { actionStarted } from '../events.ts';
import { findMachine, machineIdOf, setMachineState } from '../machine.ts';
import { inSql, openStatuses } from '../states.ts';
import { type ActionPayload, powerJobs } from './job.ts';

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

// A service that may not be used keeps its machine off, too.
const toBeOff = statement<{ why: OffReason }, { serviceId: number }>(
  'vps.toBeOff',
  `select status as why from services where id = :serviceId and status in ('suspended', 'terminated')
   union all
   select 'stopped' from vps_actions where service_id = :serviceId and command = 'stop' and waits limit 1`,
);

type OffReason = 'suspended' | 'terminated' | 'stopped';

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
  try {
    await run.drivers.hypervisor(machine.node_id).powerOff(machineIdOf(serviceId, machine.incarnation));
  } finally {
    await powerOffArriving(run, serviceId);
  }
});

// Of a move whose job stands still it may be the one that runs.
const arriving = statement<{ incarnation: number }, { serviceId: number }>(
  'vps.arriving',
  `select v.incarnation from vps_moves v join machines m on m.service_id = v.service_id
   where v.service_id = :serviceId and v.state = 'moving' and v.incarnation > m.incarnation`,
);

/** Takes the power of what a machine is being made anew as in a cluster, where it may run before it is written down there. */
export async function powerOffArriving(
  { ctx, drivers }: Pick<Run<object, object>, 'ctx' | 'drivers'>,
  serviceId: number,
): Promise<void> {
  const anew = await ctx.db.maybe(arriving, { serviceId });
  const there = anew === null ? null : await findPlacement(ctx, serviceId);
  if (anew === null || there === null) return;
  const [driver, machine] = [drivers.hypervisor(there.nodeId), machineIdOf(serviceId, anew.incarnation)];
  if ((await driver.inspect(machine)).power !== 'absent') await driver.powerOff(machine);
}

/** Whether a stop with force waits for the end of the action under way. */
export async function isToStop(ctx: Context, serviceId: number): Promise<boolean> {
  return (await ctx.db.maybe(waitingStop, { serviceId })) !== null;
}

/** Fails an action for good that goes no further: for a stop with force, or because its service may not be used. */
export async function requireNoStop({ ctx, payload }: Run<{ serviceId: number }, object>): Promise<void> {
  const why = await reasonToBeOff(ctx, payload.serviceId);
  if (why !== null) throw stopped(why);
}

/** Why the machine is to be off, whatever is under way with it; null when it need not be. */
export async function reasonToBeOff(ctx: Context, serviceId: number): Promise<OffReason | null> {
  return (await ctx.db.maybe(toBeOff, { serviceId }))?.why ?? null;
}

/** Code of an action that a stop with force ended, a suspension, or the loss of its machine's node: it did not fail. */
export const cancelledByForce = 'cancelled';

/** Whether an action was ended so. */
export async function wasCancelled(ctx: Context, actionId: number): Promise<boolean> {
  return (await ctx.db.maybe(cancelledAction, { actionId, code: cancelledByForce })) !== null;
}

/** Fails for good once an action was ended so. One that ended because its job was stuck may be gone on with, by staff. */
export async function requireNotCancelled({ ctx, payload }: Run<ActionPayload, object>): Promise<void> {
  if (!(await wasCancelled(ctx, payload.actionId))) return;
  throw Object.assign(fail('conflict', { message: 'This action was ended' }), { permanent: true });
}

export function stopped(why: OffReason): Error {
  const message = why === 'stopped' ? 'The machine was stopped with force' : `The service was ${why}`;
  return Object.assign(new Error(message), {
    code: cancelledByForce,
    permanent: true,
    unwanted: true,
  });
}

/** Starts a machine for an action that holds its lock, unless it is to be off: then why, and null when it runs. */
export async function startUnlessToStop(
  { ctx, payload }: Run<{ serviceId: number }, object>,
  hypervisor: Hypervisor,
  start: () => Promise<void>,
): Promise<OffReason | null> {
  const before = await reasonToBeOff(ctx, payload.serviceId);
  if (before !== null) return before;
  await start();
  // Asked for since then, its power was taken before the start.
  const since = await reasonToBeOff(ctx, payload.serviceId);
  if (since !== null) {
    const machine = await findMachine(ctx, payload.serviceId);
    await hypervisor.powerOff(machineIdOf(payload.serviceId, machine?.incarnation));
  }
  return since;
}

/** Lets a stop with force that waits have its end: the machine is going to be off anyway. Its id; null without one. */
export async function takeWaitingStop(tx: TxContext, serviceId: number): Promise<number | null> {
  return (await tx.db.maybe(takeTurn, { serviceId }))?.id ?? null;
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
