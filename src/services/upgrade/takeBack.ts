import { isDeepStrictEqual } from 'node:util';
import { isRefunded, lockForTax, moveEarning } from '../../billing/index.ts';
import { findProducts, isCycle, monthsOf, priceOf, reserveStock, returnStock } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import { AppError, formatMoney, requireExact, type TxContext } from '../../platform/index.ts';
import { askByHand } from '../byHand/tasks.ts';
import { productChanged } from '../events.ts';
import { goBack } from '../goBack.ts';
import { dropPeriod, writtenPeriods } from '../periods.ts';
import { endPriceMoves } from '../priceMoves/queries.ts';
import { type AppliedRenewal, renewalsSince, restoreRenewals } from '../renew/queries.ts';
import { closeOpen, isRunning, takeBackRenewal, tellPaidUntil } from '../renew/takeBack.ts';
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
 * anew once more, stays as it is. Repeating it changes nothing.
 */
export async function takeBackChange(tx: TxContext, invoiceId: number): Promise<void> {
  const found = await findAppliedChange(tx, invoiceId);
  if (found === null) return;
  // In the order of every invoice: the organization first, then what the invoice is for.
  await lockForTax(tx, found.organizationId);
  const first = await lockTerms(tx, found.serviceId);
  const change = await findAppliedChange(tx, invoiceId);
  if (change === null || change.isOver || change.before === null || !isRunning(first)) return;
  const beginsAnew = change.startsOn !== null;
  const isAlone = async (service: Terms, before: Before) =>
    isLeftAsItWas(service, change, before) &&
    (await renewalsSince(tx, service.id, change.createdAt)).length === 0;
  if (!beginsAnew && !(await isAlone(first, change.before))) return;
  await closeOpen(tx, first);
  const service = await lockTerms(tx, first.id);
  const later = await renewalsSince(tx, service.id, change.createdAt);
  const goesBack = later.length === 0 && isLeftAsItWas(service, change, change.before);
  if (!beginsAnew && !goesBack) return;
  await giveUpScheduled(tx, service);
  await endChange(tx, change.id, 'ended');
  await dropPeriod(tx, service.id, invoiceId);
  if (goesBack) await returnToProduct(tx, service, change.before);
  if (beginsAnew)
    await returnToPeriods(tx, service, { ...change, before: change.before }, { invoiceId, later, goesBack });
  const after = await lockTerms(tx, service.id);
  if (goesBack) await tell(tx, service, after);
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

interface Followed {
  invoiceId: number;
  later: AppliedRenewal[];
  goesBack: boolean;
}

async function returnToPeriods(
  tx: TxContext,
  service: Terms,
  { before, createdAt }: AppliedChange & { before: Before },
  { invoiceId, later, goesBack }: Followed,
): Promise<void> {
  const { id } = service;
  const { anchorDay } = before;
  const restored = await restoreRenewals(tx, id, createdAt);
  await returnAnchor(tx, id, anchorDay);
  for (const period of await writtenPeriods(tx, id))
    await moveEarning(tx, { ...period, serviceId: id, from: period.startsOn, to: period.endsOn });
  const terms = goesBack ? before : later.length > 0 ? service : await inCycle(tx, service, before.cycle);
  const from = before.duedate ?? service.duedate;
  if (from === null) throw new Error(`service ${id} is active and has no due date`);
  const duedate = await goBack(tx, { ...service, anchorDay }, from, later, terms);
  await tellPaidUntil(tx, service, invoiceId, duedate);
  // What was given back while it was no part of the paid time.
  for (const renewal of restored)
    if (await isRefunded(tx, renewal.invoiceId)) await takeBackRenewal(tx, renewal.invoiceId);
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
