import { job, statement, transaction } from '../../platform/index.ts';
import { closingPages } from '../payments/settle.ts';
import { requireOurAccount } from './customer.ts';
import { providerOutages } from './provider.ts';
import { lookAt } from './receive.ts';

const openPages = statement<{ page_reference: string }, { invoiceId: number; driver: string }>(
  'billing.openPages',
  `select page_reference from charges where invoice_id = :invoiceId and driver = :driver and state = 'open'
     and page_reference is not null`,
);

/** Closes the pages of an invoice that is paid or given up. What was paid there a moment before is booked. */
export const pageClosing = job<{ invoiceId: number }>(
  closingPages.name,
  async ({ ctx, drivers, payload: { invoiceId } }) => {
    const { payments } = drivers;
    for (const { page_reference: reference } of await ctx.db.many(openPages, {
      invoiceId,
      driver: payments.kind,
    })) {
      const about = { kind: 'page', reference } as const;
      if (!(await payments.closePage(reference))) await requireOurAccount(ctx, payments, about);
      await transaction(ctx, 'billing.lookAtClosed', (tx) => lookAt(tx, about));
    }
  },
  { attempts: 8, outages: providerOutages },
);
