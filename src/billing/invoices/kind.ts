/** What an invoice is for. */
export type InvoiceKind = 'order' | 'renewal' | 'upgrade' | 'top_up';
