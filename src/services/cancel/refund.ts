import { paidFor, refundInvoice, sendableOf, wasConsumer } from '../../billing/index.ts';
import { addDays, type Context, dayOf, formatMoney, type TxContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';

import { requireOrder } from '../delivery/delivery.ts';
import { periodsOf } from '../periods.ts';
import { type Rule, type SentShare, type Share, shareOf } from '../share.ts';
import type { Terms } from '../terms.ts';
import { cancellation } from './settings.ts';

/** Why something goes back, or nothing does. */
export const grounds = ['not_delivered', 'withdrawal', 'unused', 'none'] as const;

/** What a customer gets back who cancels a service at once. */
export interface Returned {
  because: (typeof grounds)[number];
  shares: SentShare[];
  totalMinor: number;
}

/**
 * What goes back when a service ends now. What was not delivered is paid back whole; within the days of withdrawal what
 * the law or the provider says; afterwards what the provider's rule says (settings, section `cancellation`).
 */
export async function returnedFor(ctx: Context, service: Terms): Promise<Returned> {
  const { because, rule } = await ruleFor(ctx, service);
  const [paid, periods] = await Promise.all([paidFor(ctx, service.id), periodsOf(ctx, service.id)]);
  const today = dayOf(ctx.clock.now());
  const back = paid
    .filter(({ isGivenUp }) => !isGivenUp)
    .map((invoice) =>
      shareOf(
        invoice,
        periods.find(({ invoiceId }) => invoiceId === invoice.id),
        rule,
        today,
      ),
    )
    .filter(({ amountMinor }) => amountMinor > 0);
  const shares = await whereTo(ctx, back);
  const totalMinor = shares.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return { because: totalMinor === 0 ? 'none' : because, shares, totalMinor };
}

/** To where it came from, as far as the payment provider can and the provider's rule says so. */
async function whereTo(ctx: Context, shares: Share[]): Promise<SentShare[]> {
  const sent: SentShare[] = [];
  for (const share of shares)
    sent.push({ ...share, originalMinor: await sentBack(ctx, share.invoiceId, share.amountMinor) });
  return sent;
}

async function sentBack(ctx: Context, invoiceId: number, amountMinor: number): Promise<number> {
  const { refund_to: to } = await readSettings(ctx, cancellation);
  return to === 'original' ? Math.min(amountMinor, await sendableOf(ctx, invoiceId)) : 0;
}

/** In which way what is given back of an invoice goes, by the provider's rule. */
export async function methodFor(ctx: Context, invoiceId: number): Promise<'credit' | 'original'> {
  return (await sentBack(ctx, invoiceId, Number.MAX_SAFE_INTEGER)) > 0 ? 'original' : 'credit';
}

async function ruleFor(ctx: Context, service: Terms): Promise<{ because: Returned['because']; rule: Rule }> {
  if (service.status === 'pending') return { because: 'not_delivered', rule: 'full' };
  const settings = await readSettings(ctx, cancellation);
  if (await mayWithdraw(ctx, service)) return { because: 'withdrawal', rule: settings.withdrawal_refund };
  return { because: settings.refund, rule: settings.refund };
}

async function mayWithdraw(ctx: Context, service: Terms): Promise<boolean> {
  const until = await withdrawalUntil(ctx, service);
  return until !== null && dayOf(ctx.clock.now()) <= until;
}

/** The last day on which a service can be withdrawn from, `YYYY-MM-DD`; null without such a right. */
export async function withdrawalUntil(ctx: Context, service: Terms): Promise<string | null> {
  const { withdrawal_days: days, withdrawal_for: whose } = await readSettings(ctx, cancellation);
  if (days === 0) return null;
  const { invoiceId } = await requireOrder(ctx, service.id);
  if (whose === 'consumers' && !(await wasConsumer(ctx, invoiceId))) return null;
  return addDays(dayOf(service.createdAt), days);
}

/** Gives it back. */
export async function giveBack(tx: TxContext, service: Terms, { shares }: Returned): Promise<void> {
  const reason = `${service.domain ?? service.productName} was cancelled`;
  for (const { invoiceId, amountMinor, originalMinor } of shares) {
    const amount = formatMoney(amountMinor, service.currency);
    const method = originalMinor > 0 ? 'original' : 'credit';
    await refundInvoice(tx, invoiceId, { method, amount, reason });
  }
}
