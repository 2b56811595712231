/**
 * What customers own. An order makes services that are pending; a paid invoice has them delivered by the room
 * of their kind, or by staff; an invoice nobody paid gives everything back that they held. From then on they are renewed by
 * their calendar or their customer, become another product, go over to new prices, are suspended, cancelled, and end.
 */

import './errors.ts';
import './permissions.ts';
import './undoing.ts';

export { calendarStaffRoutes } from './calendar/routes.ts';
export { attendCalendar, nextToAttend } from './calendar/work.ts';
export type { EndingGuard } from './cancel/guard.ts';
export { cancellation } from './cancel/settings.ts';
export { changeDueAt } from './changeDue.ts';
export { serviceConcerns } from './concerns.ts';
export { createServices, type NewService, sealedPasswords } from './create.ts';
export { lockServicesOf } from './delivery/cancelUndelivered.ts';
export {
  completeDelivery,
  failDelivery,
  markProvisioning,
  notWanted,
  type Order,
  openPassword,
  requireOrder,
  requireWanted,
} from './delivery/delivery.ts';
export {
  deliveryWanted,
  productChanged,
  productChangeEnded,
  serviceRetried,
  serviceSuspended,
  serviceTerminated,
  serviceUnsuspended,
  serviceUpgraded,
  upgradeExpired,
} from './events.ts';
export { notingRecurring } from './figures/record.ts';
export { figuresRoutes } from './figures/routes.ts';
export { serviceFinds, serviceStaffFinds } from './finds.ts';
export { choiceOf, dedicatedOptions } from './kinds/dedicated.ts';
export type { Kind } from './kinds/kind.ts';
export { selling } from './kinds/selling.ts';
export { kindOf, kinds } from './kinds/table.ts';
export { resourcesOf, type VpsOptions, vpsOptions } from './kinds/vps.ts';
export { serviceMails } from './mails.ts';
export type { Mover } from './move/move.ts';
export { moveRoutes } from './move/routes.ts';
export { serviceNeeds } from './needs.ts';
export { ownedServices } from './owned.ts';
export { hashServerPassword, isStrongPassword } from './password.ts';
export { writePeriod } from './periods.ts';
export { servicesPersonal } from './personal.ts';
export { priceMoveStaffRoutes } from './priceMoves/routes.ts';
export { prices } from './priceMoves/settings.ts';
export { carryOutPriceMoves, nextOfPriceMoves } from './priceMoves/work.ts';
export { prorate, prorateRise, remainingOf } from './prorate.ts';
export { serviceReactions } from './reactions.ts';
export { closeRenewal } from './renew/issue.ts';
export { review } from './review/rules.ts';
export { orderStaffRoutes } from './review/staffRoutes.ts';
export { serviceRoutes } from './routes.ts';
export { calendar } from './settings.ts';
export { serviceStaffRoutes } from './staffRoutes.ts';
export { requireAction } from './states.ts';
export { suspendStaffRoutes } from './suspend/routes.ts';
export { changeTerms, lockTerms, type NewTerms, requireTerms, type Terms } from './terms.ts';
export { billTrafficPeriodicJob } from './traffic/billOften.ts';
export { readTrafficTerms } from './traffic/metered.ts';
export { settleTrafficPeriodicJob } from './traffic/settle.ts';
export { tellOfTrafficPeriodicJob } from './traffic/tell.ts';
export { applyDueChanges, nextChange } from './upgrade/apply.ts';
export type { Growth } from './upgrade/growth.ts';
export { findChange } from './upgrade/queries.ts';
export { productUpgradeRoutes } from './upgrade/routes.ts';
export { whatKeeps } from './upgrade/underWay.ts';
