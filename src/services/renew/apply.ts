import {
  beginEarning,
  holdInvoice,
  isRefunded,
  lockForTax,
  paidFor,
  refundInvoice,
} from '../../billing/index.ts';
import { addMonths, isCycle, monthsOf } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import { dayOf, formatMoney, type TxContext } from '../../platform/index.ts';
import { askByHand } from '../byHand/tasks.ts';
import { priceChanged, serviceRenewed } from '../events.ts';
import { writePeriod } from '../periods.ts';
import { priceWith } from '../priceMoves/coming.ts';
import { findComing, markMoved } from '../priceMoves/queries.ts';
import { shareOf } from '../share.ts';
import { lockTerms, type Terms } from '../terms.ts';
import { dropRefunded, dropRenewal, extendService, findWaitingRenewal, type Renewal } from './queries.ts';

/** The invoice of a renewal was paid: the due date moves. Repeating it changes nothing. */
export async function applyPaidRenewal(tx: TxContext, invoiceId: number): Promise<void> {
  await withWaiting(tx, invoiceId, async (service, renewal) => {
    // Between the payment and this moment somebody may have given the money back.
    await holdInvoice(tx, invoiceId);
    if (await isRefunded(tx, invoiceId)) await dropRefunded(tx, renewal);
    else await applyRenewal(tx, service, renewal);
  });
}

/** The invoice of a renewal ended without a payment: the service stays as it was. Repeating it changes nothing. */
export async function endRenewal(tx: TxContext, invoiceId: number): Promise<void> {
  await withWaiting(tx, invoiceId, () => dropRenewal(tx, invoiceId));
}

/**
 * Gives a service the period that was paid for. It begins where the paid time ends, so that nothing is paid twice and
 * nothing is left out. A service that has ended meanwhile gives the money of its period back, as credit. Its row is locked.
 */
export async function applyRenewal(tx: TxContext, service: Terms, renewal: Renewal): Promise<void> {
  const { invoiceId, cycle, priceMoveId } = renewal;
  const { duedate: startsOn } = service;
  if ((service.status !== 'active' && service.status !== 'suspended') || startsOn === null) {
    await dropRenewal(tx, invoiceId);
    const reason = `the service was ${service.status} before it was renewed`;
    await giveBackPeriod(tx, service, invoiceId, reason);
    return;
  }
  if (!isCycle(cycle)) throw new Error(`there is no cycle ${cycle}`);
  const endsOn = addMonths(startsOn, monthsOf[cycle], service.anchorDay);
  // What changed the price since the invoice was issued counts for the periods after this one.
  const moved = priceMoveId === null ? null : await findComing(tx, service.id, priceMoveId);
  const ownMinor = moved === null ? service.priceMinor : priceWith(moved, service);
  const priceMinor = cycle === service.cycle && ownMinor !== null ? ownMinor : renewal.priceMinor;
  const unitPrices = moved?.unitPrices ?? service.unitPrices;
  await extendService(tx, { ...renewal, startsOn, endsOn }, { cycle, priceMinor, unitPrices });
  if (moved !== null) await countMove(tx, service, { ...renewal, startsOn, priceMinor });
  await writePeriod(tx, service.id, { invoiceId, startsOn, endsOn });
  await beginEarning(tx, { invoiceId, serviceId: service.id, from: startsOn, to: endsOn });
  await askByHand(tx, service, 'renew');
  await record(tx, serviceRenewed, {
    subject: { type: 'service', id: service.id },
    organizationId: service.organizationId,
    data: {
      user_id: service.userId,
      invoice_id: invoiceId,
      product: service.productName,
      hostname: service.domain,
      status: service.status,
      cycle,
      duedate_before: startsOn,
      duedate: endsOn,
      price: formatMoney(renewal.priceMinor, service.currency),
      currency: service.currency,
    },
  });
}

/** What else the invoice asked for, as traffic that was used, was had. */
async function giveBackPeriod(tx: TxContext, { id, currency }: Terms, invoiceId: number, reason: string) {
  const paid = (await paidFor(tx, id)).find((each) => each.id === invoiceId);
  const hasOthers =
    paid !== undefined && paid.netMinor !== paid.priceMinor + paid.setupFeeMinor - paid.discountMinor;
  if (!hasOthers) return refundInvoice(tx, invoiceId, { method: 'credit', reason });
  const { amountMinor } = shareOf(paid, undefined, 'full', dayOf(tx.clock.now()));
  if (amountMinor === 0) return;
  await refundInvoice(tx, invoiceId, {
    method: 'credit',
    reason,
    amount: formatMoney(amountMinor, currency),
  });
}

/** From this period on a service pays the price that its customer was told of. */
async function countMove(
  tx: TxContext,
  { id: serviceId, organizationId, priceMinor: beforeMinor, currency }: Terms,
  { invoiceId, priceMoveId, cycle, startsOn: from, priceMinor: afterMinor }: Renewal,
): Promise<void> {
  if (priceMoveId === null) return;
  await markMoved(tx, { moveId: priceMoveId, serviceId, movedOn: from, beforeMinor, afterMinor });
  await record(tx, priceChanged, {
    subject: { type: 'service', id: serviceId },
    organizationId,
    data: {
      ...{ price_move_id: priceMoveId, invoice_id: invoiceId, cycle, currency, from },
      price_before: formatMoney(beforeMinor, currency),
      price: formatMoney(afterMinor, currency),
    },
  });
}

async function withWaiting(
  tx: TxContext,
  invoiceId: number,
  work: (service: Terms, renewal: Renewal) => Promise<void>,
): Promise<void> {
  const found = await findWaitingRenewal(tx, { invoiceId });
  if (found === null) return;
  // In the order of every invoice: the organization first, for one that is given back is numbered.
  await lockForTax(tx, found.organizationId);
  const service = await lockTerms(tx, found.serviceId);
  // Again, now that nobody else can change it.
  const renewal = await findWaitingRenewal(tx, { invoiceId });
  if (renewal !== null) await work(service, renewal);
}
