import {
  accountRoutes,
  authRoutes,
  emailChangeRoutes,
  factorResetRoutes,
  factorRoutes,
  keepFactorsRoutes,
  passkeyRoutes,
  passkeySignInRoutes,
  sessionRoutes,
  staffAccountRoutes,
  staffKeyRoutes,
  userStaffRoutes,
} from './account/index.ts';
import { attentionStaffRoutes, jobDismissalRoutes } from './attention/index.ts';
import {
  bankStatementRoutes,
  billingRoutes,
  billingStaffRoutes,
  bookkeeping,
  bookkeepingRoutes,
  company,
  creditRoutes,
  documentRoutes,
  documentStaffRoutes,
  invoiceStaffRoutes,
  methodRoutes,
  numbering,
  paymentRoutes,
  profileRoutes,
  providerStaffRoutes,
  readAccountCredit,
  taxSettings,
  taxStaffRoutes,
  topUpRoutes,
} from './billing/index.ts';
import { cartRoutes } from './cart/index.ts';
import { catalogRoutes, catalogStaffRoutes, couponStaffRoutes, groupStaffRoutes } from './catalog/index.ts';
import { mailStaffRoutes } from './events/index.ts';
import { fleetStaffRoutes } from './fleet/index.ts';
import { memberRoutes, organizationRoutes, organizationStaffRoutes } from './organizations/index.ts';
import type { RouteGroup } from './platform/http/index.ts';
import { jobStaffRoutes } from './platform/jobs/staffRoutes.ts';
import {
  calendar,
  calendarStaffRoutes,
  cancellation,
  figuresRoutes,
  orderStaffRoutes,
  ownedServices,
  priceMoveStaffRoutes,
  prices,
  productUpgradeRoutes,
  review,
  selling,
  serviceRoutes,
  serviceStaffRoutes,
  suspendStaffRoutes,
} from './services/index.ts';
import { type AnySection, settingsStaffRoutes } from './settings/index.ts';
import { growth, upgradeRoutes, vpsRoutes } from './vps/index.ts';
import { allConcerns } from './worker.ts';

/** Everything that staff can set while the product runs. */
const allSettings: AnySection[] = [
  company,
  numbering,
  review,
  calendar,
  cancellation,
  prices,
  taxSettings,
  bookkeeping,
];

/** Every endpoint of the product. */
export const allRoutes: RouteGroup[] = [
  catalogRoutes,
  cartRoutes,
  authRoutes,
  emailChangeRoutes,
  accountRoutes(readAccountCredit),
  sessionRoutes,
  factorRoutes,
  passkeyRoutes,
  passkeySignInRoutes,
  keepFactorsRoutes,
  organizationRoutes,
  memberRoutes,
  documentRoutes,
  billingRoutes,
  profileRoutes,
  methodRoutes,
  paymentRoutes,
  topUpRoutes,
  creditRoutes,
  ...serviceRoutes,
  productUpgradeRoutes({ vps: growth }),
  upgradeRoutes,
  vpsRoutes,
  organizationStaffRoutes,
  userStaffRoutes,
  factorResetRoutes,
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
  providerStaffRoutes,
  taxStaffRoutes,
  bookkeepingRoutes,
  figuresRoutes,
  serviceStaffRoutes,
  suspendStaffRoutes,
  settingsStaffRoutes(allSettings),
  calendarStaffRoutes,
  attentionStaffRoutes(allConcerns),
  mailStaffRoutes,
  jobStaffRoutes,
  jobDismissalRoutes,
  ...fleetStaffRoutes,
];
