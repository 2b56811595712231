/**
 * Money: invoices, what pays them, and the ledger behind every balance. Billing knows nothing of what is sold;
 * an invoice that is paid, expires or is refunded is an event, and other rooms react.
 */

import './errors.ts';
import './limits.ts';
import './permissions.ts';

export { readAccountCredit } from './accountCredit.ts';
export { invoiceCancelled, invoiceExpired, invoicePaid, invoiceRefunded } from './events.ts';
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
export { findCredit, grantCredit } from './ledger.ts';
export { billingMails } from './mails.ts';
export { settleFree } from './pay.ts';
export { couponOf, holdInvoice, isPaid, isRefunded } from './refund.ts';
export { billingRoutes } from './routes.ts';
export { billingStaffRoutes } from './staffRoutes.ts';
export { requireFewUnpaid, reservableAddresses } from './unpaid.ts';
