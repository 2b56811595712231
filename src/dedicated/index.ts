/**
 * Dedicated servers: from the paid order to a server out of the rack that greets by SSH. Which server that is the order has held since checkout; what
 * the installer does with it, and how it is switched, is the fleet's (`fleet/assignments`).
 */

import type { AnySaga, Reaction } from '../platform/index.ts';
import { deliveryReactions } from './install/deliver.ts';
import { provision } from './install/provision.ts';

/** What is done to servers outside a request. */
export const dedicatedJobs: AnySaga[] = [provision];

export const dedicatedReactions: Reaction[] = deliveryReactions;
