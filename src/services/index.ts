/**
 * What customers own. An order makes services that are pending; a paid invoice has them delivered by the room
 * of their kind; an invoice nobody paid gives everything back that they held.
 */

import './errors.ts';
import './permissions.ts';

export { createServices, type NewService } from './create.ts';
export {
  completeDelivery,
  dropPassword,
  failDelivery,
  findOrder,
  markProvisioning,
  type Order,
  openPassword,
} from './delivery/delivery.ts';
export { serviceJobs } from './jobs.ts';
export { isStrongPassword } from './password.ts';
export { serviceRoutes } from './routes.ts';
export { type MachineSize, machineSize } from './size.ts';
export { serviceStaffRoutes } from './staffRoutes.ts';
