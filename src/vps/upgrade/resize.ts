import {
  type Hypervisor,
  HypervisorError,
  type HypervisorErrorCode,
  type MachineSpec,
} from '../../drivers/hypervisor/index.ts';
import { fail, type Run, saga, statement, type TxContext, transaction } from '../../platform/index.ts';
import { lockTerms, requireOrder, resourcesOf, vpsOptions } from '../../services/index.ts';
import { forCustomer } from '../actions/advice.ts';
import { startUnlessToStop } from '../actions/forcedStop.ts';
import { finishAction, isOpenAction, locked, openSystemAction, progressAction } from '../actions/history.ts';
import { holdsLock } from '../actions/lock.ts';
import { withMachine } from '../actions/saga.ts';
import { awaitedSinceRestore, notCompared, requireLatestSoon, requireNoLater } from '../incarnations.ts';
import { hostOutages } from '../outages.ts';
import { startMachine, stopAnyway } from '../power.ts';
import { findVps, lockVps } from '../queries.ts';
import { inSql, type MachineState, rules } from '../states.ts';
import { holdNeeded } from './resources.ts';

/** What an upgrade asks for once it counts. */
interface Payload {
  serviceId: number;
  organizationId: number;
  actionId: number;
}

type ResizeRun = Run<Payload, object>;

const resizable: readonly MachineState[] = [...rules.resize.from, 'suspended', rules.resize.during];

// Nobody is at work on it, and it is in a state that can change its size. That of a suspended service is off, and can.
const takeMachine = statement<{ node_id: number }, { serviceId: number; actionId: number }>(
  'vps.takeMachineForResize',
  `update machines m set state = '${rules.resize.during}'
   where m.service_id = :serviceId
     and m.state in ${inSql(resizable)}
     and not exists (select 1 from vps_actions a where a.service_id = m.service_id and a.id <> :actionId
       and ${holdsLock('a')})
   returning m.node_id`,
);
const setSize = statement<
  never,
  { serviceId: number; cpuCores: number; memoryMib: number; diskGib: number; portMbps: number }
>(
  'vps.setSize',
  `update machines set cpu_cores = :cpuCores, memory_mib = :memoryMib, disk_gib = greatest(disk_gib, :diskGib),
     port_mbps = :portMbps
   where service_id = :serviceId`,
);
// One that still waited for the machine's lock has nothing of it to let go: the machine is another action's.
const letGo = statement<never, { serviceId: number; actionId: number; isBroken: boolean }>(
  'vps.letGoAfterResize',
  `update machines m set state = case when :isBroken then 'error'
     when exists (select 1 from services s where s.id = m.service_id and s.status = 'suspended') then 'suspended'
     else m.wanted end
   where m.service_id = :serviceId and m.state = '${rules.resize.during}'
     and exists (select 1 from vps_actions a where a.id = :actionId and ${holdsLock('a')})`,
);

/**
 * Gives a machine the size that its service has now. It was paid for, so it waits for as long as another action
 * is at work. The disk grows while the machine runs; new cores and memory need a restart, which this does.
 */
export const resize = saga<Payload>({
  name: 'vps.resize',
  queue: 'machine',
  // Paid for, it is done once it is known which copy of the machine it is.
  outages: [...hostOutages, notCompared],
  steps: [
    { name: 'open', attempts: Number.POSITIVE_INFINITY, do: open },
    { name: 'size', do: writeSize },
    { name: 'apply', do: apply },
  ],
  progress: (run, done, of) => progressAction(run.ctx, run.payload.actionId, Math.floor((100 * done) / of)),
  succeeded: async (ctx, payload) => {
    // In the order of every change: the service first.
    const service = await lockTerms(ctx, payload.serviceId);
    await release(ctx, payload, false);
    // What it gave up is free from now on.
    await holdNeeded(ctx, service);
    await finishAction(ctx, actionOf(payload), null);
  },
  failed: async (ctx, payload, failure) => {
    await release(ctx, payload, false);
    await finishAction(ctx, actionOf(payload), forCustomer(actionOf(payload), failure));
    return failure.code === ended ? 'unwanted' : undefined;
  },
  stuck: async (ctx, payload, failure) => {
    if (!(await isOpenAction(ctx, payload.actionId))) return;
    await release(ctx, payload, true);
    await finishAction(ctx, actionOf(payload), forCustomer(actionOf(payload), failure));
  },
});

