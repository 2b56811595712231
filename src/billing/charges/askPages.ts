import type { About } from '../../drivers/payments/index.ts';
import {
  isJobOpenAbout,
  jobStateAbout,
  type NamedJob,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import type { Payable } from '../invoices/payable.ts';
import { closePages, closingPages } from '../payments/settle.ts';

/** How long a page that was asked about is waited for before it is asked about once more. */
export const askedAgainMs = 3_600_000;

/** How long an answer holds, also for pages that were opened after the question. */
const answeredForMs = 7 * 86_400_000;

const openPages = statement<
  { id: number; page: string; is_asked: boolean; was_asked: boolean },
  { invoiceId: number; driver: string; since: Date; from: Date; now: Date }
>(
  'billing.pagesToAsk',
  `select id, page_reference as page, coalesce(page_asked_at between :since and :now, false) as is_asked,
     exists (select 1 from charges a where a.invoice_id = :invoiceId and a.driver = :driver
       and a.page_asked_at >= :from and a.page_asked_at < :since) as was_asked
   from charges
   where invoice_id = :invoiceId and driver = :driver and state = 'open' and page_reference is not null order by id`,
);
const noteAsked = statement<never, { ids: number[]; now: Date }>(
  'billing.noteAskedPages',
  'update charges set page_asked_at = :now where id = any(:ids::bigint[])',
);

/** Looks at a page; see `follow.ts`. */
const looking: NamedJob<{ about: About }> = { name: 'billing.followProvider' };

/**
 * Whether an invoice may have been paid on a page of the payment provider without our having looked yet, as after a standstill of
 * the worker. Its pages are then closed and looked at; whoever is about to end something for want of the money comes back later.
 * Once that was done, a page that somebody opened meanwhile is waited for no more: whoever has the link opens one a day, and what
 * is not paid for would never end. What is paid there all the same becomes credit. The invoice's row is locked.
 */
export async function mayBePaid(
  tx: TxContext,
  invoice: Pick<Payable, 'id' | 'organization_id'>,
): Promise<boolean> {
  const { payments: driver } = tx.config;
  const { id: invoiceId } = invoice;
  const now = tx.clock.now();
  const since = new Date(now.getTime() - askedAgainMs);
  const from = new Date(now.getTime() - answeredForMs);
  const pages = await tx.db.many(openPages, { invoiceId, driver, since, from, now });
  if (pages.length === 0) return false;
  const job = await jobStateAbout(tx, closingPages, { invoiceId });
  const isClosed = job === null || job === 'done';
  if (isClosed && pages.every(({ was_asked }) => was_asked) && !(await isBeingLookedAt(tx, pages)))
    return false;
  const ids = pages.filter(({ is_asked }) => !is_asked).map(({ id }) => id);
  if (ids.length === 0) return true;
  await tx.db.run(noteAsked, { ids, now });
  // One that is under way asks; one that failed is tried again by itself, or stands in staff's list.
  if (isClosed) await closePages(tx, invoice);
  return true;
}

async function isBeingLookedAt(tx: TxContext, pages: { page: string }[]): Promise<boolean> {
  for (const { page: reference } of pages)
    if (await isJobOpenAbout(tx, looking, { about: { kind: 'page', reference } })) return true;
  return false;
}
