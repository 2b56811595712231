import { moveEarning, paidFor, refundInvoice, upgradesUnderWay } from '../billing/index.ts';
import { addMonths, isCycle, monthsOf } from '../catalog/index.ts';
import { addDays, dayOf, formatMoney, type TxContext } from '../platform/index.ts';
import { leaveCalendar } from './calendar/row.ts';
import { takeCancellationBack } from './cancel/takeBack.ts';
import { holdReturn } from './heldReturns.ts';
import { cutPeriod, dropPeriod, movePeriod, upgradesBeyond, writePeriod } from './periods.ts';
import { type AppliedRenewal, dropApplied, moveApplied, shortenService } from './renew/queries.ts';
import { shareOf, unusedNet } from './share.ts';
import type { Terms } from './terms.ts';
import { movePeriodEnd } from './upgrade/queries.ts';

/**
 * A service is paid until an earlier day than it was: from that day on only renewals of later periods are, which move up.
 * What upgrades were paid for the days that are gone becomes credit, and the calendar begins anew. Gives the new due date.
 * One that was to end with its paid time does not end at once because that is over now: it goes the way of what is not paid,
 * with all of its warnings. The service's row is locked, and its organization before it.
 */
export async function goBack(
  tx: TxContext,
  service: Terms,
  from: string,
  later: readonly AppliedRenewal[],
  terms: Pick<Terms, 'cycle' | 'priceMinor'>,
): Promise<string> {
  const { id } = service;
  let duedate = from;
  // None of them counts while they move: one may begin on the day on which another one did.
  for (const { invoiceId } of later) await dropApplied(tx, invoiceId);
  for (const { invoiceId, cycle } of later) {
    if (!isCycle(cycle)) throw new Error(`there is no cycle ${cycle}`);
    const endsOn = addMonths(duedate, monthsOf[cycle], service.anchorDay);
    const moved = { invoiceId, startsOn: duedate, endsOn };
    await moveApplied(tx, moved);
    await movePeriod(tx, id, moved);
    await moveEarning(tx, { invoiceId, serviceId: id, from: duedate, to: endsOn });
    duedate = endsOn;
  }
  await coverUnderWay(tx, service);
  await shortenService(tx, { id, duedate, cycle: terms.cycle, priceMinor: terms.priceMinor });
  await cutUpgrades(tx, service, duedate);
  await movePeriodEnd(tx, id, duedate);
  await leaveCalendar(tx, id);
  if (service.cancelled && duedate <= dayOf(tx.clock.now())) await takeCancellationBack(tx, service);
  return duedate;
}

/** One that was paid and is still being carried out was paid for the days up to the old due date like any other. */
async function coverUnderWay(tx: TxContext, { id, duedate: endsOn }: Terms): Promise<void> {
  const startsOn = dayOf(tx.clock.now());
  if (endsOn === null || endsOn <= startsOn) return;
  for (const invoiceId of await upgradesUnderWay(tx, id))
    await writePeriod(tx, id, { invoiceId, startsOn, endsOn });
}

/** An upgrade was paid for days up to a due date that is gone: those days are paid anew, at the higher price. */
async function cutUpgrades(tx: TxContext, { id, currency }: Terms, duedate: string): Promise<void> {
  const cut = await upgradesBeyond(tx, id, duedate);
  if (cut.length === 0) return;
  const paid = await paidFor(tx, id);
  const yesterday = addDays(duedate, -1);
  for (const period of cut) {
    const { invoiceId, startsOn } = period;
    const invoice = paid.find((each) => each.id === invoiceId);
    if (invoice !== undefined) {
      const netMinor = unusedNet(invoice, period, yesterday);
      const { amountMinor } = shareOf(invoice, period, 'unused', yesterday);
      const undisputed = shareOf({ ...invoice, disputedMinor: 0 }, period, 'unused', yesterday);
      const heldMinor = undisputed.amountMinor - amountMinor;
      if (heldMinor > 0 && !invoice.isGivenUp)
        await holdReturn(tx, { serviceId: id, invoiceId, amountMinor: heldMinor });
      if (startsOn < duedate) {
        await cutPeriod(tx, id, { invoiceId, endsOn: duedate, netMinor });
        await moveEarning(tx, { invoiceId, serviceId: id, from: startsOn, to: duedate });
      }
      if (amountMinor > 0 && !invoice.isGivenUp) {
        const reason = 'the days that it was paid for were given back';
        const amount = formatMoney(amountMinor, currency);
        await refundInvoice(tx, invoiceId, { method: 'credit', amount, reason });
      }
    }
    if (invoice === undefined || startsOn >= duedate) await dropPeriod(tx, id, invoiceId);
  }
}
