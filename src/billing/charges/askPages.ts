import type { About } from '../../drivers/payments/index.ts';
import { isJobUnfinishedAbout, type NamedJob, statement, type TxContext } from '../../platform/index.ts';
import type { Payable } from '../invoices/payable.ts';
import { closePages, closingPages } from '../payments/settle.ts';

/** How long a page that was asked about is waited for before it is asked about once more. */
export const askedAgainMs = 3_600_000;

/**
 * How often an invoice waits for that. Whoever has the link opens a page after each, and what is not paid for would never end; yet
 * the page after the first may be one that was paid on while nobody here heard of it.
 */
const mostAsks = 3;

/** After that the count begins anew: what was to end then was spared otherwise, and is about to end again. */
const countedForMs = 7 * 86_400_000;

const openPages = statement<
  { id: number; page: string; is_asked: boolean; asks: number },
  { invoiceId: number; driver: string; since: Date; from: Date; now: Date }
>(
  'billing.pagesToAsk',
  `select id, page_reference as page, coalesce(page_asked_at between :since and :now, false) as is_asked,
     (select coalesce(max(a.page_asks), 0) from charges a where a.invoice_id = :invoiceId and a.driver = :driver
       and a.page_asked_at between :from and :now) as asks
   from charges
   where invoice_id = :invoiceId and driver = :driver and state = 'open' and page_reference is not null order by id`,
);
const noteAsked = statement<never, { ids: number[]; asks: number; now: Date }>(
  'billing.noteAskedPages',
  'update charges set page_asked_at = :now, page_asks = :asks where id = any(:ids::bigint[])',
);

/** Looks at a page; see `follow.ts`. */
const looking: NamedJob<{ about: About }> = { name: 'billing.followProvider' };

/**
 * Whether an invoice may have been paid on a page of the payment provider without our having looked yet, as after a standstill of
 * the worker. Its pages are then closed and looked at; whoever is about to end something for want of the money comes back later.
 * Pages that are opened after that are asked about again, a few times; what is paid on one after the last time becomes credit.
 * A time at which nobody could look does not count. The invoice's row is locked.
 */
export async function mayBePaid(
  tx: TxContext,
  invoice: Pick<Payable, 'id' | 'organization_id'>,
): Promise<boolean> {
  const { payments: driver } = tx.config;
  const { id: invoiceId } = invoice;
  const now = tx.clock.now();
  const since = new Date(now.getTime() - askedAgainMs);
  const from = new Date(now.getTime() - countedForMs);
  const pages = await tx.db.many(openPages, { invoiceId, driver, since, from, now });
  const [first] = pages;
  if (first === undefined) return false;
  const { asks } = first;
  const isClosing = await isJobUnfinishedAbout(tx, closingPages, { invoiceId });
  const isAnswered = !isClosing && !(await isToBeLookedAt(tx, pages));
  const unasked = pages.filter(({ is_asked }) => !is_asked).map(({ id }) => id);
  if (isAnswered && asks >= mostAsks && unasked.length === pages.length) return false;
  if (unasked.length === 0) return true;
  // One that is under way asks; one that failed is tried again by itself, or stands in staff's list until somebody dismisses it.
  await tx.db.run(noteAsked, { ids: unasked, asks: isAnswered ? asks + 1 : asks, now });
  if (isAnswered) await closePages(tx, invoice);
  return true;
}

/** Whether a look at one of the pages is under way, or failed. */
async function isToBeLookedAt(tx: TxContext, pages: { page: string }[]): Promise<boolean> {
  for (const { page: reference } of pages)
    if (await isJobUnfinishedAbout(tx, looking, { about: { kind: 'page', reference } })) return true;
  return false;
}
