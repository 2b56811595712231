import {
  atWork,
  carryOut,
  closeAssignment,
  disarm,
  findAssignment,
  requireServerOff,
  setServerAside,
  switchOff,
} from '../fleet/index.ts';
import { type Run, type Step, type TxContext, transaction } from '../platform/index.ts';
import { unfit } from './faults.ts';
import { isStillIts } from './stillIts.ts';

/** What a saga remembers that has our installer do something with a server. */
export interface AtServer {
  serverId: number;
  assignmentId: number;
}

/** The server that a step before this one has chosen. */
export function serverIn({ serverId }: Partial<AtServer>): number {
  if (serverId === undefined) throw new Error('no server is chosen yet');
  return serverId;
}

/** Undo of the step that has opened an assignment: the server starts its disks from now on, whatever it was to do. */
export async function callOff<P, S extends AtServer>({ ctx, state }: Run<P, S>): Promise<void> {
  const { assignmentId } = state;
  if (assignmentId === undefined) return;
  await transaction(ctx, 'dedicated.closeAssignment', (tx) => closeAssignment(tx, assignmentId));
}

/** When what the installer is to do was written down. */
export async function openedAt<P, S extends AtServer>({ ctx, state }: Run<P, S>): Promise<Date> {
  const { assignmentId } = state;
  const assignment = assignmentId === undefined ? null : await findAssignment(ctx, assignmentId);
  return assignment?.opened_at ?? ctx.clock.now();
}

/**
 * Undo of what had a server on that nobody has yet. Off first, and then what was planned is called off: it starts neither the installer nor what is half written. One
 * that cannot be switched off is set aside; `stays`: what becomes of what it may use for as long as it is on.
 */
export async function leaveOff<P extends { serviceId: number }, S extends AtServer>(
  run: Run<P, S>,
  stays?: (tx: TxContext, serverId: number) => Promise<void>,
): Promise<void> {
  const { serverId, assignmentId } = run.state;
  if (serverId === undefined || assignmentId === undefined) return;
  if (!(await isStillIts(run.ctx, run.payload.serviceId, serverId))) return;
  if (run.isHeld) return requireServerOff(run, serverId);
  const assignment = await findAssignment(run.ctx, assignmentId);
  if (assignment === null || (assignment.powered_at === null && assignment.heard_at === null)) return; // nothing was done to it
  try {
    await switchOff(run, serverId);
  } catch (error) {
    if (!(error instanceof Error) || !('permanent' in error && error.permanent === true)) throw error;
    const reason = `it could not be switched off after an installation that did not end: ${error.message}`;
    await transaction(run.ctx, 'dedicated.setAside', async (tx) => {
      if (!(await isStillIts(tx, run.payload.serviceId, serverId))) return;
      await setServerAside(tx, serverId, reason);
      await stays?.(tx, serverId);
    });
  }
}

/** What differs between the sagas that carry an assignment out. */
interface Stages<P, S extends AtServer> {
  /** Comes before each try of each stage, and throws when nobody wants it any more. */
  before?: (run: Run<P, S>) => Promise<void>;
  /** What becomes of the server's power when the saga goes back. */
  undoPower: (run: Run<P, S>) => Promise<void>;
  /** The last stage, in which the installer does its work, and what is remembered of its end. */
  last: { name: string; ended: (run: Run<P, S>) => Partial<S> };
}

/**
 * The steps that carry out an assignment which a step before them has opened: `power`, `proof` and the installer's work. While the server is at it they wait, and hold
 * no place in the queue.
 */
export function stages<P, S extends AtServer>({ before, undoPower, last }: Stages<P, S>): Step<P, S>[] {
  const until = async (run: Run<P, S>, stage: Parameters<typeof carryOut>[2]) => {
    await before?.(run);
    const { assignmentId } = run.state;
    if (assignmentId === undefined) throw new Error('nothing is planned for the server yet');
    await carryOut(run, assignmentId, stage);
  };
  return [
    { name: 'power', attempts: 2, do: (run) => until(run, 'powered'), undo: undoPower },
    { name: 'proof', do: (run) => until(run, 'proved') },
    {
      name: last.name,
      do: async (run) => {
        await until(run, 'done');
        return last.ended(run);
      },
    },
  ];
}

/** Large servers look at their memory for minutes before they start anything. */
const greetsWithinMs = 20 * 60_000;
const pollMs = 500;
/** So long one try looks; then its place is another job's for a moment. */
const lookMs = 5_000;

/**
 * Returns once SSH greets at an address. Until then it throws what makes a job come again and use no attempt up, and some minutes after `since` that the server is
 * out of order. `what` it starts is for whoever looks at the job.
 */
export async function requireGreeting<P, S>(
  { ctx, drivers, signal }: Run<P, S>,
  address: string,
  since: Date,
  what: string,
): Promise<void> {
  for (const end = performance.now() + lookMs; performance.now() < end; ) {
    signal.throwIfAborted();
    if (await drivers.greets(address)) return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  if (ctx.clock.now().getTime() - since.getTime() > greetsWithinMs)
    throw unfit(
      `it starts ${what}, and did not greet by SSH at ${address} within ${greetsWithinMs / 60_000} minutes`,
    );
  throw atWork(`the server starts ${what}; no SSH at ${address} yet`, { isSoon: false });
}

/** What it started from is used up by starting: a BMC that does not answer any more keeps nobody from a server that greets. */
export async function disarmIfHeard<P, S extends AtServer>(run: Run<P, S>): Promise<void> {
  try {
    await disarm(run, serverIn(run.state));
  } catch (error) {
    run.signal.throwIfAborted();
    run.ctx.log.warn({ server: run.state.serverId, err: error }, 'a server that greets was not disarmed');
  }
}
