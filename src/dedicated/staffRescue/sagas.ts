import {
  closeAllOf,
  closeAssignment,
  endStaffRescue,
  isLastAssignment,
  isNobodys,
  isStaffRescueOpen,
  lookForRescue,
  ServerFailure,
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
import { type AtServer, stages } from '../stages.ts';
import { wantedNoMore } from '../work.ts';
import { type StaffRescueJob, type StaffRescuePayload, staffRescueJob, staffRescueOffJob } from './rescue.ts';

type RescueRun = Run<StaffRescuePayload, AtServer>;

/**
 * Before each try: nobody has ended it, and the database was not restored since it was asked for: the server may be somebody's since, whose power nobody takes.
 */
async function requireWanted(
  { ctx, isHeld }: Pick<RescueRun, 'ctx' | 'isHeld'>,
  serverId: number,
  work: 'rescue' | 'rescue_off',
): Promise<void> {
  const isOpen = await transaction(ctx, 'dedicated.staffRescueOpen', (tx) =>
    isStaffRescueOpen(tx, serverId, work),
  );
  if (isOpen && !isHeld) return;
  const message = isHeld
    ? 'this was asked for before the database was restored: ask anew where it is still wanted'
    : 'it is over already';
  throw wantedNoMore(message);
}

const lookStep: Step<StaffRescuePayload, AtServer> = {
  name: 'look',
  do: async (run) => {
    await requireWanted(run, run.payload.serverId, 'rescue');
    return { ...run.payload };
  },
  undo: ({ ctx, payload }) =>
    transaction(ctx, 'dedicated.closeAssignment', (tx) => closeAssignment(tx, payload.assignmentId)),
};

const carryingOut = stages<StaffRescuePayload, AtServer>({
  before: (run) => requireWanted(run, run.payload.serverId, 'rescue'),
  undoPower: switchOffAgain,
  last: { name: 'start', ended: () => ({}) },
});

/** What is nobody's is off. While it cannot be switched the job does not end, and stands still for staff in the end; by when that is retried it may be somebody's. */
async function switchOffAgain(run: RescueRun): Promise<void> {
  const { ctx, payload, isHeld } = run;
  if (isHeld || !(await isNobodys(ctx, payload.serverId))) return;
  if (!(await isLastAssignment(ctx, payload.assignmentId))) return;
  await transaction(ctx, 'dedicated.closeAssignment', (tx) => closeAssignment(tx, payload.assignmentId));
  try {
    await switchOff(run, payload.serverId);
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    const message = `the server ${payload.serverId} was started for the rescue system, and cannot be switched off: ${error.message}. ${whatToDo}`;
    throw Object.assign(new Error(message), { code: error.code });
  }
}

const whatToDo =
  'Have its BMC answer and retry this job; or switch the server off by its button or its plug, and dismiss this job';

/** From staff's request to our rescue system; its assignment goes on until somebody turns it off. */
export const staffRescue = saga<StaffRescuePayload, AtServer>({
  name: staffRescueJob.name,
  queue: 'racks',
  steps: [lookStep, ...carryingOut],
  succeeded: async (tx, { serverId, assignmentId }) => {
    await endStaffRescue(tx, serverId, 'rescue', null);
    // Of one that has begun to start again nobody else was told while the job went on.
    await lookForRescue(tx, assignmentId);
  },
  failed: endBadly,
  stuck: async (tx, payload, failure) => {
    const message = `${failure.message}; and it could not be switched off again, so that it may be on`;
    await endBadly(tx, payload, { ...failure, message });
  },
});

async function endBadly(tx: TxContext, payload: StaffRescuePayload, failure: Failure) {
  // Also where its way back did not come to an end: what failed is nothing that a server starts later.
  await closeAssignment(tx, payload.assignmentId);
  await endStaffRescue(tx, payload.serverId, 'rescue', failure.message);
  return 'unwanted' as const; // staff reads at the server what came of it
}

/** The server is off as it was before, and starts its own disks whenever somebody has it on. */
export const staffRescueOff = saga<StaffRescueJob>({
  name: staffRescueOffJob.name,
  queue: 'racks',
  steps: [
    {
      name: 'off',
      do: async (run) => {
        await requireWanted(run, run.payload.serverId, 'rescue_off');
        await switchOff(run, run.payload.serverId);
      },
    },
    // Last: while it was on it was our rescue system, whatever it started from.
    { name: 'close', transactional: true, do: ({ ctx, payload }) => closeAllOf(ctx, payload.serverId) },
  ],
  succeeded: (tx, { serverId }) => endStaffRescue(tx, serverId, 'rescue_off', null),
  failed: endOffBadly,
  stuck: async (tx, payload, failure) => void (await endOffBadly(tx, payload, failure)),
});

async function endOffBadly(tx: TxContext, { serverId }: StaffRescueJob, { message }: Failure) {
  await endStaffRescue(tx, serverId, 'rescue_off', message);
  return 'unwanted' as const;
}
