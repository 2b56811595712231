import { type Run, type Step, type TxContext, transaction } from '../../platform/index.ts';
import { endYielding } from '../actions/act.ts';
import { powerOffArriving, takeWaitingStop } from '../actions/forcedStop.ts';
import { finishAction, locked, openSystemAction } from '../actions/history.ts';
import { machineIdOf, setMachineState } from '../machine.ts';
import { findVps, lockVps, type VpsRow } from '../queries.ts';

/** Of a job that halts a machine because its service is not to be used, for a while or for good. */
export interface HaltPayload {
  serviceId: number;
  organizationId: number;
  actionId: number;
}

/** Which of the two it is: what the machine's history calls it, what its service is, what the machine is meanwhile. */
export interface Halt {
  command: 'suspend' | 'terminate';
  status: 'suspended' | 'terminated';
  during: 'stopping' | 'deleting';
}

export type HaltRun = Run<HaltPayload, object>;

/**
 * The steps by which such a job gets a machine into its hands. An action that can be cut off ends; one that cannot loses
 * its power at once, as for a stop with force, and is waited for. None that is still at work gives the power back: see
 * `startUnlessToStop`.
 */
export function haltSteps(halt: Halt): Step<HaltPayload, object>[] {
  return [
    {
      name: 'find',
      transactional: true,
      do: async ({ ctx, payload, moveTo }) => {
        await lockVps(ctx, payload.serviceId);
        const vps = await requireHalted(ctx, payload, halt);
        await endYielding(ctx, vps, `The service was ${halt.status}`);
        moveTo(vps.node_id);
      },
    },
    {
      name: 'power',
      do: async (run) => {
        const { ctx, drivers, payload } = run;
        const vps = await requireHalted(ctx, payload, halt);
        if (!isBusy(vps, payload)) return;
        await drivers.hypervisor(vps.node_id).powerOff(machineIdOf(payload.serviceId, vps.incarnation));
        await powerOffArriving(run, payload.serviceId);
      },
    },
    { name: 'open', attempts: Number.POSITIVE_INFINITY, do: (run) => open(run, halt) },
  ];
}

function open({ ctx, payload }: HaltRun, halt: Halt): Promise<void> {
  return transaction(ctx, `vps.open.${halt.command}`, async (tx) => {
    const { serviceId, organizationId } = payload;
    await lockVps(tx, serviceId);
    const vps = await requireHalted(tx, payload, halt);
    if (isBusy(vps, payload)) throw locked(vps.action?.command ?? 'another action');
    const stopId = await takeWaitingStop(tx, serviceId);
    if (stopId !== null) {
      await finishAction(tx, { id: stopId, organizationId, serviceId, command: 'stop' }, null);
    }
    await openSystemAction(tx, actionOf(halt, payload));
    await setMachineState(tx, serviceId, halt.during, stopId === null ? {} : { wanted: 'stopped' });
  });
}

/** Whether an action holds the machine's lock that is not this job's own. */
function isBusy({ action }: VpsRow, { actionId }: HaltPayload): boolean {
  return action !== null && !action.waits && action.id !== actionId;
}

/** Code of a halt that nobody calls for any more. */
export const calledOff = 'called_off';

/** The VPS with its machine; ends the job when its service is something else by now, or its machine is gone. */
async function requireHalted(
  ctx: HaltRun['ctx'],
  { serviceId }: HaltPayload,
  { status }: Halt,
): Promise<VpsRow & { node_id: number; incarnation: number }> {
  const vps = await findVps(ctx, serviceId);
  if (vps !== null && vps.service_status === status && vps.node_id !== null)
    return { ...vps, node_id: vps.node_id, incarnation: vps.incarnation ?? 1 };
  const message = `the service is ${vps?.service_status ?? 'gone'}, or has no machine`;
  throw Object.assign(new Error(message), { code: calledOff, permanent: true, unwanted: true });
}

export function actionOf({ command }: Halt, { actionId, organizationId, serviceId }: HaltPayload) {
  return { id: actionId, organizationId, serviceId, command };
}

/** After a halt that failed, or can be brought to no end: the machine needs a person, and its lock is free. */
export async function giveUp(
  tx: TxContext,
  halt: Halt,
  payload: HaltPayload,
  error: { code: string; message: string },
): Promise<void> {
  await setMachineState(tx, payload.serviceId, 'error');
  await finishAction(tx, actionOf(halt, payload), error);
}
