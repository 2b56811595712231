import type { NeedSource } from '../platform/http/index.ts';
import { dayOf, statement } from '../platform/index.ts';
import { listInvoices } from './invoices/list.ts';
import { type MethodRow, methodColumns } from './methods/method.ts';

/** Invoices that are to be paid, the oldest first. */
export const invoiceNeeds = {
  kinds: ['invoice.unpaid', 'invoice.overdue'],
  permission: 'billing.read',
  find: async (ctx, limit) => {
    const asked = { page: 1, limit, status: 'unpaid', sort: 'created_at' };
    const { invoices } = await listInvoices(ctx, asked);
    return invoices.map(({ id, number, overdue, amount_due: due, currency, duedate }) => ({
      kind: overdue ? 'invoice.overdue' : 'invoice.unpaid',
      ...{ id: String(id), title: number ?? `#${id}`, detail: `${due} ${currency}`, on: duedate },
    }));
  },
} as const satisfies NeedSource;

/** `visa •••• 4242`: the same in every language. */
function calledOf({ brand, type, last4 }: Pick<MethodRow, 'brand' | 'type' | 'last4'>): string {
  return [brand ?? type.replaceAll('_', ' '), last4 && `•••• ${last4}`].filter(Boolean).join(' ');
}

/** Months as numbers, which are compared and counted on. */
const monthOf = (year: number, month: number) => year * 12 + month - 1;

const ending = statement<MethodRow, { organizationId: number; month: number; limit: number }>(
  'billing.endingMethods',
  `select ${methodColumns} from payment_methods
   where organization_id = :organizationId and removed_at is null and expires_year * 12 + expires_month - 1 <= :month
   order by expires_year, expires_month, id limit :limit`,
);

/** Saved methods that are over, or will be by the end of the next month. */
export const methodNeeds = {
  kinds: ['payment_method.expired', 'payment_method.expiring'],
  permission: 'billing.read',
  find: async (ctx, limit) => {
    const now = ctx.clock.now();
    const month = monthOf(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const { organizationId } = ctx;
    const rows = await ctx.db.many(ending, { organizationId, month: month + 1, limit });
    return rows.map(({ id, expires_year: year, expires_month: last, ...method }) => ({
      kind: monthOf(year ?? 0, last ?? 1) < month ? 'payment_method.expired' : 'payment_method.expiring',
      ...{ id: String(id), title: calledOf(method), detail: null },
      // The day before the next month begins.
      on: dayOf(new Date(Date.UTC(year ?? 0, last ?? 1, 0))),
    }));
  },
} as const satisfies NeedSource;
