import { lockForServices, unpaidFor, wasTakenBack, withdrawInvoice } from '../../billing/index.ts';
import { record } from '../../events/index.ts';
import { fail, type TxContext } from '../../platform/index.ts';
import { servicesOf } from '../delivery/cancelUndelivered.ts';
import { renewalRefunded } from '../events.ts';
import { goBack } from '../goBack.ts';
import { dropPeriod, findPeriod } from '../periods.ts';
import { lockTerms, type Terms } from '../terms.ts';
import { hasBegunAnew } from '../upgrade/queries.ts';
import { closeRenewal, settleUpgrade } from './issue.ts';
import { type AppliedRenewal, dropApplied, findApplied, renewalsFrom } from './queries.ts';

/**
 * All of the money of a renewal that counted was given back: its period is paid by nobody any more. The due date goes back
 * by it, periods that were renewed after it move up, and the calendar begins a new round with all of its warnings. What is
 * open for the service was priced for the time until then and is cancelled. A service that has ended, or whose periods
 * began anew with a change after it, stays as it is. Repeating it changes nothing. Gives the services that it changed.
 */
export async function takeBackRenewal(tx: TxContext, invoiceId: number): Promise<number[]> {
  const found = await findApplied(tx, invoiceId);
  if (found === null) return [];
  const before = await lockWithPayers(tx, found.serviceId);
  if (!isRunning(before) || (await findApplied(tx, invoiceId)) === null) return [];
  await closeOpen(tx, before);
  // What was paid a moment ago may have begun the periods anew.
  const renewal = await findApplied(tx, invoiceId);
  if (renewal === null) return [];
  await dropApplied(tx, invoiceId);
  await dropPeriod(tx, before.id, invoiceId);
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
  return [service.id];
}

/**
 * A bank took back the money of an order, or it was never its customer's: the first period of what was delivered is paid by
 * nobody either, and is taken back like a renewal's. What staff gives back of an order leaves its period, since staff may have
 * meant that; see the decision 0079. Repeating it changes nothing. With `only`, no other service of the order is looked at.
 * Gives the services that it changed.
 */
export async function takeBackOrder(tx: TxContext, invoiceId: number, only?: number): Promise<number[]> {
  const ids = only === undefined ? await servicesOf(tx, invoiceId) : [only];
  await lockForServices(tx, ids);
  const changed: number[] = [];
  for (const id of ids) {
    if (!(await wasTakenBack(tx, invoiceId, id))) continue;
    const before = await lockWithPayers(tx, id);
    if ((await findPeriod(tx, id, invoiceId)) === null || !isRunning(before)) continue;
    if (await hasBegunAnew(tx, id)) continue;
    await closeOpen(tx, before);
    const period = await findPeriod(tx, id, invoiceId);
    if (period === null || (await hasBegunAnew(tx, id))) continue;
    await dropPeriod(tx, id, invoiceId);
    const service = await lockTerms(tx, id);
    const later = await renewalsFrom(tx, id, period.startsOn);
    const duedate = await goBack(tx, service, period.startsOn, later, service);
    await tellPaidUntil(tx, service, invoiceId, duedate);
    changed.push(id);
  }
  return changed;
}

/**
 * Locks a service whose paid time is about to change, after the organizations that have it and that paid for it: it may have
 * been moved since. `busy` where it was moved this moment.
 */
export async function lockWithPayers(tx: TxContext, serviceId: number): Promise<Terms> {
  const locked = await lockForServices(tx, [serviceId]);
  const service = await lockTerms(tx, serviceId);
  if (!locked.includes(service.organizationId)) throw fail('busy');
  return service;
}

export function isRunning({ status }: Pick<Terms, 'status'>): boolean {
  return status === 'active' || status === 'suspended';
}

/** What waits for its payment was priced for the time until the due date that is gone; what was paid a moment ago counts first. */
export async function closeOpen(tx: TxContext, service: Terms): Promise<void> {
  const reason = 'a period before it was given back';
  await settleUpgrade(tx, service.id);
  await closeRenewal(tx, await lockTerms(tx, service.id), reason);
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
