import { closeAssignment, findAssignment, serverOfService } from '../../fleet/index.ts';
import {
  type Failure,
  type Run,
  type Step,
  saga,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { writeProgress } from '../actions.ts';
import { forgetCredentials } from '../credentials/keep.ts';
import { type AtCustomers, disarmStep, lookStep, showProgress, switchBack } from '../customerStages.ts';
import { findLeftBy, wordsOfLeft } from '../left/left.ts';
import { requireGreeting, stages } from '../stages.ts';
import { noteProblem, writeSystem } from '../systems.ts';
import {
  endWork,
  inCustomersWords,
  isWanted,
  mayRun,
  requireWanted,
  restoredSince,
  verdictOn,
} from '../work.ts';
import { addressesOf, type ReinstallPayload, reinstallJob } from './reinstall.ts';

interface State extends AtCustomers {
  /** When it was to start what was installed. */
  installedAt: string;
}

type ReinstallRun = Run<ReinstallPayload, State>;
type ReinstallStep = Step<ReinstallPayload, State>;

const carryingOut = stages<ReinstallPayload, State>({
  before: showProgress,
  undoPower: putBack,
  last: { name: 'install', ended: ({ ctx }) => ({ installedAt: ctx.clock.now().toISOString() }) },
});

/**
 * A server of which no disk was touched goes on as it was; one that was begun with stays off, since nothing starts from it. What was installed is its customer's,
 * and so is how it runs. One whose service has ended its return sees to.
 */
async function putBack(run: ReinstallRun): Promise<void> {
  const { ctx, payload, state, isHeld } = run;
  const { assignmentId } = payload;
  if (isHeld || !(await isWanted(ctx, payload))) return;
  const assignment = await findAssignment(ctx, assignmentId);
  if (assignment === null || assignment.state === 'done') return;
  if (assignment.powered_at === null && assignment.heard_at === null) return; // nothing was done to it
  await transaction(ctx, 'dedicated.closeAssignment', (tx) => closeAssignment(tx, assignmentId));
  const goesOn = assignment.given_at === null && state.wasOn === true && (await mayRun(ctx, payload));
  await switchBack(run, goesOn);
}

const systemStep: ReinstallStep = {
  name: 'system',
  transactional: true,
  do: async ({ ctx, payload }) => {
    await requireWanted(ctx, payload);
    await noteInstalled(ctx, payload);
  },
};

async function noteInstalled(tx: TxContext, { serviceId, os, hostname }: ReinstallPayload): Promise<void> {
  await writeSystem(tx, serviceId, { os, hostname });
  // It was of the system before.
  await forgetCredentials(tx, serviceId);
}

const readyStep: ReinstallStep = {
  name: 'ready',
  do: async (run) => {
    const { ctx, payload, state } = run;
    await requireWanted(ctx, payload);
    await writeProgress(ctx, payload.actionId, { percent: 97, note: 'The server starts what was installed' });
    const [first] = await addressesOf(ctx, payload.serviceId);
    if (first === undefined) return; // nobody hears it
    await requireGreeting(run, first.address, new Date(state.installedAt ?? 0), 'what was installed');
  },
};

/** From a request to a server that greets: the disks of its layout are wiped, and a system is installed on them. It stays its customer's whatever comes of it. */
export const reinstall = saga<ReinstallPayload, State>({
  name: reinstallJob.name,
  queue: 'racks',
  steps: [lookStep(), ...carryingOut, systemStep, readyStep, disarmStep()],
  succeeded: async (tx, payload) => {
    await closeAssignment(tx, payload.assignmentId);
    await endWork(tx, payload, null);
  },
  failed: async (tx, payload, failure) => {
    await endBadly(tx, payload, failure);
    return verdictOn(failure);
  },
  stuck: endBadly,
});

const beforeNoted: ReadonlySet<string> = new Set(['power', 'proof', 'install', 'system']);

async function endBadly(tx: TxContext, payload: ReinstallPayload, failure: Failure): Promise<void> {
  const assignment = await findAssignment(tx, payload.assignmentId);
  const isTouched = assignment !== null && assignment.given_at !== null;
  const isInstalled = assignment?.state === 'done';
  // Also where its way back did not come to an end: what failed is nothing that a server starts later, and what its installer called us with is over.
  await closeAssignment(tx, payload.assignmentId);
  // Called off when it was on the disks already, before anybody wrote that down.
  const server = isInstalled ? await serverOfService(tx, payload.serviceId) : null;
  if (server?.id === payload.serverId && server.state === 'rented' && beforeNoted.has(failure.step))
    await noteInstalled(tx, payload);
  const said =
    failure.code === restoredSince
      ? inCustomersWords(failure)
      : `${inCustomersWords(failure)}. ${afterwards(isTouched, isInstalled)}`;
  if (isTouched && !isInstalled && (await isWanted(tx, payload)))
    await noteProblem(tx, payload.serviceId, said);
  const left = await findLeftBy(tx, payload);
  const message = left === null ? said : `${said}. ${wordsOfLeft(left)}`;
  await endWork(tx, payload, { code: failure.code, message });
}

function afterwards(isTouched: boolean, isInstalled: boolean): string {
  if (isInstalled) return 'The system is on its disks: start it anew, or reinstall it';
  if (isTouched)
    return 'What was on the disks of the layout is gone, and nothing starts from them: reinstall once more, and write us a ticket if that fails as well';
  return 'Nothing was changed on its disks: try again in a few minutes, and write us a ticket if that fails as well';
}
