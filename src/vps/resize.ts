import { type AnySaga, type Run, statement, transaction } from '../platform/index.ts';
import { findOrder, machineSize } from '../services/index.ts';
import { type ActionPayload, actionSaga, withMachine } from './act.ts';
import type { HypervisorOf } from './machine.ts';
import { stopMachine } from './power.ts';

const setSize = statement(
  'vps.setSize',
  `update machines set cpu_cores = $2, memory_mib = $3, disk_gib = greatest(disk_gib, $4), port_mbps = $5
   where service_id = $1`,
);

type ResizeRun = Run<ActionPayload, object>;

/**
 * Gives a machine the size that its service has now. The disk grows while it runs; new cores and memory need a
 * restart, which this does, since they were paid for.
 */
export function resizeSaga(hypervisorOf: HypervisorOf): AnySaga {
  return actionSaga<ActionPayload>({
    command: 'resize',
    steps: [
      { name: 'size', action: writeSize },
      { name: 'apply', action: (run) => apply(run, hypervisorOf) },
    ],
  });
}

async function writeSize({ ctx, payload }: ResizeRun): Promise<void> {
  await transaction(ctx, 'vps.writeSize', async (tx) => {
    const { options } = await findOrder(tx, payload.serviceId);
    const size = machineSize(options);
    await tx.db.run(setSize, payload.serviceId, size.cpuCores, size.memoryMib, size.diskGib, size.portMbps);
  });
}

async function apply(run: ResizeRun, hypervisorOf: HypervisorOf): Promise<void> {
  await withMachine(run, hypervisorOf, async (driver, spec) => {
    const { restartNeeded } = await driver.resize(spec);
    if (!restartNeeded) return;
    await stopMachine(driver, spec.id, false, run.signal).catch(() => driver.powerOff(spec.id));
    await driver.start(spec);
  });
}
