import { accountRoutes, staffKeyRoutes, userStaffRoutes } from './account/index.ts';
import { attentionStaffRoutes, jobDismissalRoutes } from './attention/index.ts';
import {
  bankStatementRoutes,
  billingRoutes,
  billingStaffRoutes,
  company,
  creditRoutes,
  documentRoutes,
  documentStaffRoutes,
  methodRoutes,
  numbering,
  paymentRoutes,
  profileRoutes,
  readAccountCredit,
  taxSettings,
  taxStaffRoutes,
  topUpRoutes,
} from './billing/index.ts';
import { cartRoutes } from './cart/index.ts';
import { catalogRoutes, catalogStaffRoutes, couponStaffRoutes } from './catalog/index.ts';
import { mailStaffRoutes } from './events/index.ts';
import { fleetStaffRoutes } from './fleet/index.ts';
import { organizationRoutes, organizationStaffRoutes } from './organizations/index.ts';
import type { RouteGroup } from './platform/http/index.ts';
import { jobStaffRoutes } from './platform/jobs/staffRoutes.ts';
import {
  calendar,
  calendarStaffRoutes,
  cancellation,
  orderStaffRoutes,
  productUpgradeRoutes,
  review,
  serviceRoutes,
  serviceStaffRoutes,
  suspendStaffRoutes,
} from './services/index.ts';
import { type AnySection, settingsStaffRoutes } from './settings/index.ts';
import { growth, upgradeRoutes, vpsRoutes } from './vps/index.ts';
import { allConcerns } from './worker.ts';

/** Everything that staff can set while the product runs. */
const allSettings: AnySection[] = [company, numbering, review, calendar, cancellation, taxSettings];

/** Every endpoint of the product. */
export const allRoutes: RouteGroup[] = [
  catalogRoutes,
  cartRoutes,
  accountRoutes(readAccountCredit),
  organizationRoutes,
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
  staffKeyRoutes,
  catalogStaffRoutes,
  documentStaffRoutes,
  couponStaffRoutes,
  billingStaffRoutes,
  orderStaffRoutes,
  bankStatementRoutes,
  taxStaffRoutes,
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
