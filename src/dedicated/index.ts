/**
 * Dedicated servers: from the paid order to a server out of the rack that greets by SSH, what its customer does with it, and how it comes back and is wiped. Which server that is the
 * order has held since checkout; what the installer does with it, its power and what its BMC measures are the fleet's.
 */

import './errors.ts';
import './permissions.ts';

import type { AnySaga, ConcernSource, PeriodicJob, Reaction } from '../platform/index.ts';
import { consoleReactions } from './console/reactions.ts';
import { deliveryReactions } from './install/deliver.ts';
import { provision } from './install/provision.ts';
import { leavingReactions } from './leaveServer.ts';
import { leftConcerns } from './left/left.ts';
import { move } from './move/saga.ts';
import { dedicatedConcerns as moveConcerns } from './move/stopped.ts';
import { outOfOrderReactions } from './outOfOrder.ts';
import { powerReactions } from './power.ts';
import { reinstall } from './reinstall/saga.ts';
import { rescue, rescueOff } from './rescue/sagas.ts';
import { comeBack } from './return/comeBack.ts';
import { returnReactions } from './return/reactions.ts';
import { staffRescue, staffRescueOff } from './staffRescue/sagas.ts';
import { suspendReactions, watchSuspendedPeriodicJob } from './suspend/reactions.ts';
import { resumeServer, suspendServer } from './suspend/suspend.ts';

export { bandwidthRoutes } from './bandwidth/routes.ts';
export { rentedConsoles } from './console/room.ts';
export { sealedCredentials } from './credentials/keep.ts';
export { erasureRoutes } from './erasures/routes.ts';
export { dedicatedMails } from './mails.ts';
export { serverMoveRoutes } from './move/routes.ts';
export { sealedMoves } from './move/rows.ts';
export { dedicatedPersonal } from './personal.ts';
export { dedicatedRoutes, proofRoutes } from './routes.ts';
export { staffRescueRoutes } from './staffRescue/routes.ts';

/** What is done to servers outside a request. */
export const dedicatedJobs: AnySaga[] = [
  ...[provision, comeBack, reinstall, rescue, rescueOff, move],
  ...[suspendServer, resumeServer, staffRescue, staffRescueOff],
];

export const dedicatedConcerns: ConcernSource[] = [...moveConcerns, ...leftConcerns];

export const dedicatedPeriodicJobs: PeriodicJob[] = [watchSuspendedPeriodicJob];

export const dedicatedReactions: Reaction[] = [
  ...deliveryReactions,
  ...powerReactions,
  ...consoleReactions,
  ...returnReactions,
  ...leavingReactions,
  ...suspendReactions,
  ...outOfOrderReactions,
];
