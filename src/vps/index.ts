/**
 * The VPS manager: machines from the paid order to the customer's last power action. What is wanted stands in
 * the database; sagas make it so through the hypervisor, and the reconciler repairs or flags what differs.
 */

import './errors.ts';
import './limits.ts';
import './permissions.ts';

import type { AnySaga, Routine } from '../platform/index.ts';
import { accessSaga } from './access/keys.ts';
import { passwordSaga } from './access/password.ts';
import { chartRoutine } from './charts.ts';
import { ticketRoutine } from './console/open.ts';
import { provisionSaga } from './install/provision.ts';
import { reinstallSaga } from './install/reinstall.ts';
import type { HypervisorOf } from './machine.ts';
import { powerSagas } from './power.ts';
import { renameSaga } from './settings.ts';
import { backupRoutine } from './snapshots/backups.ts';
import { snapshotSagas } from './snapshots/snapshots.ts';
import { resizeSaga } from './upgrade/resize.ts';

export { createSampler, resolutions } from './charts.ts';
export { serveConsoles } from './console/server.ts';
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
