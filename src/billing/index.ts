/**
 * Money: invoices and their documents, the tax on them, what pays them, and the ledger behind every balance, with what
 * bookkeepers get of it. Billing knows nothing of what is sold;
 * an invoice that is paid, expires or is refunded is an event, and other rooms react.
 */

import './errors.ts';
import './limits.ts';
import './permissions.ts';

export { type Month, monthOf, monthsLater } from './bookkeeping/month.ts';
export { bookkeepingRoutes } from './bookkeeping/routes.ts';
export { bookkeeping } from './bookkeeping/settings.ts';
export { mayBePaid } from './charges/askPages.ts';
export { chargeConcerns } from './charges/concerns.ts';
export { isOnItsWay, reasonOfOpen, renewalOf } from './charges/onItsWay.ts';
export { paymentRoutes } from './charges/routes.ts';
export { chargeSaved } from './charges/saved.ts';
export { sendableOf } from './charges/sendBack.ts';
export { creditReturnStaffRoutes } from './creditReturns/routes.ts';
export { readBrand } from './documents/brand.ts';
export { company } from './documents/company.ts';
export { printSheet } from './documents/printSheet.ts';
export { documentRoutes } from './documents/routes.ts';
export type { Sheet, SheetPart } from './documents/sheet.ts';
export { documentStaffRoutes } from './documents/staffRoutes.ts';
export {
  disputeClosed,
  invoiceCancelled,
  invoiceCreated,
  invoiceExpired,
  invoicePaid,
  invoicePaidAgain,
  invoiceRefunded,
  restoreReleased,
} from './events.ts';
export { type MoneyOfMonth, moneyFigures } from './figures/money.ts';
export { invoiceFinds, invoiceStaffFinds } from './finds.ts';
export { cancelInvoice, cancelInvoicesOf, withdrawInvoice } from './invoices/cancel.ts';
export { lockForCorrection } from './invoices/creditNote.ts';
export { expireInvoices, nextExpiring } from './invoices/expire.ts';
export {
  dueAt,
  endOfDay,
  issueInvoice,
  type Line,
  type NewInvoice,
} from './invoices/issue.ts';
export { numbering } from './invoices/numbering.ts';
export {
  dueBefore,
  lockForServices,
  type PaidInvoice,
  paidFor,
  refundedFor,
  takenBackInPart,
  unpaidFor,
  wasConsumer,
} from './invoices/ofService.ts';
export { priceOfQuantity } from './invoices/quantity.ts';
export { recurringDiscountOf } from './invoices/recurringCoupon.ts';
export { invoiceStaffRoutes } from './invoices/staffRoutes.ts';
export { type Totals, totalsOf } from './invoices/totals.ts';
export { requireFewUnpaid, reservableAddresses } from './invoices/unpaid.ts';
export { billingJobs, billingPeriodicJobs } from './jobs.ts';
export { billingLacks } from './lacks.ts';
export { readAccountCredit } from './ledger/accountCredit.ts';
export { ledgerMeasures } from './ledger/check.ts';
export { ledgerConcerns } from './ledger/concerns.ts';
export {
  beginEarning,
  carryEarning,
  earnRest,
  moveEarning,
  upgradeIsUnderWay,
  upgradesUnderWay,
} from './ledger/deferred.ts';
export { grantCredit } from './ledger/ledger.ts';
export { creditRoutes } from './ledger/routes.ts';
export { billingMails } from './mails.ts';
export { methodRoutes } from './methods/routes.ts';
export { invoiceNeeds, methodNeeds } from './needs.ts';
export { settleFree } from './payments/pay.ts';
export {
  couponOf,
  holdInvoice,
  isPaid,
  isRefunded,
  ordererOf,
  statusOf,
  wasTakenBack,
} from './payments/refund.ts';
export { refundInvoice } from './payments/refundInvoice.ts';
export { decideUndoing, type Fate, giveBackRest, noteUndone, type Sold } from './payments/rest.ts';
export { topUpRoutes } from './payments/routes.ts';
export { payments } from './payments/settings.ts';
export { providerStaffRoutes } from './payouts/routes.ts';
export { billingPersonal } from './personal.ts';
export { readAddressees } from './profile/addressees.ts';
export { profileRoutes } from './profile/routes.ts';
export { returnStaffRoutes } from './returns/routes.ts';
export { billingRoutes } from './routes.ts';
export { billingStaffRoutes } from './staffRoutes.ts';
export { statementConcerns } from './statements/concerns.ts';
export { matchStatement } from './statements/match.ts';
export { bankStatementRoutes } from './statements/routes.ts';
export { askDueTaxIds, nextTaxId } from './tax/ask.ts';
export { taxConcerns } from './tax/concerns.ts';
export { correctTaxes, nextAnswered } from './tax/correct.ts';
export { taxStaffRoutes } from './tax/routes.ts';
export { taxSettings } from './tax/settings.ts';
export { lockForTax, type Tax, taxOf, taxOfVisitor, untaxed } from './tax/taxOf.ts';
