import { errors } from '../platform/index.ts';

const billingErrors = errors({
  invoice_not_payable: [409, 'This invoice is not open for payment'],
  insufficient_credit: [409, 'There is not enough account credit to pay this invoice'],
  invalid_amount: [400, 'The amount is not valid'],
  payment_mismatch: [409, 'The amount received is not the amount due'],
});

type BillingErrors = typeof billingErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends BillingErrors {}
}
