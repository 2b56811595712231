import {
  lockForCorrection,
  lockForTax,
  unpaidFor,
  wasTakenBack,
  withdrawInvoice,
} from '../../billing/index.ts';
import { record } from '../../events/index.ts';
import type { TxContext } from '../../platform/index.ts';
import { lockServicesOf } from '../delivery/cancelUndelivered.ts';
import { renewalRefunded } from '../events.ts';
import { goBack } from '../goBack.ts';
import { dropPeriod, findPeriod } from '../periods.ts';
import { lockTerms, type Terms } from '../terms.ts';
import { hasBegunAnew } from '../upgrade/queries.ts';
import { closeRenewal } from './issue.ts';
import { type AppliedRenewal, dropApplied, findApplied, renewalsFrom } from './queries.ts';

/**
 * All of the money of a renewal that counted was given back: its period is paid by nobody any more. The due date goes back
 * by it, periods that were renewed after it move up, and the calendar begins a new round with all of its warnings. What is
 * open for the service was priced for the time until then and is cancelled. A service that has ended, or whose periods
 * began anew with a change after it, stays as it is. Repeating it changes nothing.
 */
export async function takeBackRenewal(tx: TxContext, invoiceId: number): Promise<void> {
  const found = await findApplied(tx, invoiceId);
  if (found === null) return;
  // In the order of every invoice: the organization first, then what the invoice is for.
  await lockForTax(tx, found.organizationId);
  const before = await lockTerms(tx, found.serviceId);
  const renewal = await findApplied(tx, invoiceId);
  if (renewal === null || !isRunning(before)) return;
  await dropApplied(tx, invoiceId);
  await dropPeriod(tx, before.id, invoiceId);
  await closeOpen(tx, before);
  const service = await lockTerms(tx, before.id);
  const later = await renewalsFrom(tx, service.id, renewal.startsOn);
  const duedate = await goBack(
    tx,
    service,
    renewal.startsOn,
    later,
    termsBefore(service, renewal, later.length > 0),
  );
  await tellPaidUntil(tx, service, invoiceId, duedate);
}

/**
 * A bank took back the money of an order, or it was never its customer's: the first period of what was delivered is paid by
 * nobody either, and is taken back like a renewal's. What staff gives back of an order leaves its period, since staff may have
 * meant that; see the decision 0079. Repeating it changes nothing.
 */
export async function takeBackOrder(tx: TxContext, invoiceId: number): Promise<void> {
  if (!(await wasTakenBack(tx, invoiceId))) return;
  await lockForCorrection(tx, invoiceId);
  for (const { id } of await lockServicesOf(tx, invoiceId)) {
    const before = await lockTerms(tx, id);
    const period = await findPeriod(tx, id, invoiceId);
    if (period === null || !isRunning(before) || (await hasBegunAnew(tx, id))) continue;
    await dropPeriod(tx, id, invoiceId);
    await closeOpen(tx, before);
    const service = await lockTerms(tx, id);
    const later = await renewalsFrom(tx, id, period.startsOn);
    const duedate = await goBack(tx, service, period.startsOn, later, service);
    await tellPaidUntil(tx, service, invoiceId, duedate);
  }
}

export function isRunning({ status }: Pick<Terms, 'status'>): boolean {
  return status === 'active' || status === 'suspended';
}

/** What waits for its payment was priced for the time until the due date that is gone. */
export async function closeOpen(tx: TxContext, service: Terms): Promise<void> {
  const reason = 'a period before it was given back';
  // One that was paid a moment ago counts first.
  await closeRenewal(tx, service, reason);
  for (const { id, kind } of await unpaidFor(tx, service.id))
    if (kind === 'upgrade') await withdrawInvoice(tx, id, reason);
}

/** What was paid for a service ends on an earlier day than before. */
export function tellPaidUntil(
  tx: TxContext,
  service: Terms,
  invoiceId: number,
  duedate: string,
): Promise<unknown> {
  const { id, organizationId, userId, productName: product, domain: hostname } = service;
  return record(tx, renewalRefunded, {
    subject: { type: 'service', id },
    organizationId,
    data: {
      ...{ user_id: userId, invoice_id: invoiceId, product, hostname },
      ...{ duedate_before: service.duedate ?? duedate, duedate },
    },
  });
}

/** A renewal for another cycle, which nothing has followed, leaves the service the cycle and price that it had. */
function termsBefore(
  { cycle, priceMinor }: Terms,
  renewal: AppliedRenewal,
  isFollowed: boolean,
): { cycle: string; priceMinor: number } {
  const { cycleBefore, priceBeforeMinor } = renewal;
  const isItsOwn = cycle === renewal.cycle && priceMinor === renewal.priceMinor;
  if (isFollowed || !isItsOwn || cycleBefore === null || priceBeforeMinor === null)
    return { cycle, priceMinor };
  return { cycle: cycleBefore, priceMinor: priceBeforeMinor };
}
