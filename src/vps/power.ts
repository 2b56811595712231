import type { Hypervisor } from '../drivers/hypervisor/index.ts';
import {
  type AnySaga,
  enqueue,
  fail,
  type OrganizationContext,
  type Run,
  saga,
  transaction,
} from '../platform/index.ts';
import { finishAction, locked, openAction, startAction, viewAction } from './actions.ts';
import { findMachine, type MachineRow, setMachineState, specOf } from './machine.ts';
import type { HypervisorOf } from './provision.ts';
import { findVpsFor } from './queries.ts';
import { type ActionName, after, during, type MachineState, reasonAgainst } from './states.ts';

interface Payload {
  serviceId: number;
  organizationId: number;
  actionId: number;
  command: ActionName;
  force: boolean;
  /** What the machine was before, for when the action fails. */
  before: { state: MachineState; wanted: 'running' | 'stopped' };
}

const shutdownTimeoutMs = 60_000;
const readyTimeoutMs = 180_000;

/** Starts a stopped machine. `locked`, `action_not_allowed`. */
export function startVps(ctx: OrganizationContext, id: number) {
  return changePower(ctx, id, 'start', false);
}

/** Shuts the guest down and waits; with `force` the power is taken away at once. */
export function stopVps(ctx: OrganizationContext, id: number, options: { force?: boolean }) {
  return changePower(ctx, id, 'stop', options.force ?? false);
}

/** Shuts the guest down and starts it again; with `force` it is reset at once. */
export function restartVps(ctx: OrganizationContext, id: number, options: { force?: boolean }) {
  return changePower(ctx, id, 'restart', options.force ?? false);
}

async function changePower(ctx: OrganizationContext, id: number, command: ActionName, force: boolean) {
  return transaction(ctx, `vps.${command}`, async (tx) => {
    const vps = await findVpsFor(tx, id, { lock: true });
    if (vps.action !== null) throw locked(vps.action.command);
    if (vps.state === null || vps.wanted === null) {
      throw fail('action_not_allowed', {
        message: `The service is ${vps.service_status}: it has no machine yet`,
      });
    }
    const machine = { state: vps.state, serviceStatus: vps.service_status, lockedBy: null };
    const reason = reasonAgainst(command, machine);
    if (reason !== null) throw fail('action_not_allowed', { message: reason });

    const action = await openAction(tx, id, command);
    await setMachineState(tx, id, during[command], { wanted: after[command] });
    const payload: Payload = {
      serviceId: id,
      organizationId: vps.organization_id,
      actionId: action.id,
      command,
      force,
      before: { state: vps.state, wanted: vps.wanted },
    };
    await enqueue(tx, 'vps.power', payload);
    return { action: viewAction(action) };
  });
}

/** Carries a power action out. A guest that does not shut down in time keeps running, and the action says so. */
export function powerSaga(hypervisorOf: HypervisorOf): AnySaga {
  return saga<Payload>({
    name: 'vps.power',
    steps: [
      { name: 'begin', action: ({ ctx, payload }) => startAction(ctx, payload.actionId) },
      { name: 'power', attempts: 1, action: (run) => power(run, hypervisorOf) },
    ],
    succeeded: async (ctx, payload) => {
      const state = after[payload.command];
      const startedAt = state === 'running' ? ctx.clock.now() : null;
      await setMachineState(ctx, payload.serviceId, state, { startedAt });
      await finishAction(ctx, actionOf(payload), null);
    },
    failed: async (ctx, payload, failure) => {
      await setMachineState(ctx, payload.serviceId, payload.before.state, { wanted: payload.before.wanted });
      await finishAction(ctx, actionOf(payload), failure);
    },
  });
}

function actionOf(payload: Payload) {
  const { actionId, organizationId, serviceId, command } = payload;
  return { id: actionId, organizationId, serviceId, command };
}

async function power(run: Run<Payload, object>, hypervisorOf: HypervisorOf): Promise<void> {
  const { ctx, payload } = run;
  const machine = await findMachine(ctx, payload.serviceId);
  if (machine === null) throw new Error(`service ${payload.serviceId} has no machine`);
  const hypervisor = hypervisorOf(machine.node_id);
  if (payload.command === 'stop') return stop(run, hypervisor, machine);
  if (payload.command === 'restart') await restart(run, hypervisor, machine);
  const spec = await specOf(ctx, machine);
  await hypervisor.start(spec);
  await hypervisor.waitUntilReady(spec, { timeoutMs: readyTimeoutMs, signal: run.signal });
}

async function stop(run: Run<Payload, object>, hypervisor: Hypervisor, machine: MachineRow): Promise<void> {
  const { id } = await specOf(run.ctx, machine);
  if (run.payload.force) return hypervisor.powerOff(id);
  try {
    await hypervisor.shutdown(id, { timeoutMs: shutdownTimeoutMs, signal: run.signal });
  } catch (error) {
    throw withAdvice(error);
  }
}

async function restart(
  run: Run<Payload, object>,
  hypervisor: Hypervisor,
  machine: MachineRow,
): Promise<void> {
  const { id } = await specOf(run.ctx, machine);
  const { power: now } = await hypervisor.inspect(id);
  if (now !== 'running') return;
  if (run.payload.force) return hypervisor.reset(id);
  await stop(run, hypervisor, machine);
}

function withAdvice(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'shutdown_timeout') return error;
  const seconds = shutdownTimeoutMs / 1_000;
  const message = `The guest did not shut down within ${seconds} seconds and keeps running; repeat with "force": true to take its power away`;
  return Object.assign(new Error(message, { cause: error }), { code: 'shutdown_timeout', permanent: true });
}
