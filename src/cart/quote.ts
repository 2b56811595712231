import { type Tax, taxOf } from '../billing/index.ts';
import { type Context, fail } from '../platform/index.ts';
import { type Cart, type PricedCart, priceCart, totalsOfCart } from './price.ts';
import { viewPriced } from './view.ts';

const untaxed: Tax = { country: null, rateBasisPoints: 0, exempt: true };

/**
 * What an order would cost, nothing written. Anybody may ask; for a member of an organization the quote holds
 * that organization's tax and equals the invoice that would follow.
 */
export async function quoteCart(ctx: Context, cart: Cart) {
  const priced = await priceCart(ctx, cart);
  checkStock(priced);
  const tax = ctx.organizationId === null ? untaxed : await taxOf(ctx, ctx.organizationId, { lock: false });
  return {
    invoice_id: null,
    ...viewPriced(priced, totalsOfCart(priced, tax)),
    service_ids: [],
    reserved_until: null,
  };
}

function checkStock(cart: PricedCart): void {
  for (const { product } of cart.items) {
    const wanted = cart.items.filter((item) => item.product.id === product.id).length;
    if (product.stock !== null && product.stock < wanted) throw fail('insufficient_stock');
  }
}
