import {
  type Context,
  enqueue,
  fail,
  newId,
  type OrganizationContext,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { type MachineRow, setMachineState } from '../machine.ts';
import { type ActionRow, requireVps, stateOf, type VpsRow } from '../queries.ts';
import { type ActionName, type MachineState, type Refusal, reasonAgainst, ruleOf } from '../states.ts';
import { cancelledByForce, isToStop } from './forcedStop.ts';
import { finishAction, locked, openAction, openSystemAction, queueAction } from './history.ts';
import { type ActionJob, type ActionPayload, type Beside, payloadOf } from './job.ts';
import { forgetSecrets } from './secrets.ts';

/** A VPS whose machine exists. */
export type ExistingVps = VpsRow & { state: MachineState; wanted: 'running' | 'stopped'; node_id: number };

/** What the row of a VPS says about what may be done with it. */
export function factsOf(vps: VpsRow) {
  return {
    state: stateOf(vps),
    serviceStatus: vps.service_status,
    lockedBy: vps.action?.command ?? null,
    capabilities: vps.capabilities,
    inRescue: vps.in_rescue ?? false,
    protection: { delete: vps.protect_delete ?? false, reinstall: vps.protect_reinstall ?? false },
  };
}

function isExisting(vps: VpsRow): vps is ExistingVps {
  return vps.state !== null && vps.wanted !== null && vps.node_id !== null;
}

/**
 * Decides whether an action may begin on a machine, takes the machine's lock and asks for the job, all in one
 * transaction. One that waits for the lock comes first, or its owner could keep it waiting. `prepare`
 * writes what belongs to the action and returns what its job needs beside; it runs once the lock is held.
 * `not_found`, `forbidden`, `locked`, `action_not_allowed`, `not_supported`.
 */
export async function requestAction<P extends ActionPayload>(
  ctx: OrganizationContext,
  id: number,
  job: ActionJob<P>,
  prepare: (tx: OrganizationContext & TxContext, vps: ExistingVps, actionId: number) => Promise<Beside<P>>,
  options: { overrides?: boolean } = {},
): Promise<ActionRow> {
  const { command } = job;
  return transaction(ctx, job.name, async (tx) => {
    let vps = await requireVps(tx, id, { lock: true });
    if (vps.action !== null && !(options.overrides && vps.action.waits)) {
      if (!options.overrides) throw locked(vps.action.command);
      if (!(await endYielding(tx, vps, 'The machine was stopped with force')))
        return stopAfter(tx, vps, prepare);
      vps = await requireVps(tx, id, { lock: true });
    }
    const refusal = reasonAgainst(command, { ...factsOf(vps), lockedBy: null });
    if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
    if (!isExisting(vps)) throw stillBeingMade();

    const action = await openAction(tx, id, command);
    const extra = await prepare(tx, vps, action.id);
    const { during, to } = ruleOf(command);
    if (during !== undefined) await setMachineState(tx, id, during, to === undefined ? {} : { wanted: to });
    const payload: ActionPayload = {
      serviceId: id,
      organizationId: vps.organization_id,
      actionId: action.id,
      command,
      before: { state: vps.state, wanted: vps.wanted },
    };
    await enqueue(tx, job, payloadOf<P>(payload, extra), { nodeId: vps.node_id });
    return action;
  });
}

/**
 * Actions that leave the machine whole wherever they are cut off, and so end when its power is taken with force: a
 * guest that keeps one of them waiting must not keep its own power by it.
 */
const yielding: ReadonlySet<string> = new Set<ActionName>([
  'start',
  'stop',
  'restart',
  'reset_password',
  'update_access',
  'rename',
]);

/** Has a stop with force wait for the action under way, which cannot be cut off; its power goes meanwhile. */
async function stopAfter(
  tx: OrganizationContext & TxContext,
  vps: VpsRow,
  prepare: (tx: OrganizationContext & TxContext, vps: ExistingVps, actionId: number) => Promise<object>,
): Promise<ActionRow> {
  const { service_id: serviceId, organization_id: organizationId } = vps;
  if (await isToStop(tx, serviceId)) throw locked('stop');
  const refusal = await reasonAgainstForce(tx, vps);
  if (refusal !== null) throw fail(refusal.code, { message: refusal.message });
  if (!isExisting(vps)) throw stillBeingMade();
  const action = await queueAction(tx, { organizationId, serviceId, command: 'stop' });
  await prepare(tx, vps, action.id);
  return action;
}

/** Why a machine cannot be stopped with force right now, whatever is under way with it; null when it can. */
export async function reasonAgainstForce(ctx: Context, vps: VpsRow): Promise<Refusal | null> {
  const { action } = vps;
  const machine = { ...factsOf(vps), lockedBy: null };
  if (action === null || action.waits) return reasonAgainst('stop', machine);
  if (!yielding.has(action.command) && (await isToStop(ctx, vps.service_id)))
    return { code: 'locked', message: 'The machine is being stopped with force' };
  return (
    reasonAgainst('stop', { ...machine, state: 'running' }) ??
    (isExisting(vps) ? null : { code: 'action_not_allowed', message: beingMade })
  );
}

const beingMade = 'The machine is still being made';

function stillBeingMade() {
  return fail('action_not_allowed', { message: beingMade });
}

/**
 * Ends the action under way, if it is one that can be cut off; whether it did. Its job does not go on, and the machine
 * counts as running until it is known better. The machine's row is locked.
 */
export async function endYielding(ctx: TxContext, vps: VpsRow, message: string): Promise<boolean> {
  const { action } = vps;
  if (action === null || action.waits || !yielding.has(action.command)) return false;
  const ended = {
    id: action.id,
    organizationId: vps.organization_id,
    serviceId: vps.service_id,
    command: action.command,
  };
  await forgetSecrets(ctx, action.id);
  await finishAction(ctx, ended, { code: cancelledByForce, message });
  await setMachineState(ctx, vps.service_id, 'running');
  return true;
}

/**
 * Begins an action that nobody asked for by hand, on a machine that the caller has locked and found idle. It
 * stands in the history like any other.
 */
export async function beginSystemAction<P extends ActionPayload>(
  ctx: TxContext,
  machine: Pick<MachineRow, 'service_id' | 'organization_id' | 'node_id' | 'state' | 'wanted'>,
  job: ActionJob<P>,
  extra: Beside<NoInfer<P>>,
): Promise<void> {
  const { command } = job;
  const { service_id: serviceId, organization_id: organizationId, node_id: nodeId, state, wanted } = machine;
  const actionId = newId();
  await openSystemAction(ctx, { id: actionId, organizationId, serviceId, command });
  const { during } = ruleOf(command);
  if (during !== undefined) await setMachineState(ctx, serviceId, during);
  const payload: ActionPayload = { serviceId, organizationId, actionId, command, before: { state, wanted } };
  await enqueue(ctx, job, payloadOf<P>(payload, extra), { organizationId, nodeId });
}

/** Writes into the machine's history that an action which nobody asked for by hand could not even begin. */
export async function noteSystemFailure(
  ctx: TxContext,
  machine: Pick<MachineRow, 'service_id' | 'organization_id'>,
  command: ActionName,
  failure: { code: string; message: string },
): Promise<void> {
  const { service_id: serviceId, organization_id: organizationId } = machine;
  const action = { id: newId(), organizationId, serviceId, command };
  await openSystemAction(ctx, action);
  await finishAction(ctx, action, failure);
}
