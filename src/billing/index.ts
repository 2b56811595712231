/**
 * Money: invoices, what pays them, and the ledger behind every balance. Billing knows nothing of what is sold;
 * paying an invoice enqueues `invoice.paid`, letting it expire `invoice.expired`, giving all of it back `invoice.refunded`, and other
 * rooms react.
 */

import './errors.ts';
import './limits.ts';
import './permissions.ts';

export { expireInvoices } from './expire.ts';
export {
  dueAt,
  issueInvoice,
  type Line,
  type NewInvoice,
  type Tax,
  type Totals,
  taxOf,
  totalsOf,
} from './issue.ts';
export { grantCredit, readCredit } from './ledger.ts';
export { settleFree } from './pay.ts';
export { couponOf, isRefunded } from './refund.ts';
export { billingRoutes } from './routes.ts';
export { billingStaffRoutes } from './staff.ts';
