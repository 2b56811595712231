import {
  closeAllOf,
  closeAssignment,
  lookForRescue,
  proveAnew,
  ServerFailure,
  shutDownServer,
  startFromDisks,
  switchOff,
} from '../../fleet/index.ts';
import {
  type Failure,
  type Run,
  type Step,
  saga,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { writeProgress } from '../actions.ts';
import { type AtCustomers, disarmStep, lookStep, showProgress, switchBack } from '../customerStages.ts';
import { clearLeft, findLeftBy, wordsOfLeft } from '../left/left.ts';
import { addressesOf } from '../reinstall/reinstall.ts';
import { requireGreeting, stages } from '../stages.ts';
import { clearProblem } from '../systems.ts';
import {
  type CustomerJob,
  endWork,
  inCustomersWords,
  isWanted,
  leaveServerAs,
  lookFirst,
  mayRun,
  requireUntouched,
  requireWanted,
  restoredSince,
  verdictOn,
} from '../work.ts';
import { type RescuePayload, rescueJob, rescueOffJob } from './rescue.ts';

interface State extends AtCustomers {
  /** When the rescue system said that it is there. */
  reachedAt: string;
}

type RescueRun = Run<RescuePayload, State>;
type RescueStep = Step<RescuePayload, State>;

/** What runs on its disks is asked to shut down first; what is broken does not follow, and is why somebody wants the rescue system. */
const buttonMs = 30_000;

const offStep: RescueStep = {
  name: 'off',
  attempts: 2,
  do: async (run) => {
    await requireUntouched(run);
    await shutDownServer(run, run.payload.serverId, buttonMs);
  },
  undo: startAgain,
};

const carryingOut = stages<RescuePayload, State>({
  before: showProgress,
  undoPower: async () => undefined, // the step before has it start its own disks
  last: { name: 'start', ended: ({ ctx }) => ({ reachedAt: ctx.clock.now().toISOString() }) },
});

/** What was called off is no rescue system, so that it starts what is on its disks, if it was on. */
async function startAgain(run: RescueRun): Promise<void> {
  const { ctx, payload, state, isHeld } = run;
  if (isHeld || !(await isWanted(ctx, payload))) return;
  await transaction(ctx, 'dedicated.closeAssignment', (tx) => closeAssignment(tx, payload.assignmentId));
  const goesOn = state.wasOn === true && (await mayRun(ctx, payload));
  await switchBack(run, goesOn);
}

const readyStep: RescueStep = {
  name: 'ready',
  do: async (run) => {
    const { ctx, payload, state } = run;
    await requireWanted(ctx, payload);
    await writeProgress(ctx, payload.actionId, { percent: 97, note: 'The rescue system is there' });
    // It may start again before it greets.
    await proveAnew(run, payload.assignmentId);
    const [first] = await addressesOf(ctx, payload.serviceId);
    if (first === undefined) return; // it is reached over its serial line alone
    await requireGreeting(run, first.address, new Date(state.reachedAt ?? 0), 'the rescue system');
  },
};

/** From a request to our rescue system that greets by SSH; its assignment goes on until somebody turns it off. */
export const rescue = saga<RescuePayload, State>({
  name: rescueJob.name,
  queue: 'racks',
  steps: [lookStep(), offStep, ...carryingOut, readyStep, disarmStep()],
  succeeded: async (tx, payload) => {
    await clearLeft(tx, payload.serviceId);
    await endWork(tx, payload, null);
    // Of one that has begun to start again nobody else was told while the job went on.
    await lookForRescue(tx, payload.assignmentId);
  },
  failed: async (tx, payload, failure) => {
    await endBadly(tx, payload, failure);
    return verdictOn(failure);
  },
  stuck: endBadly,
});

const asTheyWere = 'Its disks are as they were';
const tryAgain = 'try again in a few minutes, and write us a ticket if that fails as well';

async function endBadly(tx: TxContext, payload: RescuePayload, failure: Failure): Promise<void> {
  // Also where its way back did not come to an end: what failed is nothing that a server starts later.
  await closeAssignment(tx, payload.assignmentId);
  const said = inCustomersWords(failure);
  const left = await findLeftBy(tx, payload);
  const afterwards = `${asTheyWere}${left === null ? `: ${tryAgain}` : `. ${wordsOfLeft(left)}`}`;
  const message = failure.code === restoredSince ? said : `${said}. ${afterwards}`;
  await endWork(tx, payload, { code: failure.code, message });
}

/** It is heard first: of one that does not answer the rescue system stays on, and can be turned off later. */
const lookOffStep: Step<CustomerJob, object> = {
  name: 'look',
  do: async (run) => {
    await lookFirst(run);
  },
};

const closeStep: Step<CustomerJob, object> = {
  name: 'close',
  transactional: true,
  do: async ({ ctx, payload }) => {
    await requireWanted(ctx, payload);
    await closeAllOf(ctx, payload.serverId);
  },
};

const diskStep: Step<CustomerJob, object> = {
  name: 'disk',
  do: async (run) => {
    await requireUntouched(run);
    const { ctx, payload } = run;
    const goesOn = await mayRun(ctx, payload);
    try {
      if (goesOn) await startFromDisks(run, payload.serverId);
      else await switchOff(run, payload.serverId);
    } catch (error) {
      if (error instanceof ServerFailure) await leaveServerAs(ctx, payload, goesOn ? 'on' : 'off', error);
      throw error;
    }
  },
};

/** The server starts its own disks again. Whether anything starts from them is not asked: that may be why it was in the rescue system. */
export const rescueOff = saga<CustomerJob>({
  name: rescueOffJob.name,
  queue: 'racks',
  steps: [lookOffStep, closeStep, diskStep],
  succeeded: async (tx, payload) => {
    // Whoever had it in the rescue system may have put its disks right by hand.
    await clearProblem(tx, payload.serviceId);
    await endWork(tx, payload, null);
  },
  failed: async (tx, payload, failure) => {
    await endOffBadly(tx, payload, failure);
    return verdictOn(failure);
  },
  stuck: endOffBadly,
});

async function endOffBadly(tx: TxContext, payload: CustomerJob, failure: Failure): Promise<void> {
  const left = await findLeftBy(tx, payload);
  const afterwards =
    left === null
      ? 'Try again in a few minutes, and write us a ticket if that fails as well'
      : wordsOfLeft(left);
  const message = `${inCustomersWords(failure)}. ${afterwards}`;
  await endWork(tx, payload, { code: failure.code, message });
}
