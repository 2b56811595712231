/**
 * The VPS manager: machines from the paid order to the customer's last power action. What is wanted stands in
 * the database; sagas make it so through the hypervisor, and the reconciler repairs or flags what differs.
 */

import './limits.ts';
import './permissions.ts';

import type { AnySaga, PeriodicJob, Reaction } from '../platform/index.ts';
import { updateAccess } from './access/keys.ts';
import { passwordReset } from './access/password.ts';
import { deliveryReactions } from './install/deliver.ts';
import { provision } from './install/provision.ts';
import { reinstall } from './install/reinstall.ts';
import { chartPeriodicJob, emptyChartsPeriodicJob } from './keepCharts.ts';
import { letGoReactions } from './letGo.ts';
import { moveIntoCluster } from './moves/intoCluster.ts';
import { moveMachine } from './moves/move.ts';
import { powerSagas } from './power.ts';
import { recoverMachine } from './recovery/saga.ts';
import { rename } from './settings.ts';
import { backupPeriodicJob } from './snapshots/backups.ts';
import { snapshotSagas } from './snapshots/sagas.ts';
import { suspendReactions } from './suspend/reactions.ts';
import { suspendMachine } from './suspend/suspend.ts';
import { terminateMachine } from './suspend/terminate.ts';
import { upgradeReactions } from './upgrade/reactions.ts';
import { resize } from './upgrade/resize.ts';

export { generatePassword, requireHostname, requireStrong } from './access/identity.ts';
export { initiatorOf, viewAction } from './actions/history.ts';
export { sealedSecrets } from './actions/secrets.ts';
export { actionProgress } from './actions/underWay.ts';
export { adoptRoutes } from './adopt/staffRoutes.ts';
export { resolutions } from './chartParts.ts';
export { createSampler, sampleWatch } from './charts.ts';
export { vpsConcerns } from './concerns.ts';
export { hypervisorElsewhere } from './console/lines/elsewhere.ts';
export { machineConsoles, machinesToOthers } from './console/room.ts';
export { screenWatch } from './console/screen.ts';
export { vpsMails } from './mails.ts';
export { vpsMeasures } from './measures.ts';
export { vpsMover } from './move.ts';
export { evacuationRoutes } from './moves/staffRoutes.ts';
export { nameIp, type ReverseNames, viewIpsOf } from './overview.ts';
export { vpsPersonal } from './personal.ts';
export { deleteProtection } from './protection.ts';
export { type ActionRow, initiatorName, initiatorOwner } from './queries.ts';
export { createReconciler, onMachineEvent } from './reconcile.ts';
export { createClusterReconciler } from './reconcileCluster.ts';
export { recoveryRoutes } from './recovery/staffRoutes.ts';
export { vpsRoutes } from './routes.ts';
export {
  Action,
  ActionData,
  ActionWithPassword,
  Force,
  History,
  HistoryParams,
  HistoryQuery,
  Hostname,
  IpChange,
  IpData,
  Ips,
  KeyIds,
  Password,
  Traffic,
  UserData,
} from './schema.ts';
export { lateBackupMeasures } from './snapshots/lateBackups.ts';
export { findUnknownMachines } from './unknown.ts';
export { growth } from './upgrade/change.ts';
export { upgradeRoutes } from './upgrade/routes.ts';

/** Everything that is done to machines outside a request. */
export const vpsJobs: AnySaga[] = [
  provision,
  ...powerSagas,
  reinstall,
  ...snapshotSagas,
  passwordReset,
  updateAccess,
  rename,
  resize,
  moveMachine,
  moveIntoCluster,
  recoverMachine,
  suspendMachine,
  terminateMachine,
];

export const vpsReactions: Reaction[] = [
  ...deliveryReactions,
  ...upgradeReactions,
  ...suspendReactions,
  ...letGoReactions,
];

export const vpsPeriodicJobs: PeriodicJob[] = [backupPeriodicJob, chartPeriodicJob, emptyChartsPeriodicJob];
