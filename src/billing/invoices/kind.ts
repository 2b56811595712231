/** What an invoice is for. */
export type InvoiceKind = 'order' | 'renewal' | 'upgrade' | 'late_fee' | 'top_up' | 'manual' | 'credit_note';

/** How money came in: by which payment provider, if by one. `none` pays what asks for nothing. */
export type PaymentMethod = 'credit' | 'bank_transfer' | 'stripe' | 'none';
