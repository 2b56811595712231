import type { Hypervisor, MachineSpec } from '../../drivers/hypervisor/index.ts';
import {
  type AnySaga,
  type Context,
  enqueue,
  type Failure,
  fail,
  newId,
  type OrganizationContext,
  type Queue,
  type Run,
  type SealedValue,
  type Step,
  saga,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { findMachine, type MachineRow, setMachineState, specOf } from '../machine.ts';
import { type ActionRow, requireVps, stateOf, type VpsRow } from '../queries.ts';
import { type ActionName, type MachineState, type Refusal, reasonAgainst, ruleOf } from '../states.ts';
import { forCustomer } from './advice.ts';
import { cancelledByForce, isToStop, wasCancelled } from './forcedStop.ts';
import {
  finishAction,
  isLatestAction,
  isOpenAction,
  locked,
  openAction,
  openSystemAction,
  progressAction,
  queueAction,
  startAction,
} from './history.ts';
import { type ActionJob, type ActionPayload, type Beside, payloadOf } from './job.ts';

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

interface ActionSaga<P extends ActionPayload> {
  /** Default `machine`. */
  queue?: Queue;
  steps: Step<P, object>[];
  /** In the transaction that ends the action well. */
  succeeded?: (ctx: TxContext, payload: P) => Promise<void>;
  /** In the transaction that ends it badly, after the machine's state was put back. */
  failed?: (ctx: TxContext, payload: P, failure: Failure) => Promise<void>;
  /** When it can be brought to no end, after the machine was marked. */
  stuck?: (ctx: TxContext, payload: P) => Promise<void>;
}

/** The job of an action: marks it begun, runs its steps with progress, ends it and lets go of the lock. */
export function actionSaga<P extends ActionPayload>(job: ActionJob<P>, action: ActionSaga<P>): AnySaga {
  return saga<P>({
    name: job.name,
    queue: action.queue ?? 'machine',
    steps: [
      { name: 'begin', do: ({ ctx, payload }) => startAction(ctx, payload.actionId) },
      ...action.steps.map(undoneInTime),
    ],
    progress: (run, done, of) => progressAction(run.ctx, run.payload.actionId, Math.floor((100 * done) / of)),
    succeeded: async (ctx, payload) => {
      if (!(await isOpenAction(ctx, payload.actionId))) return; // ended when its job was stuck
      const rule = ruleOf(payload.command);
      if (rule.to !== undefined) {
        await setMachineState(ctx, payload.serviceId, rule.to, {
          startedAt: rule.to === 'running' ? ctx.clock.now() : null,
        });
      } else if (rule.during !== undefined) {
        await setMachineState(ctx, payload.serviceId, payload.before.state);
      }
      await action.succeeded?.(ctx, payload);
      await forgetSecrets(ctx, payload.actionId);
      await finishAction(ctx, actionOf(payload), null);
    },
    failed: async (ctx, payload, failure) => {
      if (!(await isOpenAction(ctx, payload.actionId))) {
        // Whoever wanted the action ended it by force.
        return (await wasCancelled(ctx, payload.actionId)) ? 'unwanted' : undefined;
      }
      if (ruleOf(payload.command).during !== undefined) {
        const { state, wanted } = payload.before;
        await setMachineState(ctx, payload.serviceId, state, { wanted });
      }
      await action.failed?.(ctx, payload, failure);
      await forgetSecrets(ctx, payload.actionId);
      await finishAction(ctx, actionOf(payload), forCustomer(actionOf(payload), failure));
      return failure.code === cancelledByForce ? 'unwanted' : undefined;
    },
    stuck: async (ctx, payload, failure) => {
      if (!(await isOpenAction(ctx, payload.actionId))) return;
      if (ruleOf(payload.command).during !== undefined)
        await setMachineState(ctx, payload.serviceId, 'error');
      await action.stuck?.(ctx, payload);
      await forgetSecrets(ctx, payload.actionId);
      await finishAction(ctx, actionOf(payload), forCustomer(actionOf(payload), failure));
    },
  });
}

/** A stuck job let go of the machine. What others have made of it since is not taken back when staff retries the job. */
function undoneInTime<P extends ActionPayload>(step: Step<P, object>): Step<P, object> {
  const { undo } = step;
  if (undo === undefined) return step;
  return {
    ...step,
    undo: async (run) => {
      const { serviceId, actionId } = run.payload;
      if (await isLatestAction(run.ctx, serviceId, actionId)) await undo(run);
    },
  };
}

/** Fails for good once the action of a job has been ended: its next step must not touch the machine. */
export async function requireOpen({ ctx, payload }: Run<ActionPayload, object>): Promise<void> {
  if (await isOpenAction(ctx, payload.actionId)) return;
  throw Object.assign(fail('conflict', { message: 'This action was ended' }), { permanent: true });
}

function actionOf(payload: ActionPayload) {
  const { actionId, organizationId, serviceId, command } = payload;
  return { id: actionId, organizationId, serviceId, command };
}

/** Runs `work` with the machine's driver and what the driver needs to know of the machine. */
export async function withMachine<P extends { serviceId: number }, T>(
  run: Run<P, object>,
  work: (hypervisor: Hypervisor, spec: MachineSpec, machine: MachineRow) => Promise<T>,
): Promise<T> {
  const machine = await findMachine(run.ctx, run.payload.serviceId);
  if (machine === null) throw new Error(`service ${run.payload.serviceId} has no machine`);
  return work(run.drivers.hypervisor(machine.node_id), await specOf(run.ctx, machine), machine);
}

const insertSecrets = statement<never, { actionId: number; organizationId: number; sealed: Buffer }>(
  'vps.insertSecrets',
  'insert into vps_secrets (action_id, organization_id, sealed) values (:actionId, :organizationId, :sealed)',
);
const selectSecrets = statement<{ sealed: Buffer }, { actionId: number }>(
  'vps.selectSecrets',
  'select sealed from vps_secrets where action_id = :actionId',
);
const deleteSecrets = statement<never, { actionId: number }>(
  'vps.deleteSecrets',
  'delete from vps_secrets where action_id = :actionId',
);

/** Secrets of actions, to prove the secret key by. */
export const sealedSecrets = statement<SealedValue, { limit: number }>(
  'vps.sealed',
  `select sealed, 'action ' || action_id as context from vps_secrets limit :limit`,
);

/** What an action's job needs and nobody else may see: sealed until the action ends. */
export async function keepSecrets(
  ctx: TxContext,
  organizationId: number,
  actionId: number,
  secrets: object,
): Promise<void> {
  const sealed = ctx.seal.close(JSON.stringify(secrets), `action ${actionId}`);
  await ctx.db.run(insertSecrets, { actionId, organizationId, sealed });
}

export async function openSecrets<T extends object>(ctx: Context, actionId: number): Promise<Partial<T>> {
  const row = await ctx.db.maybe(selectSecrets, { actionId });
  return row === null ? {} : (JSON.parse(ctx.seal.open(row.sealed, `action ${actionId}`)) as Partial<T>);
}

async function forgetSecrets(ctx: TxContext, actionId: number): Promise<void> {
  await ctx.db.run(deleteSecrets, { actionId });
}
