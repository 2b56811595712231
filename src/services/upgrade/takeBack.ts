import { isDeepStrictEqual } from 'node:util';
import { moveEarning } from '../../billing/index.ts';
import { findProducts, isCycle, monthsOf, priceOf, reserveStock, returnStock } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import { AppError, formatMoney, requireExact, type TxContext } from '../../platform/index.ts';
import { askByHand } from '../byHand/tasks.ts';
import { productChanged } from '../events.ts';
import { goBack } from '../goBack.ts';
import { dropPeriod, writtenPeriods } from '../periods.ts';
import { endPriceMoves } from '../priceMoves/queries.ts';
import { type AppliedRenewal, dropApplied, renewalsSince, restoreRenewals } from '../renew/queries.ts';
import { closeOpen, isRunning, lockWithPayers, tellPaidUntil } from '../renew/takeBack.ts';
import { lockTerms, type Terms } from '../terms.ts';
import { giveUpChange } from './apply.ts';
import {
  type AppliedChange,
  type Before,
  endChange,
  findAppliedChange,
  findChange,
  returnAnchor,
  returnProduct,
} from './queries.ts';

/**
 * All of the money of a change that counted was given back: nobody pays for it any more. A period that it began is none, and
 * what was paid for before counts again: the due date, the length of the periods and the renewals of before. The product and
 * its price go back as well, unless something was built upon them since. A service that has ended, or whose periods began
 * anew once more, stays as it is. Repeating it changes nothing. Gives the services that it changed.
 */
export async function takeBackChange(tx: TxContext, invoiceId: number): Promise<number[]> {
  const found = await findAppliedChange(tx, invoiceId);
  if (found === null) return [];
  const first = await lockWithPayers(tx, found.serviceId);
  if (!isRunning(first) || (await planFor(tx, first, invoiceId)) === null) return [];
  await closeOpen(tx, first);
  const service = await lockTerms(tx, first.id);
  // What was paid a moment ago counts by now, and may be built upon it.
  const plan = await planFor(tx, service, invoiceId);
  if (plan === null) return [];
  const { change, goesBack } = plan;
  await giveUpScheduled(tx, service);
  await endChange(tx, change.id, 'ended');
  await dropPeriod(tx, service.id, invoiceId);
  if (goesBack) await returnToProduct(tx, service, change.before);
  if (change.startsOn !== null) await returnToPeriods(tx, service, invoiceId, plan);
  if (goesBack) await tell(tx, service, await lockTerms(tx, service.id));
  return [service.id];
}

interface Plan {
  change: AppliedChange & { before: Before };
  /** What was renewed since. */
  later: AppliedRenewal[];
  /** Whether nothing was built upon it, so that the product and its price go back as well. */
  goesBack: boolean;
}

/** What taking a change back takes back; null where it takes nothing. */
export async function planFor(tx: TxContext, service: Terms, invoiceId: number): Promise<Plan | null> {
  const change = await findAppliedChange(tx, invoiceId);
  if (change === null || change.isOver || change.before === null) return null;
  const later = await renewalsSince(tx, service.id, change.createdAt);
  const goesBack = later.length === 0 && isLeftAsItWas(service, change, change.before);
  return change.startsOn === null && !goesBack
    ? null
    : { change: { ...change, before: change.before }, later, goesBack };
}

/** Nothing has changed what the change made of the service, which has the options that it had before. */
function isLeftAsItWas(service: Terms, change: AppliedChange, before: Before): boolean {
  return (
    !change.isFollowed &&
    service.productId === change.productId &&
    service.priceMinor === change.priceMinor &&
    isDeepStrictEqual(service.options, change.options) &&
    isDeepStrictEqual(service.options, before.options)
  );
}

/** A change that waits for its day was priced by what the service is now. */
async function giveUpScheduled(tx: TxContext, service: Terms): Promise<void> {
  const open = await findChange(tx, { serviceId: service.id });
  if (open !== null) await giveUpChange(tx, service, open);
}

async function returnToProduct(tx: TxContext, service: Terms, before: Before): Promise<void> {
  if (service.holdsStock) await returnStock(tx, new Map([[service.productId, 1]]));
  const holdsStock = before.heldStock && (await isInStock(tx, before.productId));
  await returnProduct(tx, service.id, before, holdsStock);
  await endPriceMoves(tx, [service.id]);
  await askByHand(tx, service, 'change');
}

/** Takes one, if there is one: its customer has had it before, and keeps it in any case. */
async function isInStock(tx: TxContext, productId: number): Promise<boolean> {
  try {
    await reserveStock(tx, new Map([[productId, 1]]));
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'insufficient_stock') return false;
    throw error;
  }
}

async function returnToPeriods(
  tx: TxContext,
  service: Terms,
  invoiceId: number,
  { change: { before, createdAt }, later, goesBack }: Plan,
): Promise<void> {
  const { id } = service;
  const { anchorDay } = before;
  // First, for they follow upon what is restored, and may have begun on the same days.
  for (const renewal of later) await dropApplied(tx, renewal.invoiceId);
  await restoreRenewals(tx, id, createdAt);
  await returnAnchor(tx, id, anchorDay);
  for (const period of await writtenPeriods(tx, id))
    await moveEarning(tx, { ...period, serviceId: id, from: period.startsOn, to: period.endsOn });
  const terms = goesBack ? before : later.length > 0 ? service : await inCycle(tx, service, before.cycle);
  const from = before.duedate ?? service.duedate;
  if (from === null) throw new Error(`service ${id} is active and has no due date`);
  const duedate = await goBack(tx, { ...service, anchorDay }, from, later, terms);
  await tellPaidUntil(tx, service, invoiceId, duedate);
}

/** What a service costs in periods of another length: by the price list, or else in proportion. */
async function inCycle(
  tx: TxContext,
  service: Terms,
  cycle: string,
): Promise<Pick<Terms, 'cycle' | 'priceMinor'>> {
  if (!isCycle(cycle) || !isCycle(service.cycle)) throw new Error(`there is no cycle ${cycle}`);
  const product = (await findProducts(tx, [service.productId])).get(service.productId);
  const price = product === undefined ? null : priceOf(product, cycle, service.options);
  if (price !== null) return { cycle, priceMinor: requireExact(price.recurringMinor) };
  return { cycle, priceMinor: Math.floor((service.priceMinor * monthsOf[cycle]) / monthsOf[service.cycle]) };
}

function tell(tx: TxContext, before: Terms, after: Terms): Promise<unknown> {
  return record(tx, productChanged, {
    subject: { type: 'service', id: after.id },
    organizationId: after.organizationId,
    data: {
      ...{ user_id: after.userId, module_id: after.moduleId, hostname: after.domain },
      ...{ product_before: before.productName, product: after.productName },
      ...{ before: before.options, after: after.options, cycle: after.cycle, duedate: after.duedate },
      ...{ price: formatMoney(after.priceMinor, after.currency), currency: after.currency },
    },
  });
}
