import { findProducts, type Product } from '../catalog/index.ts';
import { type Context, fail } from '../platform/index.ts';
import { type Kind, kindOf } from '../services/index.ts';

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

/** An item whose product is for sale, with where it stands in the cart. */
export interface Candidate {
  item: Item;
  product: Product;
  kind: Kind;
  path: string;
}

/** The products of a cart: all of them known, for sale, and of the type that the item says. */
export async function requireOrdered(ctx: Context, items: Item[]): Promise<Candidate[]> {
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
    return { item, product, kind: kindOf(product.moduleId, product.servers !== null), path };
  });
}

// Specification §7 and contract §1: absent is "missing fields", no product id at all "product not found".
function productId(id: unknown, field: string): number {
  if (id === undefined) throw fail('missing_fields', { details: [{ field, message: 'is missing' }] });
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id;
  throw fail('product_not_orderable', { details: [{ field, message: 'must be a positive integer' }] });
}
