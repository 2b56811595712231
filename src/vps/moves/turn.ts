import { HypervisorError } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import { endLeftRooms } from '../../fleet/index.ts';
import { causesOf, type Failure, type Run, statement, type TxContext } from '../../platform/index.ts';
import { startUnlessToStop } from '../actions/forcedStop.ts';
import { finishAction, isOpenAction, noteAction } from '../actions/history.ts';
import { holdsLock } from '../actions/lock.ts';
import { withMachine } from '../actions/saga.ts';
import { moveEnded } from '../events.ts';
import { standsStill } from '../incarnations.ts';
import { machineIdOf, rememberButton } from '../machine.ts';
import { startMachine } from '../power.ts';
import { findVps, lockVps } from '../queries.ts';
import { settledStates } from '../states.ts';
import { goOn, type MovePayload } from './next.ts';
import { endMove, noteAway, noteStuckMove } from './rows.ts';

/** States of machines that go to other hosts. */
export const movable: readonly string[] = [...settledStates, 'suspended'];
/** How long a guest that was moved is waited for before it counts as moved without having answered. */
export const greetingMs = 60_000;
/** Codes of moves that nobody calls for any more, and of one of a machine that is on another node already. */
export const notWanted = 'called_off';
export const elsewhere = 'elsewhere';

// As long as it goes over with its power off, it is not taken for one that its owner shut down.
const setRestarting = statement<never, { serviceId: number }>(
  'vps.setMovedRestarting',
  `update machines set state = 'restarting' where service_id = :serviceId and state = 'running'`,
);
// What was not started again is down now, and the next comparison finds that.
const letGo = statement<never, { serviceId: number; actionId: number }>(
  'vps.letGoAfterMove',
  `update machines m set state = 'running' where m.service_id = :serviceId and m.state = 'restarting'
     and exists (select 1 from vps_actions a where a.id = :actionId and ${holdsLock('a')})`,
);
const ownerOf = statement<{ user_id: number }, { serviceId: number }>(
  'vps.ownerOfMoved',
  'select user_id from services where id = :serviceId',
);

/** Writes down that a machine that runs is about to be taken down for its move. */
export async function noteTakenDown(tx: TxContext, { serviceId, actionId }: MovePayload): Promise<void> {
  await lockVps(tx, serviceId);
  await tx.db.run(setRestarting, { serviceId });
  await tx.db.run(noteAway, { id: actionId, now: tx.clock.now() });
}

/** Starts a machine where it is written down. One that does not start there is left to the next comparison. */
export async function startAgain(run: Run<MovePayload, object>): Promise<void> {
  await withMachine(run, async (driver, spec, machine) => {
    const start = () => startMachine(run.ctx, driver, spec, machine);
    const why = await startUnlessToStop(run, driver, start);
    if (why !== null) return;
    const { signal } = run;
    await driver.waitUntilReady(spec, { timeoutMs: greetingMs, signal });
  }).catch((error: Error) => {
    if (error instanceof HypervisorError && error.waits) throw error;
    const { serviceId: service } = run.payload;
    run.ctx.log.warn({ service, err: causesOf(error) }, 'a machine that was moved is not ready yet');
  });
}

export type Outcome =
  | { state: 'moved'; live?: boolean | null; failure?: Failure }
  | { state: 'stays'; failure: Failure };

/** Ends the move of one machine with its action, and has the next ones begin. `failure` of one that has moved: what is left to be done. */
export async function end(tx: TxContext, payload: MovePayload, outcome: Outcome): Promise<void> {
  const { serviceId, actionId: id } = payload;
  await lockVps(tx, serviceId);
  await tx.db.run(letGo, { serviceId, actionId: id });
  const failure = outcome.state === 'stays' ? outcome.failure : null;
  const live = outcome.state === 'moved' ? (outcome.live ?? null) : null;
  const reason = outcome.failure?.message ?? null;
  const ended = await tx.db.maybe(endMove, { id, state: outcome.state, reason, live, now: tx.clock.now() });
  if (failure?.code === 'shutdown_timeout') await rememberButton(tx, serviceId, 'restart');
  const vps = await findVps(tx, serviceId);
  // It is in one place of those that call it so, and has its room there.
  if (vps !== null) await endLeftRooms(tx, machineIdOf(serviceId, vps.incarnation ?? 1));
  if (await isOpenAction(tx, id)) {
    await noteAction(tx, id, noteOf(failure, live, ended?.away_s ?? null));
    const action = actionOf(payload, vps?.organization_id ?? payload.organizationId);
    await finishAction(tx, action, failure && { code: 'conflict', message: stays });
  }
  if (ended === null) return;
  if (ended.was_told && vps?.hostname != null) {
    const { user_id } = await tx.db.one(ownerOf, { serviceId });
    await record(tx, moveEnded, {
      ...{ subject: { type: 'service', id: serviceId }, organizationId: vps.organization_id },
      data: {
        ...{ user_id, hostname: vps.hostname, moved: outcome.state === 'moved' },
        ...{ off_at: ended.off_at?.toISOString() ?? null, away_s: ended.away_s },
        is_late: outcome.state === 'moved' && notWell.has(outcome.failure?.code ?? ''),
      },
    });
  }
  await goOn(tx, ended.evacuation_id);
}

/** Of what is in the cluster and does not answer there. */
const notWell: ReadonlySet<string> = new Set(['ready_timeout', 'machine_died']);
const stays = 'The machine could not go to another host and stays where it is';

function noteOf(failure: Failure | null, live: boolean | null, awayS: number | null): string | null {
  if (failure !== null) return awayS === null ? null : `It was off for ${awayS} seconds meanwhile`;
  if (awayS !== null) return `It was off for ${awayS} seconds while it went to another host`;
  return live === true ? 'It ran on while it went to another host' : null;
}

/** Leaves a move to staff whose job is stuck. Half of it may be done: until a person has seen to it, the machine is nobody else's, and no other begins. */
export async function standStill(tx: TxContext, payload: MovePayload, failure: Failure): Promise<void> {
  await tx.db.run(noteStuckMove, { id: payload.actionId, reason: failure.message });
  if (await isOpenAction(tx, payload.actionId)) await noteAction(tx, payload.actionId, standsStill);
}

/** Whoever has the machine now: it may have gone to another organization before its turn. */
export function actionOf({ actionId, serviceId }: MovePayload, organizationId: number) {
  return { id: actionId, organizationId, serviceId, command: 'move' };
}

/** A failure that trying again cannot help, and that is named in the evacuation. */
export function never(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, permanent: true, unwanted: true });
}

/** What a step before this one has said. */
export function stated<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a step before this one says it');
  return value;
}
