import { enqueue, type Failure, newId, saga, statement, type TxContext } from '../../platform/index.ts';
import { forCustomer } from '../actions/advice.ts';
import { finishAction, isOpenAction, openSystemAction } from '../actions/history.ts';
import { holdsLock } from '../actions/lock.ts';
import { machineIdOf, setMachineState } from '../machine.ts';
import { hostOutages } from '../outages.ts';
import { stopAnyway } from '../power.ts';
import { findVps, lockVps } from '../queries.ts';
import { actionOf, calledOff, giveUp, type Halt, type HaltPayload, type HaltRun, haltSteps } from './halt.ts';

const halt: Halt = { command: 'suspend', status: 'suspended', during: 'stopping' };

/**
 * Stops the machine of a service that was suspended. What its customer wants it to be stays written down, for when it may
 * run again. Its guest is asked to shut down first, unless another action is at work.
 */
export const suspendMachine = saga<HaltPayload>({
  name: 'vps.suspend',
  queue: 'machine',
  outages: hostOutages,
  steps: [...haltSteps(halt), { name: 'off', do: off }],
  succeeded: async (tx, payload) => {
    await lockVps(tx, payload.serviceId);
    if (!(await isOpenAction(tx, payload.actionId))) return; // ended when the job was stuck
    await setMachineState(tx, payload.serviceId, 'suspended');
    await finishAction(tx, actionOf(halt, payload), null);
  },
  failed: (tx, payload, failure) => end(tx, payload, failure),
  stuck: async (tx, payload, failure) => {
    await end(tx, payload, failure);
  },
});

async function off(run: HaltRun): Promise<void> {
  const vps = await findVps(run.ctx, run.payload.serviceId);
  if (vps?.node_id == null) return;
  const driver = run.drivers.hypervisor(vps.node_id);
  const id = machineIdOf(vps.service_id, vps.incarnation ?? 1);
  // One that is gone from its node is down, and what it needs is not for a suspension to say.
  if ((await driver.inspect(id)).power === 'running') await stopAnyway(driver, id, run.signal);
}

async function end(tx: TxContext, payload: HaltPayload, failure: Failure): Promise<'unwanted' | undefined> {
  if (await isOpenAction(tx, payload.actionId)) {
    await lockVps(tx, payload.serviceId);
    await giveUp(tx, halt, payload, forCustomer(actionOf(halt, payload), failure));
  }
  return failure.code === calledOff ? 'unwanted' : undefined;
}

const suspendedOnNode = statement<{ service_id: number; incarnation: number }, { nodeId: number }>(
  'vps.suspendedOnNode',
  `select m.service_id, m.incarnation from machines m join services s on s.id = m.service_id and s.status = 'suspended'
   where m.node_id = :nodeId and m.state = 'suspended'
     and not exists (select 1 from vps_actions a where a.service_id = m.service_id and ${holdsLock('a')})`,
);

/** The machines of a node that are to be off because their services are suspended, and that no action is at work on. */
export function listSuspended(
  ctx: HaltRun['ctx'],
  nodeId: number,
): Promise<{ service_id: number; incarnation: number }[]> {
  return ctx.db.many(suspendedOnNode, { nodeId });
}

/** Stops a machine that runs although its service is suspended, as when somebody started it on its node by hand. */
export async function suspendAgain(tx: TxContext, serviceId: number, nodeId: number): Promise<void> {
  await lockVps(tx, serviceId);
  // Again, now that nobody else can change it.
  const suspended = await listSuspended(tx, nodeId);
  if (!suspended.some((each) => each.service_id === serviceId)) return;
  const vps = await findVps(tx, serviceId);
  if (vps === null) return;
  const { organization_id: organizationId } = vps;
  const payload = { serviceId, organizationId, actionId: newId() };
  await openSystemAction(tx, actionOf(halt, payload));
  await enqueue(tx, suspendMachine, payload, { organizationId, nodeId });
}
