import { createHash } from 'node:crypto';
import type { Hypervisor, MachineEvent, MachineReport } from '../drivers/hypervisor/index.ts';
import { record } from '../events/index.ts';
import { type Context, causesOf, statement, type TxContext, transaction } from '../platform/index.ts';
import { beginSystemAction } from './actions/act.ts';
import { powerJobs } from './actions/job.ts';
import { holdsLock } from './actions/lock.ts';
import { vpsLost } from './events.ts';
import { anotherCopy, awaitedSinceRestore, laterKnown, livesElsewhere } from './incarnations.ts';
import {
  type Button,
  buttonCountsMs,
  findMachine,
  type MachineRow,
  machineColumns,
  machineIdOf,
  serviceIdOf,
  setMachineState,
} from './machine.ts';
import { lockVps } from './queries.ts';
import { endAlarm, isDue, waitForReturn } from './repairs.ts';
import { inSql, settledStates } from './states.ts';
import { listSuspended, suspendAgain } from './suspend/suspend.ts';
import { findUnknownMachines } from './unknown.ts';

const repairsAtMost = 3;
/** Whoever changes a machine again and again has it compared a moment later. */
const asksAtMost = 3;
/** A start counted in the host's ticks and one by the clock are never quite the same. */
const clockSlackMs = 1_000;
const repairWindowMs = 10 * 60_000;

// Machines that no action is at work on; those are the action's business.
const settled = `from machines m join services s on s.id = m.service_id
  where m.state in ${inSql(settledStates)} and s.status = 'active'
    and not exists (select 1 from vps_actions a where a.service_id = m.service_id and ${holdsLock('a')})`;

interface SettledRow extends MachineRow {
  started_at: Date | null;
  button: Button | null;
  pressed_at: Date | null;
  retry_at: Date | null;
}

const columns = `${machineColumns}, m.started_at, m.button, m.pressed_at, m.retry_at`;

const settledOnNode = statement<SettledRow, { nodeId: number }>(
  'vps.settledOnNode',
  `select ${columns} ${settled} and m.node_id = :nodeId`,
);
/** `version`: another one once anything was changed of the machine, or done with it. */
const settledMachine = statement<SettledRow & { version: string }, { serviceId: number }>(
  'vps.settledMachine',
  `select ${columns}, concat_ws(' ', m.xmin,
     (select max(a.created_at) from vps_actions a where a.service_id = m.service_id)) as version
   ${settled} and m.service_id = :serviceId`,
);
// An action that changes power itself shows another state meanwhile.
const wantStopped = statement<never, { serviceId: number; since: Date }>(
  'vps.wantStopped',
  `update machines set wanted = 'stopped' where service_id = :serviceId and state = 'running'
     and (button is distinct from 'restart' or pressed_at < :since)`,
);
const retryFrom = statement<never, { serviceId: number; retryAt: Date }>(
  'vps.retryFrom',
  'update machines set retry_at = coalesce(retry_at, :retryAt) where service_id = :serviceId',
);
const countRepair = statement<never, { serviceId: number; repairs: number; now: Date }>(
  'vps.countRepair',
  `update machines set repairs = :repairs, repaired_at = :now where service_id = :serviceId`,
);

/**
 * Compares what every machine of a node should be with what it is, and repairs or flags the difference. It runs
 * when the product starts, so machines that outlived it are adopted, and again and again after that.
 */
export async function reconcileNode(ctx: Context, nodeId: number, hypervisor: Hypervisor): Promise<void> {
  const all = await hypervisor.list();
  await reconcileReported(ctx, nodeId, hypervisor, byId(all), all);
}

/** While a node says what it said, and nothing was to be done then, the database is asked no more often. */
const restMs = 30_000;

/** The same again and again: each call asks the node, and the database where anything may have come to differ. */
export function createReconciler(ctx: Context, nodeId: number, hypervisor: Hypervisor): () => Promise<void> {
  const resting = createRest(ctx);
  return async () => {
    const all = await hypervisor.list();
    await resting(all, () => reconcileReported(ctx, nodeId, hypervisor, byId(all), all));
  };
}

export type Resting = (own: readonly MachineReport[], compare: () => Promise<boolean>) => Promise<void>;

/** Has what a node says compared unless it says what it said, all was well then, and that was not long ago. */
export function createRest(ctx: Context): Resting {
  let said = '';
  let comparedAtMs = Number.NEGATIVE_INFINITY;
  return async (own, compare) => {
    const now = createHash('sha256').update(JSON.stringify(own)).digest('base64');
    const rests = now === said && performance.now() - comparedAtMs < restMs;
    if (rests && !ctx.clock.isDriven) return;
    comparedAtMs = performance.now();
    said = '';
    if (await compare()) said = now;
  };
}

