import type { Totals } from '../billing/index.ts';
import { formatMoney } from '../platform/index.ts';
import type { PricedCart } from './price.ts';

/** The priced part of a quote's and an order's answer. */
export function viewPriced(cart: PricedCart, totals: Totals) {
  const money = (minor: number) => formatMoney(minor, cart.currency);
  return {
    currency: cart.currency,
    subtotal: money(totals.subtotalMinor),
    discount: money(totals.discountMinor),
    tax: money(totals.taxMinor),
    total: money(totals.totalMinor),
    items: cart.items.map((item) => ({
      product_id: item.product.id,
      name: item.product.name,
      cycle: item.cycle,
      domain: item.domain,
      price: money(item.price.recurringMinor),
      setup_fee: money(item.price.setupFeeMinor),
      discount: money(item.discountMinor),
    })),
  };
}
