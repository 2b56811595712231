import { dueAt, issueInvoice, requireFewUnpaid, settleFree, taxOf } from '../billing/index.ts';
import { countsStock, redeemCoupon, reserveStock } from '../catalog/index.ts';
import { requireOpen } from '../organizations/index.ts';
import { newId, type OrganizationContext, type TxContext, transaction } from '../platform/index.ts';
import { createServices } from '../services/index.ts';
import { orderOf } from './check.ts';
import type { Cart } from './find.ts';
import { linesOf, type PricedCart, type PricedItem, priceCart } from './price.ts';
import { viewPriced } from './view.ts';

interface OrderedItem extends PricedItem {
  serviceId: number;
}

/**
 * Orders what is in the cart: reserves stock, coupon, room and addresses, writes the pending services and the
 * unpaid invoice, all or nothing (specification §4.1, contract §2). What costs nothing is paid with that.
 */
export async function checkout(ctx: OrganizationContext, cart: Cart) {
  return transaction(ctx, 'cart.checkout', async (tx) => {
    const priced = await priceCart(tx, cart);
    const items = priced.items.map((item) => ({ ...item, serviceId: newId() }));
    // None needs the other's answer, so they travel together; in this order they lock, and are answered.
    const [tax] = await Promise.all([
      taxOf(tx, ctx.organizationId, { lock: true }),
      requireFewUnpaid(tx, ctx.organizationId),
      reserve(tx, ctx.organizationId, priced, items),
    ]);

    await requireOpen(tx, ctx.organizationId);
    const invoiceId = newId();
    const expiresAt = dueAt(tx);
    const serviceIds = items.map((item) => item.serviceId);
    // Neither needs the other's answer, so their statements travel together.
    const [, totals] = await Promise.all([
      createServices(
        tx,
        {
          organizationId: ctx.organizationId,
          userId: ctx.actor.userId,
          invoiceId,
          currency: priced.currency,
        },
        items.map(asService),
      ),
      issueInvoice(tx, {
        id: invoiceId,
        organizationId: ctx.organizationId,
        userId: ctx.actor.userId,
        kind: 'order',
        currency: priced.currency,
        lines: linesOf(items, serviceIds),
        tax,
        couponId: priced.coupon?.id ?? null,
        expiresAt,
      }),
    ]);
    if (totals.totalMinor === 0) await settleFree(tx, invoiceId);
    return {
      invoice_id: invoiceId,
      ...viewPriced(priced, totals),
      service_ids: serviceIds,
      reserved_until: expiresAt,
    };
  });
}

async function reserve(
  tx: TxContext,
  organizationId: number,
  cart: PricedCart,
  items: OrderedItem[],
): Promise<void> {
  const wanted = new Map<number, number>();
  for (const { product } of items) {
    if (countsStock(product)) wanted.set(product.id, (wanted.get(product.id) ?? 0) + 1);
  }
  await Promise.all([
    cart.coupon !== null && redeemCoupon(tx, cart.coupon, organizationId),
    reserveStock(tx, wanted),
    hold(tx, organizationId, items),
  ]);
}

/** What the kinds take for all of their services at once, one kind after the other. */
async function hold(tx: TxContext, organizationId: number, items: OrderedItem[]): Promise<void> {
  for (const kind of new Set(items.map((item) => item.kind))) {
    const ofKind = items.filter((item) => item.kind === kind);
    await kind.hold(
      tx,
      organizationId,
      ofKind.map((item) => ({ id: item.serviceId, ...orderOf(item) })),
    );
  }
}

function asService(item: OrderedItem) {
  return {
    id: item.serviceId,
    productId: item.product.id,
    domain: item.domain,
    cycle: item.cycle,
    firstPriceMinor: item.price.recurringMinor + item.price.setupFeeMinor - item.discountMinor,
    priceMinor: item.price.recurringMinor,
    lots: item.price.lots,
    options: item.options,
    password: item.password,
    holdsStock: countsStock(item.product),
    onServer: item.product.servers !== null,
  };
}