export function byId(all: readonly MachineReport[]): ReadonlyMap<string, MachineReport> {
  return new Map(all.map((report) => [report.id, report]));
}

/**
 * `own`: what the node itself has; a machine of its that somebody moves elsewhere at this moment is among `reports`, which are of all. Says
 * whether all is as it should be.
 */
export async function reconcileReported(
  ctx: Context,
  nodeId: number,
  hypervisor: Hypervisor,
  reports: ReadonlyMap<string, MachineReport>,
  own: readonly MachineReport[],
): Promise<boolean> {
  let isWell = true;
  const compared = new Set<string>();
  for (const machine of await ctx.db.many(settledOnNode, { nodeId })) {
    const report = reports.get(nameOf(machine));
    compared.add(nameOf(machine));
    if (!differs(machine, report)) continue;
    isWell = false;
    // One machine that cannot be helped must not keep the others waiting.
    await reconcileMachine(ctx, machine.service_id, hypervisor, null, reports).catch((error: Error) =>
      ctx.log.warn({ service: machine.service_id, err: causesOf(error) }, 'a machine could not be compared'),
    );
  }
  const others = own.filter(({ id, power }) => power === 'running' && !compared.has(id));
  for (const suspended of others.length === 0 ? [] : await listSuspended(ctx, nodeId)) {
    const { service_id: serviceId } = suspended;
    if (reports.get(nameOf(suspended))?.power !== 'running') continue;
    isWell = false;
    await transaction(ctx, 'vps.suspendAgain', (tx) => suspendAgain(tx, serviceId, nodeId));
  }
  if (await findUnknownMachines(ctx, nodeId, own, hypervisor)) isWell = false;
  await endAlarm(ctx, nodeId);
  return isWell;
}

/** Reacts to a machine's power change at once instead of at the next comparison. */
export async function onMachineEvent(
  ctx: Context,
  hypervisor: Hypervisor,
  event: MachineEvent,
): Promise<void> {
  const serviceId = serviceIdOf(event.id);
  if (serviceId === null) return;
  // What is left over of a machine that was made anew elsewhere says nothing of it.
  const machine = await findMachine(ctx, serviceId);
  if (machine === null || nameOf(machine) !== event.id) return;
  await reconcileMachine(ctx, serviceId, hypervisor, event.cause);
}

function nameOf({ service_id, incarnation }: Pick<MachineRow, 'service_id' | 'incarnation'>): string {
  return machineIdOf(service_id, incarnation);
}

function differs(machine: SettledRow, report: MachineReport | undefined): boolean {
  if (report?.hangs) return machine.state !== 'error';
  if (report?.power === 'unknown') return false; // nothing is learnt, so nothing is changed
  return machine.state !== (report?.power ?? 'absent') || isNewer(report, machine);
}

/** Whether it was started after the moment on record: an action that ends later than the boot writes a later one. */
function isNewer(report: MachineReport | undefined, machine: SettledRow): boolean {
  return (report?.startedAt?.getTime() ?? 0) > (machine.started_at?.getTime() ?? 0) + clockSlackMs;
}

async function reconcileMachine(
  ctx: Context,
  serviceId: number,
  hypervisor: Hypervisor,
  cause: MachineEvent['cause'] | null,
  reports: ReadonlyMap<string, MachineReport> = new Map(),
): Promise<void> {
  for (let nth = 0; nth < asksAtMost; nth += 1) {
    // Before anything is held: an engine may say nothing for seconds.
    const before = await ctx.db.maybe(settledMachine, { serviceId });
    const report = before === null ? null : await hypervisor.inspect(nameOf(before));
    const isDone = await transaction(ctx, 'vps.reconcile', async (tx) => {
      // Locked like any change to it, so no action can begin meanwhile.
      await lockVps(tx, serviceId);
      const machine = await tx.db.maybe(settledMachine, { serviceId });
      if (machine === null) {
        // The action at work does not see it; once that has ended, the comparison leaves the machine down.
        if (cause === 'guest') await tx.db.run(wantStopped, { serviceId, since: sinceButton(tx) });
        return true;
      }
      // What was done with it since then the engine did not speak of.
      if (report === null || machine.version !== before?.version) return false;
      await settle(tx, machine, report, cause, reports);
      return true;
    });
    if (isDone) return;
  }
}

