import { dropTicketsOf } from '../../consoles/index.ts';
import { releaseResources } from '../../fleet/index.ts';
import { type Failure, saga, statement, type TxContext } from '../../platform/index.ts';
import { forCustomer } from '../actions/advice.ts';
import { finishAction, isOpenAction, openSystemAction } from '../actions/history.ts';
import { giveBackAddresses } from '../giveBack.ts';
import { machineIdOf, removeMachine } from '../machine.ts';
import { hostOutages } from '../outages.ts';
import { findVps, lockVps } from '../queries.ts';
import { actionOf, calledOff, giveUp, type Halt, type HaltPayload, type HaltRun, haltSteps } from './halt.ts';

const halt: Halt = { command: 'terminate', status: 'terminated', during: 'deleting' };

const dropCopies = statement<never, { serviceId: number }>(
  'vps.dropCopies',
  'delete from vps_snapshots where service_id = :serviceId',
);
const dropAccess = statement<never, { serviceId: number }>(
  'vps.dropAccess',
  'delete from vps_access where service_id = :serviceId',
);
const dropSecretsOf = statement<never, { serviceId: number }>(
  'vps.dropSecretsOf',
  `delete from vps_secrets x using vps_actions a where a.id = x.action_id and a.service_id = :serviceId`,
);

/**
 * Takes away the machine of a service that has ended: its disk with snapshots and backups, its room, its addresses, which
 * rest and lose their names, and whatever was known of how to get into it. The history of what was done to it stays.
 */
export const terminateMachine = saga<HaltPayload>({
  name: 'vps.terminate',
  queue: 'machine',
  outages: hostOutages,
  steps: [
    ...haltSteps(halt),
    { name: 'destroy', do: destroy },
    { name: 'forget', transactional: true, do: ({ ctx, payload }) => forget(ctx, payload) },
  ],
  failed: (tx, payload, failure) => end(tx, payload, failure),
  stuck: async (tx, payload, failure) => {
    await end(tx, payload, failure);
  },
});

async function destroy({ ctx, drivers, payload }: HaltRun): Promise<void> {
  const vps = await findVps(ctx, payload.serviceId);
  if (vps?.node_id == null) return;
  await drivers.hypervisor(vps.node_id).destroy(machineIdOf(payload.serviceId, vps.incarnation ?? 1));
}

/** Only once nothing is left on the node: an address that is given back must not answer any more. */
async function forget(tx: TxContext, payload: HaltPayload): Promise<void> {
  const { serviceId } = payload;
  await lockVps(tx, serviceId);
  await giveBackAddresses(tx, serviceId);
  for (const drop of [dropCopies, dropAccess, dropSecretsOf]) await tx.db.run(drop, { serviceId });
  await dropTicketsOf(tx, serviceId);
  await releaseResources(tx, serviceId);
  await removeMachine(tx, serviceId);
  // Opened anew where its end was told already, when the job was stuck and staff had it go on.
  await openSystemAction(tx, actionOf(halt, payload));
  await finishAction(tx, actionOf(halt, payload), null);
}

async function end(tx: TxContext, payload: HaltPayload, failure: Failure): Promise<'unwanted' | undefined> {
  if (await isOpenAction(tx, payload.actionId)) {
    await lockVps(tx, payload.serviceId);
    await giveUp(tx, halt, payload, forCustomer(actionOf(halt, payload), failure));
  }
  return failure.code === calledOff ? 'unwanted' : undefined;
}
