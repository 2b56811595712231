import { taxOf, taxOfVisitor } from '../billing/index.ts';
import { stockOf } from '../catalog/index.ts';
import { type Context, fail } from '../platform/index.ts';
import { orderOf } from './check.ts';
import type { Cart } from './find.ts';
import { type PricedCart, priceCart, totalsOfCart } from './price.ts';
import { viewPriced } from './view.ts';

/**
 * What an order would cost, or why it would be refused, nothing written. Anybody may ask; for a member of an
 * organization the quote holds that organization's tax and equals the invoice that would follow.
 */
export async function quoteCart(ctx: Context, cart: Cart) {
  const priced = await priceCart(ctx, cart);
  requireStock(priced);
  await requireMeans(ctx, priced);
  const tax = await (ctx.organizationId === null
    ? taxOfVisitor(ctx)
    : taxOf(ctx, ctx.organizationId, { lock: false }));
  return {
    invoice_id: null,
    ...viewPriced(priced, totalsOfCart(priced, tax)),
    service_ids: [],
    reserved_until: null,
  };
}

function requireStock(cart: PricedCart): void {
  for (const { product } of cart.items) {
    const wanted = cart.items.filter((item) => item.product.id === product.id).length;
    const left = stockOf(product);
    if (left !== null && left < wanted) throw fail('insufficient_stock');
  }
}

async function requireMeans(ctx: Context, { items }: PricedCart): Promise<void> {
  for (const kind of new Set(items.map((item) => item.kind))) {
    const ofKind = items.filter((item) => item.kind === kind);
    await kind.requireAvailable(ctx, ofKind.map(orderOf));
  }
}
