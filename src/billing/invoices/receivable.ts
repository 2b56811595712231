import type { TxContext } from '../../platform/index.ts';
import { defer, returnDeferred } from '../ledger/deferred.ts';
import { post } from '../ledger/ledger.ts';
import { deferredOf } from '../ledger/months.ts';
import type { InvoiceKind } from './kind.ts';

/** What an invoice says that is posted of it. Amounts in the currency's minor unit. */
export interface Booked {
  id: number;
  organizationId: number;
  kind: InvoiceKind;
  currency: string;
  taxMinor: number;
  totalMinor: number;
}

/** What each line costs after its discount; of a service or of none. */
export type BookedLines = { service_id: number | null; minor: number }[];

/** What of an invoice is sold: what is for periods is owed as service, the rest is earned at once. */
export interface Sold {
  owed: { serviceId: number; amountMinor: number }[];
  owedMinor: number;
  earnedMinor: number;
  taxMinor: number;
}

/** What an invoice sells, whenever that begins to count. What buys credit sells nothing. */
export function soldBy({ kind, totalMinor, taxMinor }: Booked, lines: BookedLines): Sold {
  if (kind === 'top_up') return { owed: [], owedMinor: 0, earnedMinor: 0, taxMinor: 0 };
  const netMinor = totalMinor - taxMinor;
  const owed = isForPeriods(kind) ? deferredOf(netMinor, lines) : [];
  const owedMinor = owed.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return { owed, owedMinor, earnedMinor: netMinor - owedMinor, taxMinor };
}

/** Whether whoever delivers what an invoice is for says from when to when that is (`beginEarning`). */
function isForPeriods(kind: InvoiceKind): boolean {
  return kind === 'order' || kind === 'renewal' || kind === 'upgrade';
}

/**
 * Whether an invoice counts from the moment it is issued. Not one that buys credit, for which nothing is owed: nobody has
 * to have credit.
 */
export function countsAtIssue(
  { config }: TxContext,
  { kind, totalMinor }: Pick<Booked, 'kind' | 'totalMinor'>,
): boolean {
  return config.invoiceNumbering === 'issue' && kind !== 'top_up' && totalMinor > 0;
}

/** Books an invoice that its customer owes from now on; its row says so (`booked_at_issue`). */
export async function bookIssued(tx: TxContext, invoice: Booked, lines: BookedLines): Promise<void> {
  const { id, organizationId, currency, totalMinor } = invoice;
  const { owed, owedMinor, earnedMinor, taxMinor } = soldBy(invoice, lines);
  await post(tx, {
    kind: 'invoice_issued',
    ...{ organizationId, currency, invoiceId: id, description: `Invoice ${id}`, creditMinor: 0 },
    provider: { receivable: totalMinor, deferred: -owedMinor, revenue: -earnedMinor, tax: -taxMinor },
  });
  await defer(tx, { id, organizationId, currency }, owed);
}

/** Takes back what {@link bookIssued} booked of an invoice that is given up: nobody owes it any more. */
export async function takeBackIssued(tx: TxContext, invoice: Booked): Promise<void> {
  const { id, organizationId, currency, totalMinor, taxMinor } = invoice;
  const netMinor = totalMinor - taxMinor;
  const owedMinor = await returnDeferred(tx, id, netMinor);
  await post(tx, {
    kind: 'invoice_taken_back',
    ...{ organizationId, currency, invoiceId: id, description: `Invoice ${id}, given up`, creditMinor: 0 },
    provider: {
      receivable: -totalMinor,
      deferred: owedMinor,
      revenue: netMinor - owedMinor,
      tax: taxMinor,
    },
  });
}
