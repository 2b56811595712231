import { jobStateAbout, statement, type TxContext } from '../../platform/index.ts';
import type { Payable } from '../invoices/payable.ts';
import { closePages, closingPages } from '../payments/settle.ts';

/** How long a page that was asked about is waited for before it is asked about once more. */
export const askedAgainMs = 3_600_000;

const openPages = statement<
  { id: number; is_asked: boolean },
  { invoiceId: number; driver: string; since: Date; now: Date }
>(
  'billing.pagesToAsk',
  `select id, coalesce(page_asked_at between :since and :now, false) as is_asked from charges
   where invoice_id = :invoiceId and driver = :driver and state = 'open' and page_reference is not null order by id`,
);
const noteAsked = statement<never, { ids: number[]; now: Date }>(
  'billing.noteAskedPages',
  'update charges set page_asked_at = :now where id = any(:ids::bigint[])',
);

/**
 * Whether an invoice may have been paid on a page of the payment provider without our having looked yet, as after a standstill of
 * the worker. Its pages are then closed and looked at; whoever is about to end something for want of the money comes back later.
 * The invoice's row is locked.
 */
export async function mayBePaid(
  tx: TxContext,
  invoice: Pick<Payable, 'id' | 'organization_id'>,
): Promise<boolean> {
  const { payments: driver } = tx.config;
  const now = tx.clock.now();
  const since = new Date(now.getTime() - askedAgainMs);
  const pages = await tx.db.many(openPages, { invoiceId: invoice.id, driver, since, now });
  if (pages.length === 0) return false;
  const ids = pages.filter(({ is_asked }) => !is_asked).map(({ id }) => id);
  if (ids.length === 0) return true;
  await tx.db.run(noteAsked, { ids, now });
  const job = await jobStateAbout(tx, closingPages, { invoiceId: invoice.id });
  // One that is under way asks; one that failed is tried again by itself, or stands in staff's list.
  if (job === null || job === 'done') await closePages(tx, invoice);
  return true;
}
