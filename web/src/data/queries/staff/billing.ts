import { staffList, staffThing } from './read.ts';

export const staffInvoices = staffList('/staff/invoices', 'invoices');
export const staffInvoice = staffThing('/staff/invoices/{id}');
export const transfers = staffList('/staff/transfers', 'transfers');
export const bankStatements = staffList('/staff/bank-statements', 'statements');
export const bankStatement = staffThing('/staff/bank-statements/{id}');
export const bankEntries = staffList('/staff/bank-statements/{id}/entries', 'bank_entries');
export const payments = staffList('/staff/payments', 'payments');
export const refunds = staffList('/staff/refunds', 'refunds');
export const creditReturns = staffList('/staff/credit-returns', 'credit_returns');
export const disputes = staffList('/staff/disputes', 'disputes');
export const payouts = staffList('/staff/payouts', 'payouts');
export const unknownPayments = staffList('/staff/unknown-payments', 'payments');
export const taxRates = staffList('/staff/tax/rates', 'rates');
export const taxReport = staffThing('/staff/tax/report');
export const taxStanding = staffThing('/staff/organizations/{id}/tax');
export const bookkeepingPeriods = staffList('/staff/bookkeeping/periods', 'periods');
