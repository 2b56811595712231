import {
  isServerOn,
  keepWasOn,
  readWasOn,
  ServerFailure,
  serverOfService,
  shutDownServer,
  startFromDisks,
} from '../../../fleet/index.ts';
import { type Context, transaction } from '../../../platform/index.ts';
import { isStillIts, requireCompared } from '../../stillIts.ts';
import { isWanted, lookFirst, mayRun } from '../../work.ts';
import { type MoveRun, type MoveStep, requireGoing, tellProgress } from '../run.ts';

/** The system before has so long to write down what it has. */
const buttonMs = 120_000;

/** Whose the server before is, and whether its customer has it on. */
export const lookStep: MoveStep = {
  name: 'look',
  do: async (run) => {
    const { ctx, payload } = run;
    await requireGoing(run);
    const server = await serverOfService(ctx, payload.serviceId);
    // Nobody asks it, and so nobody hears that it is somebody else's since a backup.
    if (payload.isUnplugged && server !== null) await requireCompared(ctx, server);
    const wasOn = payload.isUnplugged ? false : await lookFirst(run);
    return { serverId: payload.toServerId, wasOn };
  },
};

export const offStep: MoveStep = {
  name: 'off',
  attempts: 2,
  do: async (run) => {
    const { ctx, payload } = run;
    await requireGoing(run);
    await tellProgress(run, 85, 'The new server is installed; the server before is switched off');
    if (payload.isUnplugged) return;
    await noteWasOn(ctx, payload.serviceId, await isServerOn(run, payload.serverId));
    await shutDownServer(run, payload.serverId, buttonMs);
  },
  undo: startAgain,
};

/** Said once, before it is switched off; whatever becomes of the move, it is on again then. */
async function noteWasOn(ctx: Context, serviceId: number, wasOn: boolean): Promise<void> {
  await transaction(ctx, 'dedicated.noteWasOn', (tx) => keepWasOn(tx, serviceId, wasOn));
}

/**
 * Whoever stays where they were goes on as before. Where that cannot be had at once, or others may switch it already because the move stood still in between, it is
 * started by the job that the end of the move begins (`ends.ts`).
 */
async function startAgain(run: MoveRun): Promise<void> {
  const { ctx, payload, state } = run;
  const { serviceId, serverId } = payload;
  if (payload.isUnplugged || !(await isStillIts(ctx, serviceId, serverId))) return;
  // Nobody could ask it any more before it was to go off.
  if (state.wasOn !== undefined) await noteWasOn(ctx, serviceId, state.wasOn);
  if (
    (await readWasOn(ctx, serviceId)) !== true ||
    !(await isWanted(ctx, payload)) ||
    !(await mayRun(ctx, payload))
  )
    return;
  try {
    await startFromDisks(run, serverId);
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    ctx.log.warn(
      { server: serverId, err: error },
      'a server waits for its BMC to be on again after a move that failed',
    );
  }
}
