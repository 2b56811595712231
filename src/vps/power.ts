import type { Hypervisor } from '../drivers/hypervisor/index.ts';
import { record } from '../events/index.ts';
import type { AnySaga, OrganizationContext, Run } from '../platform/index.ts';
import { type ActionPayload, actionSaga, requestAction, withMachine } from './act.ts';
import { viewAction } from './actions.ts';
import type { HypervisorOf } from './machine.ts';

interface Payload extends ActionPayload {
  force: boolean;
  /** Set when nobody asked for it: the machine had gone down by itself. */
  repair?: boolean;
}

type PowerRun = Run<Payload, object>;

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

async function changePower(
  ctx: OrganizationContext,
  id: number,
  command: 'start' | 'stop' | 'restart',
  force: boolean,
) {
  return { action: viewAction(await requestAction(ctx, id, command, async () => ({ force }))) };
}

/** Carries power actions out. A guest that does not shut down in time keeps running, and the action says so. */
export function powerSagas(hypervisorOf: HypervisorOf): AnySaga[] {
  return [
    actionSaga<Payload>({
      command: 'start',
      steps: [{ name: 'start', attempts: 2, action: (run) => start(run, hypervisorOf) }],
      succeeded: async (ctx, { repair, serviceId, organizationId }) => {
        if (!repair) return;
        const data = { reason: 'the machine was down and has been started again' };
        const subject = { type: 'service', id: serviceId };
        await record(ctx, { action: 'vps.repaired', subject, organizationId, data });
      },
    }),
    actionSaga<Payload>({
      command: 'stop',
      steps: [{ name: 'stop', attempts: 1, action: (run) => stop(run, hypervisorOf) }],
    }),
    actionSaga<Payload>({
      command: 'restart',
      steps: [
        { name: 'stop', attempts: 1, action: (run) => stop(run, hypervisorOf) },
        { name: 'start', attempts: 2, action: (run) => start(run, hypervisorOf) },
      ],
    }),
  ];
}

function start(run: PowerRun, hypervisorOf: HypervisorOf): Promise<void> {
  return withMachine(run, hypervisorOf, async (hypervisor, spec) => {
    await hypervisor.start(spec);
    if (spec.boot === 'network') return; // what it finds there is its owner's, and may never answer on SSH
    await hypervisor.waitUntilReady(spec, { timeoutMs: readyTimeoutMs, signal: run.signal });
  });
}

function stop(run: PowerRun, hypervisorOf: HypervisorOf): Promise<void> {
  return withMachine(run, hypervisorOf, (hypervisor, spec) =>
    stopMachine(hypervisor, spec.id, run.payload.force, run.signal),
  );
}

/** Stops a machine, cleanly unless `force`; a guest that ignores it is an error that says what to do. */
export async function stopMachine(
  hypervisor: Hypervisor,
  machineId: string,
  force: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (force) return hypervisor.powerOff(machineId);
  try {
    await hypervisor.shutdown(machineId, { timeoutMs: shutdownTimeoutMs, signal });
  } catch (error) {
    throw withAdvice(error);
  }
}

function withAdvice(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'shutdown_timeout') return error;
  const seconds = shutdownTimeoutMs / 1_000;
  const message = `The guest did not shut down within ${seconds} seconds and keeps running; repeat with "force": true to take its power away`;
  return Object.assign(new Error(message, { cause: error }), { code: 'shutdown_timeout', permanent: true });
}
