import type { Hypervisor, MachineSpec } from '../../drivers/hypervisor/index.ts';
import {
  type AnySaga,
  type Failure,
  fail,
  type Queue,
  type Run,
  type Step,
  saga,
  type TxContext,
} from '../../platform/index.ts';
import { findMachine, type MachineRow, setMachineState, specOf } from '../machine.ts';
import { ruleOf } from '../states.ts';
import { forCustomer } from './advice.ts';
import { cancelledByForce, wasCancelled } from './forcedStop.ts';
import { finishAction, isLatestAction, isOpenAction, progressAction, startAction } from './history.ts';
import type { ActionJob, ActionPayload } from './job.ts';
import { forgetSecrets } from './secrets.ts';

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
