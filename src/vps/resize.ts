import {
  type Hypervisor,
  HypervisorError,
  type HypervisorErrorCode,
  type MachineSpec,
} from '../drivers/hypervisor/index.ts';
import { resizeRoom } from '../fleet/index.ts';
import {
  type AnySaga,
  fail,
  type Run,
  saga,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { findOrder, machineSize } from '../services/index.ts';
import { withMachine } from './act.ts';
import { finishAction, openSystemAction, progressAction } from './actions.ts';
import type { HypervisorOf } from './machine.ts';
import { stopMachine } from './power.ts';
import { lockVps } from './queries.ts';

/** What an upgrade asks for once it counts; see `services/upgradeApply.ts`. */
interface Payload {
  serviceId: number;
  organizationId: number;
  actionId: number;
}

type ResizeRun = Run<Payload, object>;

// Nobody is at work on it, and it is in a state that can change its size.
const takeMachine = statement<{ service_id: number }>(
  'vps.takeMachineForResize',
  `update machines m set state = 'resizing'
   where m.service_id = $1 and m.state in ('running', 'stopped', 'error', 'resizing')
     and not exists (select 1 from vps_actions a where a.service_id = m.service_id and a.id <> $2
       and a.status in ('queued', 'running'))
   returning m.service_id`,
);
const setSize = statement(
  'vps.setSize',
  `update machines set cpu_cores = $2, memory_mib = $3, disk_gib = greatest(disk_gib, $4), port_mbps = $5
   where service_id = $1`,
);
const letGo = statement(
  'vps.letGoAfterResize',
  `update machines set state = wanted where service_id = $1 and state = 'resizing'`,
);

/** How often a machine that is busy is asked again; with the growing pauses that is about a quarter of an hour. */
const patience = 40;

/**
 * Gives a machine the size that its service has now. It was paid for, so it waits while another action is at
 * work. The disk grows while the machine runs; new cores and memory need a restart, which this does.
 */
export function resizeSaga(hypervisorOf: HypervisorOf): AnySaga {
  return saga<Payload>({
    name: 'vps.resize',
    steps: [
      { name: 'open', attempts: patience, action: open },
      { name: 'size', action: writeSize },
      { name: 'apply', action: (run) => apply(run, hypervisorOf) },
    ],
    progress: (run, done, of) => progressAction(run.ctx, run.payload.actionId, Math.floor((100 * done) / of)),
    succeeded: async (ctx, payload) => {
      await ctx.db.run(letGo, payload.serviceId);
      const { options } = await findOrder(ctx, payload.serviceId);
      await resizeRoom(ctx, payload.serviceId, machineSize(options)); // what it gave up is free from now on
      await finishAction(ctx, actionOf(payload), null);
    },
    failed: async (ctx, payload, failure) => {
      await ctx.db.run(letGo, payload.serviceId);
      await finishAction(ctx, actionOf(payload), failure);
    },
  });
}

function actionOf({ actionId, organizationId, serviceId }: Payload) {
  return { id: actionId, organizationId, serviceId, command: 'resize' };
}

function open({ ctx, payload }: ResizeRun): Promise<void> {
  return transaction(ctx, 'vps.openResize', async (tx: TxContext) => {
    await lockVps(tx, payload.serviceId);
    if ((await tx.db.maybe(takeMachine, payload.serviceId, payload.actionId)) === null) throw fail('locked');
    await openSystemAction(tx, actionOf(payload));
  });
}

async function writeSize({ ctx, payload }: ResizeRun): Promise<void> {
  const { options } = await findOrder(ctx, payload.serviceId);
  const size = machineSize(options);
  await ctx.db.run(setSize, payload.serviceId, size.cpuCores, size.memoryMib, size.diskGib, size.portMbps);
}

async function apply(run: ResizeRun, hypervisorOf: HypervisorOf): Promise<void> {
  await withMachine(run, hypervisorOf, async (driver, spec, machine) => {
    const { restartNeeded } = await driver.resize(spec);
    if (machine.wanted !== 'running') return tellAddresses(run, driver, spec);
    if (restartNeeded)
      await stopMachine(driver, spec.id, false, run.signal).catch(() => driver.powerOff(spec.id));
    const { power } = await driver.inspect(spec.id);
    // A guest that boots anew finds its addresses there. One that runs on is told once its packet rules let it use them.
    if (power !== 'running') await tellAddresses(run, driver, spec);
    await driver.start(spec);
    if (power === 'running') await tellAddresses(run, driver, spec);
  });
}

const guestFaults: ReadonlySet<HypervisorErrorCode> = new Set(['guest_silent', 'guest_refused']);

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
