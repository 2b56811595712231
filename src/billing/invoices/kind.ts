import { paymentProviders } from '../../config.ts';

/** What an invoice is for; `manual`: what staff says, and what traffic of a service that has ended came to. */
export const invoiceKinds = [
  'order',
  'renewal',
  'upgrade',
  'late_fee',
  'top_up',
  'manual',
  'credit_note',
] as const;

export type InvoiceKind = (typeof invoiceKinds)[number];

/** How money came in: by which payment provider, if by one. `none` pays what asks for nothing. */
export const paymentMethods = ['credit', 'bank_transfer', ...paymentProviders, 'none'] as const;

export type PaymentMethod = (typeof paymentMethods)[number];
