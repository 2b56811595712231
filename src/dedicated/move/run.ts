import { isHeldForMove, type VlanExchange } from '../../fleet/index.ts';
import type { Run, Step } from '../../platform/index.ts';
import { writeProgress } from '../actions.ts';
import type { WithPassword } from '../password.ts';
import { mayRun, requireWanted, wantedNoMore } from '../work.ts';
import type { MovePayload } from './move.ts';
import { noteStop } from './rows.ts';

/** `serverId` is the one that the service is to get. */
export interface MoveState extends WithPassword {
  /** Whether its customer had the server before on when the move began. */
  wasOn: boolean;
  vlans: VlanExchange[];
  /** When the new server was to start what was installed. */
  startedAt: string;
}

export type MoveRun = Run<MovePayload, MoveState>;
export type MoveStep = Step<MovePayload, MoveState>;

/** The service is to go over, may be used, and the new server is still held for it; `called_off`. */
export async function requireGoing(run: MoveRun): Promise<void> {
  const { ctx, payload } = run;
  await requireWanted(ctx, payload);
  const isGoing =
    (await mayRun(ctx, payload)) && (await isHeldForMove(ctx, payload.toServerId, payload.serviceId));
  if (!isGoing)
    throw wantedNoMore(
      'the service may not be used any more, or the server that it was to get was taken away',
    );
}

/** While this does not go on the service is on no server: staff and its customer read that, and staff what to do. */
export async function orTell(run: MoveRun, whatToDo: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof Error) await tellStop(run, `${error.message}. ${whatToDo}`);
    throw error;
  }
  await tellStop(run, null);
}

async function tellStop(run: MoveRun, problem: string | null): Promise<void> {
  if (!(await noteStop(run.ctx, run.payload.moveId, problem))) return;
  const note =
    problem === null
      ? null
      : 'Your server is off for the moment: something here does not answer, and our staff has been told';
  await tellProgress(run, 85, note);
}

/** In the history of the service: `percent`, and in words for its customer what is done; null: nothing besides. */
export async function tellProgress(
  { ctx, payload }: MoveRun,
  percent: number,
  note: string | null,
): Promise<void> {
  await writeProgress(ctx, payload.actionId, { percent, note });
}
