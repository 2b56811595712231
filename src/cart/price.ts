import { type Line, type Tax, type Totals, totalsOf } from '../billing/index.ts';
import {
  type Coupon,
  type Cycle,
  checkOptions,
  discountOf,
  isCycle,
  type Price,
  type Product,
  priceOf,
  requireCoupon,
} from '../catalog/index.ts';
import { type Context, type ErrorDetail, fail } from '../platform/index.ts';
import type { Kind } from '../services/index.ts';
import { checkDomains, checkMeans, checkPasswords, requireOptions } from './check.ts';
import { type Candidate, type Cart, requireOrdered } from './find.ts';

/** One item that can be ordered, with what it costs. */
export interface PricedItem {
  product: Product;
  kind: Kind;
  cycle: Cycle;
  /** Hostname or domain name; null for products without one. */
  domain: string | null;
  options: Record<string, unknown>;
  password: string | null;
  price: Price;
  discountMinor: number;
}

export interface PricedCart {
  currency: string;
  items: PricedItem[];
  coupon: Coupon | null;
}

/**
 * Holds a cart against the catalogue and prices it. The checks come in the order of contract §2, each over
 * the whole cart before the next: products, options, operating systems, domains, passwords, coupon. Stock
 * comes last, when the order takes it.
 */
export async function priceCart(ctx: Context, cart: Cart): Promise<PricedCart> {
  if (cart.products.length === 0) throw fail('empty_cart');
  const candidates = await requireOrdered(ctx, cart.products);
  const currency = candidates[0]?.product.currency ?? '';
  requireOptions(candidates);
  const priced = configure(candidates);
  await checkMeans(ctx, priced);
  checkDomains(candidates);
  checkPasswords(candidates);
  const coupon = cart.couponcode === undefined ? null : await requireCoupon(ctx, cart.couponcode);
  const discounts = coupon === null ? [] : discountOf(coupon, currency, priced.map(toAmount));
  return {
    currency,
    coupon,
    items: priced.map((item, index) => ({ ...item, discountMinor: discounts[index] ?? 0 })),
  };
}

function configure(candidates: Candidate[]): Omit<PricedItem, 'discountMinor'>[] {
  const problems: ErrorDetail[] = [];
  const priced = candidates.map(({ item, product, kind, path }) => {
    const { domain, password, ...options } = item.options ?? {};
    problems.push(...problemsWith({ product, kind, path }, options));
    const price = isCycle(item.cycle) ? priceOf(product, item.cycle, options) : null;
    if (price === null) {
      const sold = product.prices.map((known) => known.cycle).join(', ');
      problems.push({ field: `${path}.cycle`, message: `${product.name} is sold ${sold}` });
    }
    const cycle = item.cycle as Cycle;
    const name = item.domain ?? domain;
    return {
      product,
      kind,
      cycle,
      options,
      domain: name?.toLowerCase() ?? null,
      password: password ?? null,
      price: price ?? { recurringMinor: 0, setupFeeMinor: 0, lots: {} },
    };
  });
  const other = candidates.findIndex(({ product }) => product.currency !== candidates[0]?.product.currency);
  if (other > 0)
    problems.push({ field: `products[${other}].id`, message: 'is sold in another currency; order it apart' });
  if (problems.length > 0) throw fail('invalid_configuration', { details: problems });
  return priced;
}

// What the product allows and its kind cannot read is the mistake of who made the product; nobody can order it.
function problemsWith(
  { product, kind, path }: Pick<Candidate, 'product' | 'kind' | 'path'>,
  options: Record<string, unknown>,
): ErrorDetail[] {
  const problems = checkOptions(product, options, `${path}.options`);
  if (problems.length > 0) return problems;
  const message = 'cannot be delivered with this value';
  return kind.unreadable(options).map((key) => ({ field: `${path}.options.${key}`, message }));
}

function toAmount(item: Omit<PricedItem, 'discountMinor'>) {
  const { recurringMinor, setupFeeMinor } = item.price;
  return { productId: item.product.id, cycle: item.cycle, amountMinor: recurringMinor + setupFeeMinor };
}

/** The lines of the invoice that this cart becomes; quotes use the same ones, so the two never differ. */
export function linesOf(items: readonly PricedItem[], serviceIds: readonly (number | null)[]): Line[] {
  return items.map((item, index) => ({
    productId: item.product.id,
    serviceId: serviceIds[index] ?? null,
    description:
      item.domain === null
        ? `${item.product.name}, ${item.cycle}`
        : `${item.product.name}, ${item.domain}, ${item.cycle}`,
    priceMinor: item.price.recurringMinor,
    setupFeeMinor: item.price.setupFeeMinor,
    discountMinor: item.discountMinor,
  }));
}

export function totalsOfCart(cart: PricedCart, tax: Tax): Totals {
  return totalsOf(linesOf(cart.items, []), tax);
}
