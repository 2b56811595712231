import { event } from '../events/index.ts';
import type { InvoiceKind } from './kind.ts';

interface InvoiceCreated {
  user_id: number | null;
  kind: InvoiceKind;
  currency: string;
  total: string;
  duedate: string;
  items: { description: string; amount: string }[];
}

interface InvoicePaid {
  user_id: number | null;
  kind: InvoiceKind;
  method: 'credit' | 'bank_transfer' | 'none';
  currency: string;
  total: string;
}

interface InvoiceEnded {
  user_id: number | null;
  kind: InvoiceKind;
  currency: string;
  total: string;
}

interface InvoiceRefunded {
  user_id: number | null;
  amount: string;
  currency: string;
  method: 'credit';
  reason: string;
  full: boolean;
}

interface CreditGranted {
  user_id: number | null;
  amount: string;
  currency: string;
  description: string;
  invoice_id: number | null;
}

export const invoiceCreated = event<InvoiceCreated>('invoice.created', 'an invoice was issued');
export const invoicePaid = event<InvoicePaid>('invoice.paid', 'an invoice was paid');
export const invoiceExpired = event<InvoiceEnded>(
  'invoice.expired',
  'an invoice was not paid in time and is cancelled',
);
export const invoiceCancelled = event<InvoiceEnded>(
  'invoice.cancelled',
  'its customer cancelled an invoice that was not paid',
);
export const invoiceRefunded = event<InvoiceRefunded>(
  'invoice.refunded',
  'money of an invoice was given back, all of it or a part',
);
export const creditGranted = event<CreditGranted>(
  'credit.granted',
  'an organization got credit: by staff, or by a transfer for an invoice that was cancelled before',
);
