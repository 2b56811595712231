/**
 * The VPS manager: machines from the paid order to the customer's last power action. What is wanted stands in
 * the database; sagas make it so through the hypervisor, and the reconciler repairs or flags what differs.
 */
import type { AnySaga, Routine } from '../platform/index.ts';
import { accessSaga } from './access.ts';
import { backupRoutine } from './backups.ts';
import { chartRoutine } from './charts.ts';
import { ticketRoutine } from './console.ts';
import type { HypervisorOf } from './machine.ts';
import { passwordSaga } from './password.ts';
import { powerSagas } from './power.ts';
import { provisionSaga } from './provision.ts';
import { reinstallSaga } from './reinstall.ts';
import { resizeSaga } from './resize.ts';
import { renameSaga } from './settings.ts';
import { snapshotSagas } from './snapshots.ts';

export { createSampler, resolutions } from './charts.ts';
export { serveConsoles } from './consoleServer.ts';
export type { HypervisorOf } from './machine.ts';
export { onMachineEvent, reconcileNode } from './reconcile.ts';
export { vpsRoutes } from './routes.ts';

/** Everything that is done to machines outside a request. */
export function vpsJobs(hypervisorOf: HypervisorOf): AnySaga[] {
  return [
    provisionSaga(hypervisorOf),
    ...powerSagas(hypervisorOf),
    reinstallSaga(hypervisorOf),
    ...snapshotSagas(hypervisorOf),
    passwordSaga(hypervisorOf),
    accessSaga(hypervisorOf),
    renameSaga(hypervisorOf),
    resizeSaga(hypervisorOf),
  ];
}

export const vpsRoutines: Routine[] = [backupRoutine, chartRoutine, ticketRoutine];
