import { type Context, statement } from '../../platform/index.ts';

/** A debit has an answer after three weeks at most, holidays and all. */
const mostDaysOnItsWay = 30;

/** SQL for since when the newest payment of an invoice is on its way that the provider has not answered for; null for none. */
export const comingSince = (invoice: string) =>
  `(select max(coalesce(c.pending_at, c.created_at)) from charges c where c.invoice_id = ${invoice} and c.state = 'pending')`;

const coming = statement<{ since: Date | null }, { invoiceId: number }>(
  'billing.paymentComing',
  `select ${comingSince(':invoiceId::bigint')} as since`,
);

/**
 * Whether a payment, such as a debit, is on its way, so that the customer should neither pay a second time nor give up what they have
 * paid for. Nothing is waited for longer than a bank takes.
 */
export function isComing(since: Date | null, now: Date): boolean {
  return since !== null && now.getTime() - since.getTime() < mostDaysOnItsWay * 86_400_000;
}

/** The same of one invoice, whose row is locked where something hangs on it. */
export async function isPaymentComing(ctx: Context, invoiceId: number): Promise<boolean> {
  return isComing((await ctx.db.one(coming, { invoiceId })).since, ctx.clock.now());
}

/**
 * SQL that says whether money for an invoice is on its way: our payment provider was asked for it, and has not answered; a page
 * that was only opened is no money. It counts once. When it came back after `since`, what is sent after it does not count, or
 * a debit that fails again and again would pay for a service for ever; the same holds of a saved method that declines,
 * unless we are the ones who ask again, for a month at most. Of a provider that is not ours any more nothing will be heard. `before`
 * is SQL that selects the ids of other invoices for the same: what came back of them counts as well. Takes `:driver` and `:now`.
 */
export const isOnItsWay = (invoice: string, since: string, before?: string) => {
  const cameBack = `h.state = 'failed' and h.finished_at >= ${since}`;
  const longAgo = `:now::timestamptz - make_interval(days => ${mostDaysOnItsWay})`;
  // One array that is made before: with `or` or a join no index would find the charges, and each row would read all there are.
  const each = before === undefined ? invoice : `any(array(${before}) || ${invoice})`;
  // A process of the version before, beside this one, does not say since when.
  const pendingAt = 'coalesce(h.pending_at, h.created_at)';
  const count = (what: string) => `count(*) filter (where ${what})`;
  const countHere = (what: string) => count(`h.invoice_id = ${invoice} and ${what}`);
  return `(select ${countHere(`h.driver = :driver and h.state = 'pending'
        and ${pendingAt} > ${longAgo}`)} > 0
      and ${count(`${cameBack} and h.pending_at is not null`)} = 0
    or ${countHere(`h.driver = :driver and h.state = 'open' and h.means = 'saved' and h.attempt is not null`)} > 0
      and ${count(`h.attempt is not null and h.created_at <= ${longAgo}`)} = 0
    or ${countHere(`h.driver = :driver and h.state = 'open' and h.means = 'saved'`)} > 0 and ${count(cameBack)} = 0
   from charges h where h.invoice_id = ${each})`;
};
