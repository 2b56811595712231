import { closeAssignment, findAssignment, ServerFailure, startFromDisks, switchOff } from '../fleet/index.ts';
import { type Run, type Step, transaction } from '../platform/index.ts';
import { writeProgress } from './actions.ts';
import { clearLeft, findLeft } from './left/left.ts';
import { progressOf } from './progress.ts';
import { type AtServer, disarmIfHeard } from './stages.ts';
import { type CustomerJob, leaveServerAs, lookFirst, requireWanted } from './work.ts';

/** What a job knows by which our installer does something with a customer's server. */
export interface InstallerJob extends CustomerJob {
  assignmentId: number;
}

/** What such a job remembers. */
export interface AtCustomers extends AtServer {
  /** Whether its customer had it on. */
  wasOn: boolean;
}

/** Before the first change: how the server is. Going back, its assignment is nothing that it starts any more. */
export function lookStep<P extends InstallerJob, S extends AtCustomers>(): Step<P, S> {
  return {
    name: 'look',
    do: async (run) => {
      const { serverId, assignmentId } = run.payload;
      const isOn = await lookFirst(run);
      // What is off, or on, since a failure left it so is not how its customer had it.
      const left = await findLeft(run.ctx, run.payload.serviceId);
      const seen: AtCustomers = { serverId, assignmentId, wasOn: left === null ? isOn : left === 'on' };
      return seen as S; // of which the steps that follow write the rest
    },
    undo: ({ ctx, payload }) =>
      transaction(ctx, 'dedicated.closeAssignment', (tx) => closeAssignment(tx, payload.assignmentId)),
  };
}

/** Before each try of each stage: whether it is wanted still, and how far it is, for its customer. */
export async function showProgress<P extends InstallerJob, S>({ ctx, payload }: Run<P, S>): Promise<void> {
  await requireWanted(ctx, payload);
  const assignment = await findAssignment(ctx, payload.assignmentId);
  if (assignment !== null)
    await writeProgress(ctx, payload.actionId, progressOf(assignment, { isTheirs: true }));
}

/** What the server started from is used up. Late, another customer's may be about to start from something else. */
export function disarmStep<P extends CustomerJob, S extends AtServer>(): Step<P, S> {
  return {
    name: 'disarm',
    do: async (run) => {
      await requireWanted(run.ctx, run.payload);
      await disarmIfHeard(run);
    },
  };
}

/**
 * After something with a customer's server has failed: it starts its own disks, or is off. Where its BMC keeps that from being so, its customer and staff read it, and
 * the job ends all the same.
 */
export async function switchBack<P extends CustomerJob, S>(run: Run<P, S>, goesOn: boolean): Promise<void> {
  const { ctx, payload } = run;
  try {
    if (goesOn) await startFromDisks(run, payload.serverId);
    else await switchOff(run, payload.serverId);
    // By a try before this one.
    await clearLeft(ctx, payload.serviceId);
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    await leaveServerAs(ctx, payload, goesOn ? 'on' : 'off', error);
  }
}
