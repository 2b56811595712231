import {
  dueAt,
  dueBefore,
  endOfDay,
  isPaid,
  issueInvoice,
  lockForTax,
  reasonOfOpen,
  recurringDiscountOf,
  settleFree,
  statusOf,
  taxOf,
  unpaidFor,
  withdrawInvoice,
} from '../../billing/index.ts';
import { dayOf, fail, newId, type TxContext } from '../../platform/index.ts';
import { requireAction } from '../states.ts';
import { lockTerms, requireTerms, type Terms } from '../terms.ts';
import { openTraffic } from '../traffic/bill.ts';
import { applyPaidChange } from '../upgrade/apply.ts';
import { findChange } from '../upgrade/queries.ts';
import { requireNoneUnderWay } from '../upgrade/underWay.ts';
import { applyRenewal } from './apply.ts';
import { type Offer, requireOffer } from './offer.ts';
import {
  dropRefunded,
  dropRenewal,
  findEnded,
  findWaitingRenewal,
  type Renewal,
  writeRenewal,
} from './queries.ts';

/**
 * The invoice for the next period of a service, whoever owns it; its id. One that is open is returned, one for another
 * cycle is cancelled and replaced: there are never two. Without a `cycle` any open one will do, and otherwise it is the
 * service's own. What was paid a moment ago counts first, so that this is for the period after it. `conflict` when
 * the service cannot be renewed, a payment of an invoice for another cycle is on its way, or an upgrade of it waits for its payment,
 * which changes the price; `invalid_configuration`.
 */
export async function issueRenewal(tx: TxContext, serviceId: number, cycle?: string): Promise<number> {
  const { organizationId } = await requireTerms(tx, serviceId);
  // In the order of every invoice: the organization first, then what the invoice is for.
  await lockForTax(tx, organizationId);
  const before = await lockTerms(tx, serviceId);
  // Moved while its organization was waited for: whoever asked looks again.
  if (before.organizationId !== organizationId) throw fail('busy');
  requireAction('renew', before, tx.clock.now());
  const waiting = await findWaitingRenewal(tx, { serviceId });
  const isWanted = waiting !== null && (cycle === undefined || waiting.cycle === cycle);
  if (
    waiting !== null &&
    (await settle(tx, before, waiting, { keep: isWanted, isReplaced: true })) === 'open'
  )
    return waiting.invoiceId;

  await settleUpgrade(tx, serviceId);
  const service = await lockTerms(tx, serviceId);
  await requireNoUpgrade(tx, serviceId);
  const offer = await requireOffer(tx, service, cycle ?? service.cycle);
  const tax = await taxOf(tx, organizationId, { lock: false, suppliedOn: offer.startsOn });
  const discountMinor = await recurringDiscountOf(tx, {
    ...{ serviceId, productId: service.productId, currency: service.currency },
    ...{ cycle: offer.cycle, amountMinor: offer.priceMinor },
  });
  // What was used of its traffic beyond its price is asked for with the next period.
  const traffic = service.onServer ? await openTraffic(tx, service) : null;
  const invoiceId = newId();
  const { totalMinor } = await issueInvoice(tx, {
    id: invoiceId,
    organizationId,
    userId: tx.actor.userId ?? service.userId,
    kind: 'renewal',
    currency: service.currency,
    lines: [{ ...lineOf(service, offer), discountMinor }, ...(traffic?.lines ?? [])],
    tax,
    couponId: null,
    expiresAt: await dueBy(tx, serviceId, offer),
  });
  const { comingMinor: _, ...renewal } = offer;
  await writeRenewal(tx, { ...renewal, invoiceId, organizationId, serviceId });
  await traffic?.putOn(invoiceId);
  if (totalMinor === 0) await settleFree(tx, invoiceId);
  return invoiceId;
}

/**
 * Ends the wait for a renewal before the price or the length of the service's periods changes: one that was paid counts,
 * one that was not is cancelled, and, where the service is to be renewed all the same (`isReplaced`), not while its customer's payment
 * is on its way: `conflict`. The service's row is locked; read it again afterwards.
 */
export async function closeRenewal(
  tx: TxContext,
  service: Terms,
  reason: string,
  { isReplaced = false } = {},
): Promise<void> {
  const waiting = await findWaitingRenewal(tx, { serviceId: service.id });
  if (waiting !== null) await settle(tx, service, waiting, { keep: false, reason, isReplaced });
}

interface Settling {
  keep: boolean;
  reason?: string;
  /** Whether its customer is to pay another one for what it is for. */
  isReplaced?: boolean;
}

/** What has become of an invoice that waits, also of one whose payment is being carried out. */
async function settle(
  tx: TxContext,
  service: Terms,
  waiting: Renewal,
  { keep, reason = 'another one takes its place', isReplaced = false }: Settling,
): Promise<'open' | 'over'> {
  const { invoiceId } = waiting;
  const status = keep
    ? await statusOf(tx, invoiceId)
    : await withdrawInvoice(tx, invoiceId, reason, { isReplaced });
  if (status === 'unpaid') return 'open';
  if (status === 'paid' || status === 'partially_refunded') await applyRenewal(tx, service, waiting);
  else if (status === 'refunded') await dropRefunded(tx, waiting);
  else await dropRenewal(tx, invoiceId);
  return 'over';
}

/** Another product that was paid a moment ago counts first, for its price is the renewal's. */
export async function settleUpgrade(tx: TxContext, serviceId: number): Promise<void> {
  const invoiceId = (await findChange(tx, { serviceId }))?.invoiceId ?? null;
  if (invoiceId !== null && (await isPaid(tx, invoiceId))) await applyPaidChange(tx, invoiceId);
}

async function requireNoUpgrade(tx: TxContext, serviceId: number): Promise<void> {
  await requireNoneUnderWay(tx, serviceId);
  const upgrade = (await unpaidFor(tx, serviceId)).find(({ kind }) => kind === 'upgrade');
  if (upgrade === undefined) return;
  throw fail('conflict', {
    message: await reasonOfOpen(
      tx,
      upgrade.id,
      'for an upgrade of this service',
      ', since it changes the price',
    ),
  });
}

/**
 * On the day the service is due, or as late as any invoice when that day is near or over. One that takes the place of another
 * for the same period, which was given up since, is due when that one was, or today: it brings no more time to pay.
 */
async function dueBy(tx: TxContext, serviceId: number, { startsOn }: Offer): Promise<Date> {
  const before = await findEnded(tx, { serviceId, startsOn });
  const given = before === null ? null : await dueBefore(tx, before.invoiceId);
  const [due, earliest] =
    given === null ? [endOfDay(startsOn), dueAt(tx)] : [given, endOfDay(dayOf(tx.clock.now()))];
  return due > earliest ? due : earliest;
}

function lineOf(service: Terms, { cycle, priceMinor, startsOn, endsOn }: Offer) {
  const name = service.domain === null ? service.productName : `${service.productName}, ${service.domain}`;
  return {
    productId: service.productId,
    serviceId: service.id,
    description: `${name}, ${cycle}, from ${startsOn} to ${endsOn}`,
    priceMinor,
    setupFeeMinor: 0,
    discountMinor: 0,
  };
}
