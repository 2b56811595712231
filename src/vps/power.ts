import {
  type Hypervisor,
  HypervisorError,
  type HypervisorErrorCode,
  type MachineSpec,
} from '../drivers/hypervisor/index.ts';
import { record } from '../events/index.ts';
import {
  type AnySaga,
  type Context,
  causesOf,
  enqueue,
  type Failure,
  type OrganizationContext,
  type Run,
  type TxContext,
} from '../platform/index.ts';
import { requestAction } from './actions/act.ts';
import { startUnlessToStop, stopped, takePower } from './actions/forcedStop.ts';
import { viewAction } from './actions/history.ts';
import { type ActionPayload, type PowerPayload, powerJobs } from './actions/job.ts';
import { actionSaga, requireOpen, withMachine } from './actions/saga.ts';
import { vpsRepaired } from './events.ts';
import { requireLatest, requireLatestNow, requireLatestSoon } from './incarnations.ts';
import { type Button, type MachineRow, rememberButton, writeStartedFrom } from './machine.ts';
import { afterFailedRepair } from './repairs.ts';

type PowerRun = Run<PowerPayload, object>;

const shutdownTimeoutMs = 60_000;
/** How long an action waits for a guest that may greet at SSH, or elsewhere, or nowhere, as its owner likes. */
const greetingMs = 60_000;

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
  // Whoever abuses a machine is switched off at once: nothing that waits for a guest keeps its power.
  const overrides = command === 'stop' && force;
  const action = await requestAction(
    ctx,
    id,
    powerJobs[command],
    async (tx, vps, actionId) => {
      if (overrides) await enqueue(tx, takePower, { serviceId: id, actionId }, { nodeId: vps.node_id });
      return { force };
    },
    { overrides },
  );
  return { action: viewAction(ctx, action) };
}

/** Carries power actions out. A guest that does not shut down in time keeps running, and the action says so. */
export const powerSagas: AnySaga[] = [
  takePower,
  actionSaga(powerJobs.start, {
    steps: [{ name: 'start', attempts: 2, do: start }],
    succeeded: async (ctx, { repair, reason, serviceId, organizationId }) => {
      if (!repair) return;
      const data = { reason: reason ?? 'the machine was down and has been started again' };
      const subject = { type: 'service', id: serviceId };
      await record(ctx, vpsRepaired, { subject, organizationId, data });
    },
    failed: async (ctx, payload, failure) => {
      if (payload.repair) await afterFailedRepair(ctx, payload, failure);
    },
  }),
  actionSaga(powerJobs.stop, {
    steps: [{ name: 'stop', attempts: 1, do: stop }],
    failed: rememberPress('stop'),
  }),
  actionSaga(powerJobs.restart, {
    steps: [
      { name: 'stop', attempts: 1, do: stopToStart },
      { name: 'start', attempts: 2, do: start },
    ],
    failed: rememberPress('restart'),
  }),
];

async function start(run: PowerRun): Promise<void> {
  await requireOpen(run);
  return withMachine(run, async (hypervisor, spec, machine) => {
    const start = () => startMachine(run.ctx, hypervisor, spec, machine, { requireIt: requireLatestSoon });
    const why = await startUnlessToStop(run, hypervisor, start);
    if (why !== null) throw stopped(why);
    if (spec.boot === 'network') return; // what it finds there is its owner's, and may never answer on SSH
    await hypervisor
      .waitUntilReady(spec, { timeoutMs: greetingMs, signal: run.signal })
      .catch(unless('ready_timeout'));
  });
}

/** A guest that takes longer than we wait goes down all the same: then it is known what for. */
function rememberPress(button: Button) {
  return async (ctx: TxContext, { serviceId }: PowerPayload, { code }: Failure): Promise<void> => {
    if (code === 'shutdown_timeout') await rememberButton(ctx, serviceId, button);
  };
}

type Named = Pick<MachineRow, 'service_id' | 'hostname' | 'nameservers'>;

/**
 * Starts a machine, unless it is an old copy of one; one that was down finds its name and its name servers as they are wanted now. `before`: done
 * right before its engine is told to. `requireIt`: fails where it may be an old copy.
 */
export async function startMachine(
  ctx: Context,
  hypervisor: Hypervisor,
  spec: MachineSpec,
  machine: Named,
  {
    before,
    requireIt = requireLatest,
  }: { before?: () => Promise<void>; requireIt?: typeof requireLatest } = {},
): Promise<void> {
  const { power } = await hypervisor.inspect(spec.id);
  if (power !== 'running') await requireIt(ctx, spec.id);
  if (power === 'stopped') {
    await renewIdentity(hypervisor, spec, machine);
    // Before the start: a crash after it finds the machine running, and would not get here again.
    await writeStartedFrom(ctx, machine.service_id, spec.boot === 'rescue');
  }
  await before?.();
  await hypervisor.start(spec);
}

/**
 * Leaves a stopped machine its name, its name servers and its addresses for its next boots. A guest takes its
 * secrets once, when it is made: here the seed ends without a word about them, where none would lock everybody out.
 */
export async function renewIdentity(
  hypervisor: Hypervisor,
  spec: MachineSpec,
  { hostname, nameservers }: Named,
): Promise<void> {
  const noSecrets = { passwordHash: null, authorizedKeys: [], userData: null };
  await hypervisor.writeIdentity({ ...spec, boot: 'disk' }, { hostname, nameservers, ...noSecrets });
  await hypervisor.forgetSecrets(spec.id);
}

async function stop(run: PowerRun): Promise<void> {
  await requireOpen(run);
  return withMachine(run, (hypervisor, spec) =>
    stopMachine(hypervisor, spec.id, run.payload.force, run.signal),
  );
}

/** What could not be started again is not stopped. */
async function stopToStart(run: PowerRun): Promise<void> {
  await requireOpen(run);
  await withMachine(run, (_driver, spec) => requireLatestNow(run.ctx, spec.id));
  await stop(run);
}

/** Stops a machine, cleanly unless `force`; `shutdown_timeout` when the guest ignores it. */
export async function stopMachine(
  hypervisor: Hypervisor,
  machineId: string,
  force: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (force) return hypervisor.powerOff(machineId);
  await hypervisor.shutdown(machineId, { timeoutMs: shutdownTimeoutMs, signal });
}

/** Stops a machine for something that cannot wait for its guest: one that ignores its power button loses power. */
export async function stopAnyway(
  hypervisor: Hypervisor,
  machineId: string,
  signal: AbortSignal,
): Promise<void> {
  await stopMachine(hypervisor, machineId, false, signal).catch(async (error) => {
    unless('shutdown_timeout')(error);
    await hypervisor.powerOff(machineId);
  });
}

/** Handles a failure by passing over one kind of it and throwing every other. */
function unless(code: HypervisorErrorCode): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof HypervisorError && error.code === code)) throw error;
  };
}

/**
 * Gives the machine its power back when what it was taken for has failed. One that does not start is left to the next
 * comparison with the node: nothing else could be asked of it while this was tried again.
 */
export async function startAgain<P extends ActionPayload>(run: Run<P, object>): Promise<void> {
  if (run.payload.before.wanted !== 'running') return;
  await withMachine(run, async (driver, spec, machine) => {
    const start = () => startMachine(run.ctx, driver, spec, machine);
    await startUnlessToStop(run, driver, start).catch((error: Error) => {
      run.ctx.log.warn({ machine: spec.id, err: causesOf(error) }, 'a machine did not start again');
    });
  });
}
