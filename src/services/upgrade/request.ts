import {
  isPaid,
  issueInvoice,
  reasonOfOpen,
  requireFewUnpaid,
  settleFree,
  statusOf,
  type Tax,
  taxOf,
  totalsOf,
  unpaidFor,
} from '../../billing/index.ts';
import {
  countsStock,
  findProducts,
  isCycle,
  type Product,
  redeemCoupon,
  requireCoupon,
  reserveStock,
} from '../../catalog/index.ts';
import { requireOpen } from '../../organizations/index.ts';
import {
  type Context,
  fail,
  newId,
  type OrganizationContext,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { changeDueAt } from '../changeDue.ts';
import { kindOf } from '../kinds/table.ts';
import { paidAhead } from '../paidAhead.ts';
import { readService } from '../read.ts';
import { closeRenewal } from '../renew/issue.ts';
import { requireAction } from '../states.ts';
import { lockTerms, requireTerms, type Terms } from '../terms.ts';
import { applyChange, giveUpChange } from './apply.ts';
import { fitInto } from './fit.ts';
import type { Growths } from './growth.ts';
import { type NewPeriod, type Priced, priceChange } from './price.ts';
import { type Change, findChange, writeChange } from './queries.ts';
import { requireNoneUnderWay, underWay, whatKeeps } from './underWay.ts';
import { viewOffer } from './view.ts';

export interface UpgradeRequest {
  product_id: number;
  cycle?: string | undefined;
  couponcode?: string | undefined;
  dry_run?: boolean | undefined;
}

type Tx = OrganizationContext & TxContext;
type Running = Terms & { duedate: string };

/**
 * Makes a service of the organization another product of its kind (contract §3). When there is something to pay for the
 * days that remain, what it needs is held and it counts once its invoice is paid; otherwise it counts at once, or with
 * the next period when the product says so. With another cycle a new period begins today. Asked for again, a change that waits for its payment is returned as it is.
 * `product_unknown`, `invalid_configuration`, `invalid_coupon`, `insufficient_stock`, `conflict`.
 */
export async function upgradeService(
  ctx: OrganizationContext,
  id: number,
  wanted: UpgradeRequest,
  growths: Growths,
) {
  await readService(ctx, id);
  if (wanted.dry_run === true) return quote(ctx, running(ctx, await requireTerms(ctx, id)), wanted, growths);
  return transaction(ctx, 'services.upgrade', async (tx) => {
    // In the order of every invoice: the organization first, then what the invoice is for.
    const tax = await taxOf(tx, ctx.organizationId, { lock: true });
    await requireOpen(tx, ctx.organizationId);
    const before = running(tx, await lockTerms(tx, id));
    await closeRenewal(tx, before, 'an upgrade changes the price of what it renews', { isReplaced: true });
    const service = running(tx, await lockTerms(tx, id));
    const open = await reopen(tx, service);
    if (open !== null) return sameAs(tx, service, open, wanted, growths);
    await requireNoOther(tx, id);
    const priced = await price(tx, service, wanted, growths);
    return priced.chargeMinor === 0
      ? change(tx, service, priced, growths)
      : order(tx, service, priced, tax, growths);
  });
}

function running(ctx: Context, service: Terms): Running {
  requireAction('upgrade', service, ctx.clock.now());
  const { duedate } = service;
  if (duedate === null) throw new Error(`service ${service.id} is active and has no due date`);
  return { ...service, duedate };
}

/** What the service would be and cost; the product is looked for first. */
async function price(ctx: Context, service: Running, wanted: UpgradeRequest, growths: Growths) {
  const product = await requireProduct(ctx, wanted.product_id);
  const fitted = fitInto(service, product, wanted.cycle);
  if ('problems' in fitted) throw fail('invalid_configuration', { details: fitted.problems });
  const problems = await growths[kindOf(service.moduleId).type]?.problems(ctx, service, fitted.options);
  if (problems?.length) throw fail('invalid_configuration', { details: problems });
  const coupon = wanted.couponcode === undefined ? null : await requireCoupon(ctx, wanted.couponcode);
  const paidAheadMinor = await paidAhead(ctx, service, wanted.cycle);
  const asked = { coupon, cycle: wanted.cycle, paidAheadMinor };
  return { ...priceChange(ctx, service, { product, options: fitted.options }, asked), coupon };
}

type PricedRequest = Awaited<ReturnType<typeof price>>;

async function requireProduct(ctx: Context, id: number): Promise<Product> {
  const product = (await findProducts(ctx, [id])).get(id);
  if (product !== undefined) return product;
  throw fail('not_found', {
    message: 'product not found',
    details: [{ field: 'product_id', message: 'no product has this id' }],
  });
}

type Open = Change & { invoiceId: number };

/** The change that waits for its payment; one whose invoice has just ended, or that waits for its day, is given up. */
async function reopen(tx: Tx, service: Running): Promise<Open | null> {
  const open = await findChange(tx, { serviceId: service.id });
  if (open === null) return null;
  if (open.invoiceId !== null) {
    if ((await statusOf(tx, open.invoiceId)) === 'unpaid') return { ...open, invoiceId: open.invoiceId };
    if (await isPaid(tx, open.invoiceId)) throw underWay();
  }
  if (open.effectiveOn !== null && service.duedate > open.effectiveOn) {
    const message =
      (await whatKeeps(tx, open.effectiveOn)) ??
      `The service was renewed as what it becomes on ${open.effectiveOn}; change it after that day`;
    throw fail('conflict', { message });
  }
  await giveUpChange(tx, service, open);
  return null;
}

async function sameAs(tx: Tx, service: Running, open: Open, wanted: UpgradeRequest, growths: Growths) {
  await requireProduct(tx, wanted.product_id);
  const cycle = open.cycle ?? service.cycle;
  if (open.productId !== wanted.product_id || cycle !== (wanted.cycle ?? service.cycle)) {
    throw fail('conflict', {
      message: await reasonOfOpen(tx, open.invoiceId, 'for another change of this service'),
    });
  }
  const priced = await price(tx, service, { ...wanted, couponcode: undefined }, growths);
  const tax = await taxOf(tx, service.organizationId, { lock: false });
  const agreed = {
    ...priced,
    ...{ newPriceMinor: open.priceMinor, chargeMinor: open.chargeMinor },
    ...{ creditMinor: open.creditMinor, discountMinor: open.discountMinor },
    period: periodOf(open),
  };
  return viewOffer(service, agreed, { invoiceId: open.invoiceId, totalMinor: totalOf(service, agreed, tax) });
}

/** Also one of the size of a machine: what is priced before it counts would be priced by what it is no more. */
async function requireNoOther(tx: Tx, serviceId: number): Promise<void> {
  await requireNoneUnderWay(tx, serviceId);
  const other = (await unpaidFor(tx, serviceId)).find(({ kind }) => kind === 'upgrade');
  if (other === undefined) return;
  throw fail('conflict', { message: await reasonOfOpen(tx, other.id, 'for another change of this service') });
}

async function quote(ctx: OrganizationContext, service: Running, wanted: UpgradeRequest, growths: Growths) {
  const priced = await price(ctx, service, wanted, growths);
  const tax = await taxOf(ctx, service.organizationId, { lock: false });
  return viewOffer(service, priced, { invoiceId: null, totalMinor: totalOf(service, priced, tax) });
}

async function order(tx: Tx, service: Running, priced: PricedRequest, tax: Tax, growths: Growths) {
  await requireFewUnpaid(tx, service.organizationId);
  const holdsStock = await hold(tx, service, priced, growths);
  const invoiceId = newId();
  const { totalMinor } = await issueInvoice(tx, {
    id: invoiceId,
    organizationId: service.organizationId,
    userId: tx.actor.userId,
    kind: 'upgrade',
    currency: service.currency,
    lines: [lineOf(service, priced)],
    tax,
    couponId: priced.coupon?.id ?? null,
    expiresAt: changeDueAt(tx, service.duedate),
  });
  const { id: serviceId, organizationId } = service;
  const couponId = priced.coupon?.id ?? null;
  await writeChange(tx, priced, {
    ...{ id: newId(), organizationId, serviceId, invoiceId, couponId, holdsStock },
    ...{ state: 'waiting', effectiveOn: null },
  });
  if (totalMinor === 0) await settleFree(tx, invoiceId);
  return viewOffer(service, priced, { invoiceId, totalMinor });
}

/** There is nothing to pay. A coupon that would take nothing off was refused. */
async function change(tx: Tx, service: Running, priced: PricedRequest, growths: Growths) {
  const holdsStock = await hold(tx, service, priced, growths);
  const later = isLater(service, priced);
  const { id: serviceId, organizationId, duedate } = service;
  const written = await writeChange(tx, priced, {
    ...{ id: newId(), organizationId, serviceId, invoiceId: null, couponId: null, holdsStock },
    ...(later ? { state: 'scheduled', effectiveOn: duedate } : { state: 'applied', effectiveOn: null }),
  });
  if (!later) await applyChange(tx, service, written);
  return viewOffer(service, priced, { invoiceId: null, totalMinor: 0 });
}

/** The product that is left says when a change with nothing to pay counts. */
export function isLater(service: Terms, priced: Pick<Priced, 'chargeMinor'>): boolean {
  return priced.chargeMinor === 0 && service.downgrade === 'period_end';
}

/** Takes what the other product needs: the coupon's use, one of the stock, room and addresses, in checkout's order. */
async function hold(
  tx: Tx,
  service: Running,
  { product, options, coupon }: PricedRequest,
  growths: Growths,
): Promise<boolean> {
  if (coupon !== null) await redeemCoupon(tx, coupon, service.organizationId);
  const holdsStock = countsStock(product);
  if (holdsStock) await reserveStock(tx, new Map([[product.id, 1]]));
  await growths[kindOf(service.moduleId).type]?.hold(tx, service, options);
  return holdsStock;
}

export function totalOf(service: Running, priced: Priced, tax: Tax): number {
  return totalsOf([lineOf(service, priced)], tax).totalMinor;
}

function periodOf({ cycle, startsOn, endsOn }: Change): NewPeriod | null {
  if (cycle === null || startsOn === null || endsOn === null || !isCycle(cycle)) return null;
  return { cycle, startsOn, endsOn };
}

function lineOf(service: Running, { product, chargeMinor, discountMinor, period }: Priced) {
  const time =
    period === null
      ? `until ${service.duedate}`
      : `${period.cycle}, from ${period.startsOn} to ${period.endsOn}`;
  const name = service.domain === null ? service.productName : `${service.productName}, ${service.domain}`;
  return {
    productId: product.id,
    serviceId: service.id,
    description: `${name}: ${service.productName} → ${product.name}, ${time}`,
    priceMinor: chargeMinor,
    setupFeeMinor: 0,
    discountMinor,
  };
}
