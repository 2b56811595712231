import { type Line, type Tax, type Totals, totalsOf } from '../billing/index.ts';
import {
  type Coupon,
  type Cycle,
  checkOptions,
  discountOf,
  findCoupon,
  findProducts,
  isCycle,
  missingOptions,
  modules,
  type Price,
  type Product,
  priceOf,
} from '../catalog/index.ts';
import { identityLimits } from '../drivers/hypervisor/index.ts';
import { listImages, reasonAgainst } from '../fleet/index.ts';
import { type Context, type ErrorDetail, fail, isDomain } from '../platform/index.ts';
import { isStrongPassword, machineSize } from '../services/index.ts';

/** A cart as it arrives, its shape checked. */
export interface Cart {
  products: Item[];
  couponcode?: string | undefined;
}

export interface Item {
  id?: unknown;
  cycle: string;
  type: string;
  domain?: string | undefined;
  options?: ItemOptions | undefined;
}

export type ItemOptions = Record<string, unknown> & { domain?: string; password?: string };

/** One item that can be ordered, with what it costs. */
export interface PricedItem {
  product: Product;
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

interface Candidate {
  item: Item;
  product: Product;
  path: string;
}

/**
 * Holds a cart against the catalogue and prices it. The checks come in the order of contract §2, each over
 * the whole cart before the next: products, options, operating systems, domains, passwords, coupon. Stock
 * comes last, when the order takes it.
 */
export async function priceCart(ctx: Context, cart: Cart): Promise<PricedCart> {
  if (cart.products.length === 0) throw fail('empty_cart');
  const candidates = await findOrdered(ctx, cart.products);
  const currency = candidates[0]?.product.currency ?? '';
  requireOptions(candidates);
  const priced = configure(candidates);
  await checkSystems(ctx, priced);
  checkDomains(candidates);
  checkPasswords(candidates);
  const coupon = cart.couponcode === undefined ? null : await findCoupon(ctx, cart.couponcode);
  const discounts = coupon === null ? [] : discountOf(coupon, currency, priced.map(toAmount));
  return {
    currency,
    coupon,
    items: priced.map((item, index) => ({ ...item, discountMinor: discounts[index] ?? 0 })),
  };
}

async function findOrdered(ctx: Context, items: Item[]): Promise<Candidate[]> {
  const ids = items.map((item, index) => productId(item.id, `products[${index}].id`));
  const products = await findProducts(ctx, [...new Set(ids)]);
  return items.map((item, index) => {
    const path = `products[${index}]`;
    const product = products.get(ids[index] ?? 0);
    const details = (message: string, field = 'id') => ({
      details: [{ field: `${path}.${field}`, message }],
    });
    if (!product) throw fail('product_unknown', details('no product has this id'));
    if (product.status !== 'active')
      throw fail('product_not_orderable', details('this product is not for sale'));
    if (product.type !== item.type) {
      throw fail('product_not_orderable', details(`this product is of the type ${product.type}`, 'type'));
    }
    return { item, product, path };
  });
}

// Specification §7 and contract §1: absent is "missing fields", no product id at all "product not found".
function productId(id: unknown, field: string): number {
  if (id === undefined) throw fail('missing_fields', { details: [{ field, message: 'is required' }] });
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id;
  throw fail('product_not_orderable', { details: [{ field, message: 'must be a positive integer' }] });
}

function requireOptions(candidates: Candidate[]): void {
  const missing = candidates.flatMap(({ item, product, path }) => {
    if (product.type === 'Domain') return item.domain === undefined ? [`${path}.domain`] : [];
    if (!needsOptions(product)) return [];
    if (item.options === undefined) return [`${path}.options`];
    const machine = ['domain', 'password'].filter((key) => item.options?.[key] === undefined);
    return [...missingOptions(product, item.options), ...machine].map((key) => `${path}.options.${key}`);
  });
  if (missing.length === 0) return;
  throw fail('missing_fields', { details: missing.map((field) => ({ field, message: 'is required' })) });
}

function needsOptions(product: Product): boolean {
  return product.moduleId === modules.vps || product.moduleId === modules.dedicated;
}

function configure(candidates: Candidate[]): Omit<PricedItem, 'discountMinor'>[] {
  const problems: ErrorDetail[] = [];
  const priced = candidates.map(({ item, product, path }) => {
    const { domain, password, ...options } = item.options ?? {};
    problems.push(...checkOptions(product, options, `${path}.options`));
    const price = isCycle(item.cycle) ? priceOf(product, item.cycle, options) : null;
    if (price === null) {
      const sold = product.prices.map((known) => known.cycle).join(', ');
      problems.push({ field: `${path}.cycle`, message: `${product.name} is sold ${sold}` });
    }
    const cycle = item.cycle as Cycle;
    const name = item.domain ?? domain;
    return {
      product,
      cycle,
      options,
      domain: name?.toLowerCase() ?? null,
      password: password ?? null,
      price: price ?? { recurringMinor: 0, setupFeeMinor: 0 },
    };
  });
  const other = candidates.findIndex(({ product }) => product.currency !== candidates[0]?.product.currency);
  if (other > 0)
    problems.push({ field: `products[${other}].id`, message: 'is sold in another currency; order it apart' });
  if (problems.length > 0) throw fail('invalid_configuration', { details: problems });
  return priced;
}

/** Whether each machine's operating system is on offer and fits into it. */
async function checkSystems(ctx: Context, items: Omit<PricedItem, 'discountMinor'>[]): Promise<void> {
  if (items.every(({ product }) => product.moduleId !== modules.vps)) return;
  const offered = new Map((await listImages(ctx)).map((image) => [image.slug, image]));
  const problems = items.flatMap(({ product, options }, index) => {
    if (product.moduleId !== modules.vps) return [];
    const size = machineSize(options);
    const image = offered.get(size.image);
    const message = image ? reasonAgainst(image, size) : `${size.image} is not offered at the moment`;
    return message === null ? [] : [{ field: `products[${index}].options.option6`, message }];
  });
  if (problems.length > 0) throw fail('invalid_configuration', { details: problems });
}

function checkDomains(candidates: Candidate[]): void {
  const problems = candidates.flatMap(({ item, product, path }) => [
    ...badDomain(item.domain, `${path}.domain`, product.type === 'Domain' ? 2 : 1),
    ...badDomain(item.options?.domain, `${path}.options.domain`, 1),
    ...secondDomain(item, path),
    ...(needsOptions(product) ? longHostname(item.options?.domain, `${path}.options.domain`) : []),
  ]);
  if (problems.length > 0) throw fail('invalid_domain', { details: problems });
}

// A service has one; of two that differ, one would be lost without a word.
function secondDomain({ domain, options }: Item, path: string): ErrorDetail[] {
  const other = options?.domain;
  if (domain === undefined || other === undefined || domain.toLowerCase() === other.toLowerCase()) return [];
  return [{ field: `${path}.domain`, message: 'is not the same as options.domain; send one of them' }];
}

function badDomain(domain: string | undefined, field: string, atLeast: number): ErrorDetail[] {
  if (domain === undefined || isDomain(domain, { atLeast })) return [];
  return [{ field, message: 'takes letters, digits, hyphens and dots, such as web1.example.com' }];
}

/** The domain of a machine becomes its hostname (contract §2), of which systems keep less than DNS does. */
function longHostname(domain: string | undefined, field: string): ErrorDetail[] {
  const most = identityLimits.hostnameBytes;
  if (domain === undefined || domain.length <= most) return [];
  return [{ field, message: `is the hostname of the machine and must have at most ${most} characters` }];
}

function checkPasswords(candidates: Candidate[]): void {
  const weak = candidates.flatMap(({ item, path }) => {
    const password = item.options?.password;
    return password === undefined || isStrongPassword(password) ? [] : [`${path}.options.password`];
  });
  if (weak.length === 0) return;
  const message = 'needs at least 8 characters of 3 of the 4 classes lower case, upper case, digit, special';
  throw fail('weak_password', { details: weak.map((field) => ({ field, message })) });
}

function toAmount(item: Omit<PricedItem, 'discountMinor'>) {
  return { productId: item.product.id, amountMinor: item.price.recurringMinor + item.price.setupFeeMinor };
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
