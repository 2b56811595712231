import { errors } from '../platform/index.ts';

const billingErrors = errors({
  invoice_not_payable: [409, 'This invoice is not open for payment'],
  insufficient_credit: [409, 'There is not enough account credit to pay this invoice'],
  invalid_amount: [400, 'The amount is not valid'],
  document_incomplete: [409, 'This document lacks something that its form needs'],
  payment_mismatch: [409, 'The amount received is not the amount due'],
  payment_provider_missing: [
    503,
    'There is no payment provider here; pay by bank transfer or with account credit',
  ],
  payment_provider_unavailable: [503, 'The payment provider does not answer right now; try again shortly'],
  payment_method_unknown: [400, 'The organization has no such payment method; list them, or add one'],
  payment_too_small: [
    409,
    'The amount is less than can be paid by card; pay from account credit or by transfer',
  ],
  payment_not_possible: [409, 'The payment provider does not take such an amount; pay in another way'],
  signature_invalid: [400, 'The signature is not that of this message'],
  period_open: [
    409,
    'The books of this month are not closed yet; they close by themselves an hour after its end, once all of it is earned',
  ],
  bookkeeping_incomplete: [
    409,
    'DATEV needs the numbers of the consultant and the client; set them in the settings, section bookkeeping',
  ],
  invalid_statement: [400, 'This is not a bank statement that can be read'],
});

type BillingErrors = typeof billingErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends BillingErrors {}
}
