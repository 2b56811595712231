import {
  accountPersonal,
  accountRoutes,
  apiKeyRoutes,
  authRoutes,
  closingRoutes,
  emailChangeRoutes,
  factorResetRoutes,
  factorRoutes,
  impersonationRoutes,
  keepFactorsRoutes,
  passkeyRoutes,
  passkeySignInRoutes,
  peopleStaffFinds,
  sessionRoutes,
  staffAccountRoutes,
  staffKeyRoutes,
  unsubscribeRoutes,
  userStaffRoutes,
} from './account/index.ts';
import {
  attentionStaffRoutes,
  jobDismissalRoutes,
  jobRetryRoutes,
  needRoutes,
  processLacks,
} from './attention/index.ts';
import {
  bankStatementRoutes,
  billingLacks,
  billingPersonal,
  billingRoutes,
  billingStaffRoutes,
  bookkeeping,
  bookkeepingRoutes,
  company,
  creditReturnStaffRoutes,
  creditRoutes,
  documentRoutes,
  documentStaffRoutes,
  invoiceFinds,
  invoiceNeeds,
  invoiceStaffFinds,
  invoiceStaffRoutes,
  methodNeeds,
  methodRoutes,
  numbering,
  paymentRoutes,
  payments,
  profileRoutes,
  providerStaffRoutes,
  readAccountCredit,
  readBrand,
  returnStaffRoutes,
  taxSettings,
  taxStaffRoutes,
  topUpRoutes,
} from './billing/index.ts';
import { cartLacks, cartRoutes } from './cart/index.ts';
import {
  catalogPersonal,
  catalogRoutes,
  catalogStaffRoutes,
  couponStaffRoutes,
  groupStaffRoutes,
} from './catalog/index.ts';
import {
  auditRoutes,
  eventRoutes,
  eventStaffRoutes,
  eventsPersonal,
  mailStaffRoutes,
} from './events/index.ts';
import { fleetPersonal, fleetStaffRoutes, nodeStaffFinds } from './fleet/index.ts';
import { hearingOf } from './heardByStaff.ts';
import {
  activityRoutes,
  endingOrganizations,
  invitationRoutes,
  memberFinds,
  memberRoutes,
  organizationRoutes,
  organizationStaffFinds,
  organizationStaffRoutes,
  organizationsPersonal,
  ownedOrganizations,
  permissionNames,
} from './organizations/index.ts';
import {
  listRoutes,
  mayAsStaff,
  type Principal,
  platformPersonal,
  type RouteGroup,
} from './platform/http/index.ts';
import type { PersonalRoom } from './platform/index.ts';
import { jobStaffRoutes } from './platform/jobs/staffRoutes.ts';
import { searchRoutes } from './search/index.ts';
import {
  calendar,
  calendarStaffRoutes,
  cancellation,
  figuresRoutes,
  moveRoutes,
  orderStaffRoutes,
  ownedServices,
  priceMoveStaffRoutes,
  prices,
  productUpgradeRoutes,
  review,
  selling,
  serviceFinds,
  serviceNeeds,
  serviceRoutes,
  serviceStaffFinds,
  serviceStaffRoutes,
  servicesPersonal,
  suspendStaffRoutes,
} from './services/index.ts';
import {
  type AnySection,
  brand,
  brandRoutes,
  brandStaffRoutes,
  settingsPersonal,
  settingsStaffRoutes,
} from './settings/index.ts';
import {
  shield,
  shieldMover,
  shieldPersonal,
  shieldRoutes,
  shieldStaffRoutes,
  shieldWatch,
} from './shield/index.ts';
import {
  cannedReplyRoutes,
  feedbackRoutes,
  support,
  ticketFinds,
  ticketNeeds,
  ticketRoutes,
  ticketStaffFinds,
  ticketStaffRoutes,
  ticketsPersonal,
  unclaimedMailRoutes,
} from './tickets/index.ts';
import {
  actionProgress,
  deleteProtection,
  growth,
  sampleWatch,
  screenWatch,
  upgradeRoutes,
  vpsMover,
  vpsPersonal,
  vpsRoutes,
} from './vps/index.ts';
import { webhookRoutes, webhookStaffRoutes, webhooksPersonal } from './webhooks/index.ts';
import { allConcerns, house } from './worker.ts';