async function settle(
  tx: TxContext,
  machine: SettledRow,
  report: MachineReport,
  cause: MachineEvent['cause'] | null,
  reports: ReadonlyMap<string, MachineReport>,
): Promise<void> {
  if (!differs(machine, report)) return;
  const { service_id: serviceId, incarnation } = machine;
  const later = await laterKnown(tx, { serviceId, incarnation }, reports.values());
  // It goes on by itself once the other one is gone.
  if (later !== null) {
    if (machine.state === 'error') return;
    // Its customer reads the journal as well.
    tx.log.error(
      { service: serviceId, reason: livesElsewhere(nameOf(machine), later) },
      'an old copy is left alone',
    );
    return flag(tx, machine, anotherCopy, tx.clock.now());
  }
  if (report.hangs)
    return flag(tx, machine, 'the machine does not answer its node: it hangs, a restart with force helps');
  if (report.power === 'running') return adopt(tx, machine, report.startedAt);
  // What a person is to help is left as it is until somebody acts; an action puts it right.
  if (machine.state === 'error' && !isDue(machine.retry_at, tx.clock.now())) return;
  if (report.power === 'absent') return miss(tx, machine);
  const pressed = isPressed(tx, machine) ? machine.button : null;
  if (wantedAfter(machine, pressed, cause) === 'stopped') {
    return setMachineState(tx, machine.service_id, 'stopped', { wanted: 'stopped' });
  }
  // Nothing begins that would wait, with the machine locked; it goes on by itself once the cluster was heard of.
  const awaited = await awaitedSinceRestore(tx, nameOf(machine));
  if (awaited !== null) {
    if (awaited.isComing || machine.state === 'error') return;
    tx.log.error({ service: serviceId, reason: awaited.message }, 'a machine is not started yet');
    return flag(tx, machine, anotherCopy, tx.clock.now());
  }
  if (pressed === 'restart') return begin(tx, machine, 'its guest took long to shut down for its restart');
  await repair(tx, machine);
}

function sinceButton(tx: TxContext): Date {
  return new Date(tx.clock.now().getTime() - buttonCountsMs);
}

function isPressed(tx: TxContext, { pressed_at }: SettledRow): boolean {
  return pressed_at !== null && pressed_at >= sinceButton(tx);
}

/** What a machine that is down is to be. A guest that shut itself down was told so: by us, or by its owner. */
function wantedAfter(
  { wanted }: SettledRow,
  pressed: Button | null,
  cause: MachineEvent['cause'] | null,
): 'running' | 'stopped' {
  if (pressed !== null) return pressed === 'stop' ? 'stopped' : 'running';
  return cause === 'guest' ? 'stopped' : wanted;
}

async function miss(tx: TxContext, machine: SettledRow): Promise<void> {
  if (machine.state === 'error') return;
  const reason = 'the machine is gone from its node';
  await flag(tx, machine, reason);
  await waitForReturn(tx, machine, reason);
}

async function adopt(tx: TxContext, machine: MachineRow, startedAt: Date | null): Promise<void> {
  await setMachineState(tx, machine.service_id, 'running', { wanted: 'running', startedAt });
}

/** Starts it as an action that its owner finds in the history; one that fails is tried again, up to the limit. */
async function repair(tx: TxContext, machine: SettledRow): Promise<void> {
  // Its node failed it, or had lost it: that says nothing of the machine.
  if (machine.retry_at !== null) return begin(tx, machine, 'its node could not run it');
  const now = tx.clock.now();
  const isRecent =
    machine.repaired_at !== null && now.getTime() - machine.repaired_at.getTime() < repairWindowMs;
  const repairs = isRecent ? machine.repairs + 1 : 1;
  if (repairs > repairsAtMost) {
    return flag(tx, machine, `the machine was down ${repairs} times within ten minutes`);
  }
  await tx.db.run(countRepair, { serviceId: machine.service_id, repairs, now });
  await begin(tx, machine, 'the machine was down');
}

function begin(tx: TxContext, machine: SettledRow, why: string): Promise<void> {
  const reason = `${why} and has been started again`;
  return beginSystemAction(tx, machine, powerJobs.start, { force: false, repair: true, reason });
}

async function flag(
  tx: TxContext,
  machine: MachineRow,
  reason: string,
  retryAt: Date | null = null,
): Promise<void> {
  if (machine.state === 'error') return;
  if (retryAt !== null) await tx.db.run(retryFrom, { serviceId: machine.service_id, retryAt });
  tx.log.error({ service: machine.service_id, reason }, 'a machine needs help');
  await setMachineState(tx, machine.service_id, 'error');
  await record(tx, vpsLost, {
    subject: { type: 'service', id: machine.service_id },
    organizationId: machine.organization_id,
    data: { reason },
  });
}
