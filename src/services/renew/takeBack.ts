import { lockForTax, unpaidFor, withdrawInvoice } from '../../billing/index.ts';
import { addMonths, isCycle, monthsOf } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import type { TxContext } from '../../platform/index.ts';
import { leaveCalendar } from '../calendar/row.ts';
import { renewalRefunded } from '../events.ts';
import { dropPeriod, movePeriod } from '../periods.ts';
import { lockTerms, type Terms } from '../terms.ts';
import { movePeriodEnd } from '../upgrade/queries.ts';
import { closeRenewal } from './issue.ts';
import {
  type AppliedRenewal,
  dropApplied,
  findApplied,
  laterRenewals,
  moveApplied,
  shortenService,
} from './queries.ts';

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
  if (renewal === null) return;
  const isRunning = before.status === 'active' || before.status === 'suspended';
  if (!isRunning) return;
  await dropApplied(tx, invoiceId);
  await dropPeriod(tx, before.id, invoiceId);
  const reason = 'a period before it was given back';
  // One that was paid a moment ago counts first.
  await closeRenewal(tx, before, reason);
  for (const { id, kind } of await unpaidFor(tx, before.id))
    if (kind === 'upgrade') await withdrawInvoice(tx, id, reason);
  await goBack(tx, await lockTerms(tx, before.id), renewal);
}

async function goBack(tx: TxContext, service: Terms, renewal: AppliedRenewal): Promise<void> {
  const { id, organizationId, duedate: duedateBefore } = service;
  let duedate = renewal.startsOn;
  const later = await laterRenewals(tx, renewal);
  for (const { invoiceId, cycle } of later) {
    if (!isCycle(cycle)) throw new Error(`there is no cycle ${cycle}`);
    const moved = {
      invoiceId,
      startsOn: duedate,
      endsOn: addMonths(duedate, monthsOf[cycle], service.anchorDay),
    };
    await moveApplied(tx, moved);
    await movePeriod(tx, id, moved);
    duedate = moved.endsOn;
  }
  await shortenService(tx, { id, duedate, ...termsBefore(service, renewal, later.length > 0) });
  await movePeriodEnd(tx, id, duedate);
  await leaveCalendar(tx, id);
  await record(tx, renewalRefunded, {
    subject: { type: 'service', id },
    organizationId,
    data: {
      user_id: service.userId,
      invoice_id: renewal.invoiceId,
      product: service.productName,
      hostname: service.domain,
      duedate_before: duedateBefore ?? renewal.endsOn,
      duedate,
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
