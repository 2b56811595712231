import { type Context, statement } from '../../platform/index.ts';

/** A debit has an answer after three weeks at most, holidays and all. */
const mostDaysOnItsWay = 30;

/** A payment that the provider has not answered for, and since when it is on its way. */
export interface Coming {
  driver: string;
  since: string;
}

/**
 * SQL for the newest payment of an invoice that is on its way; null for none. After one that came back it is nothing to rely on: no
 * service and no order waits for the next (see {@link isOnItsWay}), so its customer may pay in another way before they lose them. For a
 * renewal it may have come back of one that this one came instead of, as for another cycle.
 */
export const comingOf = (invoice: string) =>
  `(select jsonb_build_object('driver', c.driver, 'since', coalesce(c.pending_at, c.created_at)) from charges c
    where c.invoice_id = ${invoice} and c.state = 'pending' and not exists (select 1 from charges b
      where b.invoice_id = c.invoice_id and b.state = 'failed' and b.pending_at is not null)
      and not exists (select 1 from invoices i
        join invoice_items m on m.invoice_id = i.id join invoice_items n on n.service_id = m.service_id
        join invoices w on w.id = n.invoice_id and w.kind = 'renewal' and w.status = 'cancelled'
          and w.created_at <= i.created_at and w.created_at > i.created_at - interval '90 days'
        join charges b on b.invoice_id = w.id and b.state = 'failed' and b.pending_at is not null
        where i.id = c.invoice_id and i.kind = 'renewal')
    order by c.id desc limit 1)`;

const coming = statement<{ coming: Coming | null }, { invoiceId: number }>(
  'billing.paymentComing',
  `select ${comingOf(':invoiceId::bigint')} as coming`,
);

/**
 * Whether a payment, such as a debit, is on its way, so that the customer should neither pay a second time nor give up what they have
 * paid for. Nothing is waited for longer than a bank takes, and nothing is heard of a provider that is not ours any more.
 */
export function isComing(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  coming: Coming | null,
): boolean {
  if (coming === null || coming.driver !== config.payments) return false;
  return clock.now().getTime() - Date.parse(coming.since) < mostDaysOnItsWay * 86_400_000;
}

/** The same of one invoice, whose row is locked where something hangs on it. */
export async function isPaymentComing(ctx: Context, invoiceId: number): Promise<boolean> {
  return isComing(ctx, (await ctx.db.one(coming, { invoiceId })).coming);
}

/** Why nothing else may be asked for while an invoice is open, and what to do: nobody cancels one whose payment is on its way. */
export async function reasonOfOpen(ctx: Context, invoiceId: number, what: string, why = ''): Promise<string> {
  if (await isPaymentComing(ctx, invoiceId))
    return `A payment for invoice ${invoiceId} ${what} is on its way; wait for it, or pay it from credit${why}`;
  return `Invoice ${invoiceId} ${what} is open; pay or cancel it first${why}`;
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
