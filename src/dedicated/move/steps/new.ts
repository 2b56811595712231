import {
  atWork,
  findAssignment,
  isApart,
  isAside,
  isBeingSwitched,
  isServerOn,
  ServerFailure,
  serverName,
  setServerAside,
  startFromDisks,
  switchOff,
} from '../../../fleet/index.ts';
import { transaction } from '../../../platform/index.ts';
import { progressOf } from '../../progress.ts';
import { addressesOf } from '../../reinstall/reinstall.ts';
import { leaveOff, requireGreeting, serverIn, stages } from '../../stages.ts';
import { isStillIts } from '../../stillIts.ts';
import type { MovePayload } from '../move.ts';
import { type MoveRun, type MoveState, type MoveStep, orTell, requireGoing, tellProgress } from '../run.ts';

/** It is installed while the one before goes on. */
export const carryingOut = stages<MovePayload, MoveState>({
  before: async (run) => {
    await requireGoing(run);
    const assignment = run.state.assignmentId && (await findAssignment(run.ctx, run.state.assignmentId));
    if (!assignment) return;
    const { percent, note } = progressOf(assignment);
    await tellProgress(run, Math.floor(percent * 0.8), note === null ? null : `The new server: ${note}`);
  },
  undoPower: leaveOff,
  last: { name: 'install', ended: () => ({}) },
});

/** It goes off by itself; here it is made sure of, before anybody else gives its addresses up. */
export const restStep: MoveStep = {
  name: 'rest',
  do: async (run) => {
    await requireGoing(run);
    const { assignmentId } = run.state;
    const assignment = assignmentId === undefined ? null : await findAssignment(run.ctx, assignmentId);
    await restOff(run, assignment?.ended_at ?? run.ctx.clock.now());
  },
};

/** It writes what it has still in memory, and powers itself off then; one that does not within a minute is switched off. */
const restsWithinMs = 60_000;

async function restOff(run: MoveRun, since: Date): Promise<void> {
  const serverId = serverIn(run.state);
  if (
    run.ctx.clock.now().getTime() - since.getTime() < restsWithinMs &&
    (await isServerOn(run, serverId, since))
  )
    throw atWork('the new server is installed, and switches itself off');
  await switchOff(run, serverId, since);
}

/** Whoever cannot be asked is not told to start: of one that may have heard it, nobody would know whether it is on. */
export const confirmStep: MoveStep = {
  name: 'confirm',
  do: async (run) => {
    await requireGoing(run);
    if (run.state.startedAt !== undefined) return; // it was told before there was this step
    await switchOff(run, serverIn(run.state));
  },
};

export const startStep: MoveStep = {
  name: 'start',
  do: async (run) => {
    await requireGoing(run);
    await tellProgress(run, 90, 'The new server starts with the addresses of the service');
    await startFromDisks(run, serverIn(run.state));
    return { startedAt: run.ctx.clock.now().toISOString() };
  },
  undo: restAgain,
};

/**
 * Before the server before starts again: both would have the same addresses. One that cannot be switched off is set aside where its ports are in VLANs of their own, which
 * they get back now. Anywhere else the service waits, and staff is told, until its BMC answers or staff takes it away, which is to pull its power first.
 */
async function restAgain(run: MoveRun): Promise<void> {
  const { ctx, payload, state } = run;
  const { serviceId } = payload;
  const serverId = serverIn(state);
  const name = await serverName(ctx, serverId);
  const whatToDo = `The service stays off until ${name} is off: have its BMC answer, or pull its power and then put it into quarantine`;
  await orTell(run, whatToDo, async () => {
    if (!(await isStillIts(ctx, serviceId, serverId))) {
      if (await isBeingSwitched(ctx, serverId))
        throw atWork(`${name} is being switched off`, { isSoon: false });
      // It may have been told to start at the moment at which staff took it away. One that cannot be asked staff has pulled out, as it was told.
      if (await isAside(ctx, serverId)) await switchOff(run, serverId).catch(passOver);
      return;
    }
    try {
      await switchOff(run, serverId);
    } catch (error) {
      if (!(error instanceof ServerFailure)) throw error;
      const isAlone = payload.isUnplugged || (await isApart(ctx, serverId, state.vlans ?? []));
      if (!isAlone)
        throw atWork(
          `${name} was started with the addresses of the service, and cannot be switched off: ${error.message}`,
          { isSoon: false },
        );
      const reason = `it was started for the service ${serviceId}, which did not go there, and cannot be switched off: pull its power, for it may run with the addresses of that service: ${error.message}`;
      await transaction(ctx, 'dedicated.setAside', async (tx) => {
        if (await isStillIts(tx, serviceId, serverId)) await setServerAside(tx, serverId, reason);
      });
    }
  });
}

function passOver(error: unknown): void {
  if (!(error instanceof ServerFailure)) throw error;
}

export const readyStep: MoveStep = {
  name: 'ready',
  do: async (run) => {
    await requireGoing(run);
    const { ctx, payload, state } = run;
    const [first] = await addressesOf(ctx, payload.serviceId);
    if (first === undefined) return; // nobody hears it
    await requireGreeting(run, first.address, new Date(state.startedAt ?? 0), 'what was installed');
  },
};
