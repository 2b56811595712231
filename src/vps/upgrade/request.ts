import { issueInvoice, reasonOfOpen, requireFewUnpaid, taxOf, totalsOf } from '../../billing/index.ts';
import { requireOpen } from '../../organizations/index.ts';
import {
  fail,
  formatMoney,
  newId,
  type OrganizationContext,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import {
  changeDueAt,
  closeRenewal,
  findChange,
  lockTerms,
  requireAction,
  requireTerms,
  type Terms,
  whatKeeps,
} from '../../services/index.ts';
import { viewAction } from '../actions/history.ts';
import { requireVps } from '../queries.ts';
import { applyUpgrade, giveBackWaiting, reserveGrowth } from './apply.ts';
import { type PaidTerms, type PricedUpgrade, priceUpgrade, type SizeChange } from './price.ts';
import { findWaiting, type WaitingUpgrade, writeUpgrade } from './queries.ts';

export type UpgradeRequest = SizeChange & { dry_run?: boolean };

/**
 * Changes the resources of a VPS (contract §3). When there is something to pay for the days that remain, the
 * room is held and the change counts once its invoice is paid; otherwise it counts at once. Asked for again,
 * an upgrade that waits is returned as it is. `invalid_configuration`, `insufficient_stock`, `conflict`.
 */
export async function upgradeVps(
  ctx: OrganizationContext,
  id: number,
  { dry_run, ...change }: UpgradeRequest,
) {
  await requireVps(ctx, id);
  if (dry_run === true) return quote(ctx, requireActive(ctx, await requireTerms(ctx, id)), change);
  return transaction(ctx, 'vps.upgradeVps', async (tx) => {
    // In the order of every invoice: the organization first, then what the invoice is for.
    const tax = await taxOf(tx, ctx.organizationId, { lock: true });
    await requireOpen(tx, ctx.organizationId);
    const service = await lockWithoutRenewal(tx, id);
    const waiting = await findWaiting(tx, { serviceId: id });
    const open = waiting === null ? null : await reopen(tx, service, waiting);
    if (open === null) await requireNoOther(tx, id);
    const priced = await priceUpgrade(tx, service, change);
    if (open !== null) return sameAs(tx, open, service, priced);
    await reserveGrowth(tx, service, priced.options);
    return priced.chargeMinor === 0 ? apply(tx, service, priced) : order(tx, service, priced, tax);
  });
}

/** The terms to change. A renewal that is open would be paid at the old price, so it is cancelled; one that is paid counts. */
async function lockWithoutRenewal(tx: OrganizationContext & TxContext, id: number): Promise<PaidTerms> {
  const before = requireActive(tx, await lockTerms(tx, id));
  await closeRenewal(tx, before, 'an upgrade changes the price of what it renews', { isReplaced: true });
  return requireActive(tx, await lockTerms(tx, id));
}

function requireActive(ctx: OrganizationContext, service: Terms): PaidTerms {
  requireAction('upgrade_vps', service, ctx.clock.now());
  const { duedate } = service;
  if (duedate === null) throw new Error(`service ${service.id} is active and has no due date`);
  return { ...service, duedate };
}

/** A change to another product is priced without this one: one after the other. */
async function requireNoOther(tx: TxContext, serviceId: number): Promise<void> {
  const other = await findChange(tx, { serviceId });
  if (other === null) return;
  const message =
    other.invoiceId === null
      ? ((await whatKeeps(tx, other.effectiveOn)) ??
        `The service becomes another product on ${other.effectiveOn}; change its size after that day`)
      : await reasonOfOpen(tx, other.invoiceId, 'for another change of this service');
  throw fail('conflict', { message });
}

/** The upgrade that waits for its payment; null when its invoice has just expired. */
async function reopen(
  tx: TxContext,
  service: PaidTerms,
  waiting: WaitingUpgrade,
): Promise<WaitingUpgrade | null> {
  if (waiting.invoice_status === 'unpaid') return waiting;
  if (waiting.invoice_status === 'cancelled') {
    await giveBackWaiting(tx, service, waiting);
    return null;
  }
  throw fail('conflict', { message: 'An upgrade of this service was paid and is being carried out' });
}

async function sameAs(tx: TxContext, open: WaitingUpgrade, service: PaidTerms, priced: PricedUpgrade) {
  const keys = new Set([...Object.keys(open.options), ...Object.keys(priced.changes)]);
  const isSame = [...keys].every((key) => open.options[key] === priced.changes[key]);
  if (!isSame) {
    throw fail('conflict', {
      message: await reasonOfOpen(tx, open.invoice_id, 'for another change of this service'),
    });
  }
  return view(service, {
    invoiceId: open.invoice_id,
    chargeMinor: open.charge_minor,
    creditMinor: open.credit_minor,
    newPriceMinor: open.price_minor,
    totalMinor: open.total_minor,
    options: { ...service.options, ...open.options },
  });
}

async function quote(ctx: OrganizationContext, service: PaidTerms, change: SizeChange) {
  const priced = await priceUpgrade(ctx, service, change);
  const tax = await taxOf(ctx, service.organizationId, { lock: false });
  const { totalMinor } = totalsOf([lineOf(service, priced)], tax);
  return view(service, { ...priced, invoiceId: null, totalMinor });
}

async function order(
  tx: OrganizationContext & TxContext,
  service: PaidTerms,
  priced: PricedUpgrade,
  tax: Awaited<ReturnType<typeof taxOf>>,
) {
  await requireFewUnpaid(tx, service.organizationId);
  const invoiceId = newId();
  const { totalMinor } = await issueInvoice(tx, {
    id: invoiceId,
    organizationId: service.organizationId,
    userId: tx.actor.userId,
    kind: 'upgrade',
    currency: service.currency,
    lines: [lineOf(service, priced)],
    tax,
    couponId: null,
    expiresAt: changeDueAt(tx, service.duedate),
  });
  await writeUpgrade(tx, { ...upgradeOf(service, priced), invoiceId, state: 'waiting' });
  return view(service, { ...priced, invoiceId, totalMinor });
}

async function apply(tx: OrganizationContext & TxContext, service: PaidTerms, priced: PricedUpgrade) {
  const upgrade = upgradeOf(service, priced);
  await writeUpgrade(tx, { ...upgrade, invoiceId: null, state: 'applied' });
  const action = viewAction(tx, await applyUpgrade(tx, service, upgrade));
  return { ...view(service, { ...priced, invoiceId: null, totalMinor: 0 }), action };
}

function upgradeOf(service: PaidTerms, priced: PricedUpgrade) {
  const { changes, newPriceMinor, lots, chargeMinor, creditMinor } = priced;
  const { organizationId, id: serviceId } = service;
  return { id: newId(), organizationId, serviceId, changes, newPriceMinor, lots, chargeMinor, creditMinor };
}

function lineOf(service: PaidTerms, { product, changes, chargeMinor }: PricedUpgrade) {
  const changed = Object.entries(changes).map(([key, value]) => {
    const label = product.options.find((option) => option.key === key)?.label ?? key;
    return `${label} ${service.options[key]} → ${value}`;
  });
  const name = service.domain === null ? product.name : `${product.name}, ${service.domain}`;
  return {
    productId: service.productId,
    serviceId: service.id,
    description: `${name}: ${changed.join(', ')}, until ${service.duedate}`,
    priceMinor: chargeMinor,
    setupFeeMinor: 0,
    discountMinor: 0,
  };
}

interface Offer {
  invoiceId: number | null;
  chargeMinor: number;
  creditMinor: number;
  newPriceMinor: number;
  totalMinor: number;
  options: Record<string, unknown>;
}

function view(service: PaidTerms, offer: Offer) {
  const money = (minor: number) => formatMoney(minor, service.currency);
  return {
    invoice_id: offer.invoiceId,
    prorated_charge: money(offer.chargeMinor),
    credit: money(offer.creditMinor),
    new_price: money(offer.newPriceMinor),
    total: money(offer.totalMinor),
    currency: service.currency,
    effective: offer.chargeMinor > 0 ? ('on_payment' as const) : ('now' as const),
    options: offer.options,
    action: null,
  };
}