async function release(ctx: TxContext, { serviceId, actionId }: Payload, isBroken: boolean): Promise<void> {
  await ctx.db.run(letGo, { serviceId, actionId, isBroken });
}

function actionOf({ actionId, organizationId, serviceId }: Payload) {
  return { id: actionId, organizationId, serviceId, command: 'resize' };
}

function open({ ctx, payload, moveTo }: ResizeRun): Promise<void> {
  return transaction(ctx, 'vps.openResize', async (tx: TxContext) => {
    await lockVps(tx, payload.serviceId);
    const taken = await tx.db.maybe(takeMachine, {
      serviceId: payload.serviceId,
      actionId: payload.actionId,
    });
    if (taken === null) throw await hindrance(tx, payload.serviceId);
    moveTo(taken.node_id);
    await openSystemAction(tx, actionOf(payload));
  });
}

/** Code of a resize whose service has ended before its turn came. */
const ended = 'ended';

async function hindrance(tx: TxContext, serviceId: number): Promise<Error> {
  const vps = await findVps(tx, serviceId);
  if (vps?.action && !vps.action.waits) return locked(vps.action.command);
  if (vps?.service_status === 'terminated')
    return Object.assign(new Error('The service has ended'), {
      code: ended,
      permanent: true,
      unwanted: true,
    });
  // Between the two looks the action that was at work has ended.
  if (vps?.state && resizable.includes(vps.state)) return locked('another action');
  const message = `The machine is ${vps?.state ?? 'gone'}, so its size cannot change`;
  return Object.assign(fail('action_not_allowed', { message }), { permanent: true });
}

async function writeSize({ ctx, payload }: ResizeRun): Promise<void> {
  const { options } = await requireOrder(ctx, payload.serviceId);
  const size = vpsOptions.read(options);
  await ctx.db.run(setSize, { serviceId: payload.serviceId, ...resourcesOf(size), portMbps: size.portMbps });
}

async function apply(run: ResizeRun): Promise<void> {
  await withMachine(run, async (driver, spec, machine) => {
    await requireNoLater(run.ctx, spec.id);
    const stop = async () => {
      if (machine.wanted === 'running') await requireLatestSoon(run.ctx, spec.id);
      await stopAnyway(driver, spec.id, run.signal);
    };
    if (!driver.capabilities.includes('live_resize')) await stop();
    const { restartNeeded } = await driver.resize(spec);
    if (machine.wanted !== 'running') return tellAddresses(run, driver, spec);
    if (restartNeeded) await stop();
    const { power } = await driver.inspect(spec.id);
    // One that is down already is started by the comparison with its node, once it is known that it may be.
    if (power !== 'running' && (await awaitedSinceRestore(run.ctx, spec.id)) !== null) return;
    const start = () => startMachine(run.ctx, driver, spec, machine);
    if ((await startUnlessToStop(run, driver, start)) !== null) return tellAddresses(run, driver, spec);
    // A guest that boots anew has found its addresses. One that runs on is told once its packet rules let it use them.
    if (power === 'running') await tellAddresses(run, driver, spec);
  });
}

const guestFaults: ReadonlySet<HypervisorErrorCode> = new Set([
  'guest_silent',
  'guest_refused',
  'not_supported',
]);

/** An upgrade that was paid does not fail because a guest does not listen: it finds its addresses at its next boot. */
async function tellAddresses(run: ResizeRun, driver: Hypervisor, spec: MachineSpec): Promise<void> {
  try {
    await driver.setAddresses(spec);
  } catch (error) {
    if (!(error instanceof HypervisorError && guestFaults.has(error.code))) throw error;
    const { serviceId } = run.payload;
    run.ctx.log.warn({ serviceId, error }, 'A guest did not take its addresses; its next boot brings them');
  }
}
