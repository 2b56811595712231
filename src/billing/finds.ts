import { type FindSource, type Found, firstOf, type StaffFindSource } from '../platform/http/index.ts';
import { listInvoicesForStaff } from './invoices/invoiceStaff.ts';
import { listInvoices } from './invoices/list.ts';

/** A customer's invoices by the beginning of their number. */
export const invoiceFinds = {
  kind: 'invoice',
  permission: 'billing.read',
  find: async (ctx, words, limit) => (await listInvoices(ctx, firstOf(words, limit))).invoices.map(asFound),
} as const satisfies FindSource;

/** The same of everybody's. */
export const invoiceStaffFinds = {
  kind: 'invoice',
  staffRoles: ['administrator', 'billing', 'support'],
  find: async (ctx, words, limit) =>
    (await listInvoicesForStaff(ctx, firstOf(words, limit))).invoices.map(asFound),
} as const satisfies StaffFindSource;

interface Shown {
  id: number;
  number: string | null;
  total: string;
  currency: string;
  status: string;
}

function asFound({ id, number, total, currency, status }: Shown): Found {
  return { id: String(id), title: number ?? `#${id}`, detail: `${total} ${currency}`, status };
}