/** Everything that staff can set while the product runs. */
const allSettings: AnySection[] = [
  brand,
  company,
  numbering,
  review,
  calendar,
  cancellation,
  payments,
  prices,
  taxSettings,
  bookkeeping,
  support,
  shield,
];

/** What each room knows of people: who exports it, and what closing an account does with it. */
export const allPersonal: PersonalRoom[] = [
  accountPersonal,
  organizationsPersonal,
  eventsPersonal,
  settingsPersonal,
  billingPersonal,
  servicesPersonal,
  shieldPersonal,
  vpsPersonal,
  ticketsPersonal,
  webhooksPersonal,
  fleetPersonal,
  catalogPersonal,
  platformPersonal,
];

/** What somebody of staff may call; asked once all routes are there. */
function operationsOf(principal: Principal): string[] {
  const may = listRoutes(allRoutes).filter((route) => route.auth === 'staff' && mayAsStaff(route, principal));
  return may.map(({ operation }) => operation);
}

/** What streams of events bring that is no entry of the journal. */
const besideJournal = { watches: [sampleWatch, screenWatch, shieldWatch], underWay: [actionProgress] };

/** What the company may lack before it can sell: the host, who sells, what is sold. */
const allLacks = [processLacks, billingLacks, cartLacks];

/** Every endpoint of the product. */
export const allRoutes: RouteGroup[] = [
  catalogRoutes,
  cartRoutes,
  authRoutes,
  brandRoutes(readBrand),
  brandStaffRoutes,
  emailChangeRoutes,
  accountRoutes({ readCredit: readAccountCredit, operationsOf }),
  closingRoutes(allPersonal, { ownedOrganizations, endingOrganizations }),
  apiKeyRoutes(permissionNames()),
  sessionRoutes,
  factorRoutes,
  passkeyRoutes,
  passkeySignInRoutes,
  keepFactorsRoutes,
  unsubscribeRoutes,
  organizationRoutes,
  memberRoutes,
  invitationRoutes,
  activityRoutes,
  documentRoutes,
  billingRoutes,
  profileRoutes,
  methodRoutes,
  paymentRoutes,
  topUpRoutes,
  creditRoutes,
  ...serviceRoutes({ vps: deleteProtection }),
  productUpgradeRoutes({ vps: growth }),
  moveRoutes([vpsMover, shieldMover]),
  upgradeRoutes,
  vpsRoutes,
  shieldRoutes,
  shieldStaffRoutes,
  eventRoutes(besideJournal),
  ticketRoutes,
  feedbackRoutes,
  webhookRoutes,
  organizationStaffRoutes,
  userStaffRoutes,
  factorResetRoutes,
  impersonationRoutes,
  staffAccountRoutes,
  staffKeyRoutes,
  catalogStaffRoutes(selling),
  groupStaffRoutes,
  ...priceMoveStaffRoutes,
  documentStaffRoutes,
  couponStaffRoutes,
  billingStaffRoutes,
  invoiceStaffRoutes(ownedServices),
  orderStaffRoutes,
  bankStatementRoutes,
  creditReturnStaffRoutes,
  returnStaffRoutes,
  providerStaffRoutes,
  taxStaffRoutes,
  bookkeepingRoutes,
  figuresRoutes,
  serviceStaffRoutes,
  ticketStaffRoutes,
  cannedReplyRoutes,
  unclaimedMailRoutes,
  suspendStaffRoutes,
  settingsStaffRoutes(allSettings),
  calendarStaffRoutes,
  attentionStaffRoutes({ concerns: allConcerns, house, lacks: allLacks, operationsOf }),
  mailStaffRoutes,
  auditRoutes,
  eventStaffRoutes(
    hearingOf(() => listRoutes(allRoutes)),
    besideJournal,
  ),
  webhookStaffRoutes,
  jobStaffRoutes,
  jobRetryRoutes,
  jobDismissalRoutes,
  ...fleetStaffRoutes,
  needRoutes([invoiceNeeds, serviceNeeds, methodNeeds, ticketNeeds]),
  ...searchRoutes(
    [serviceFinds, invoiceFinds, ticketFinds, memberFinds],
    [
      organizationStaffFinds,
      peopleStaffFinds,
      serviceStaffFinds,
      invoiceStaffFinds,
      ticketStaffFinds,
      nodeStaffFinds,
    ],
  ),
];
