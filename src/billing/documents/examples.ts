import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

/** A request and its answer for each operation; an answer of bytes is told by its content type. */
export const examples = {
  getInvoicePdf: { params: { id: ids.invoice }, data: null },
  getElectronicInvoice: { params: { id: ids.invoice }, query: { format: 'cii' }, data: null },
  exportInvoices: { query: { from: '2026-01-01', to: '2026-01-31' }, data: null },
  getInvoicePdfAsStaff: { params: { id: ids.invoice }, data: null },
  getElectronicInvoiceAsStaff: { params: { id: ids.invoice }, query: { format: 'cii' }, data: null },
  exportInvoicesAsStaff: { query: { from: '2026-01-01', to: '2026-01-31' }, data: null },
} satisfies Record<string, Example>;
