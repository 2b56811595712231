import { type ChoiceOption, findProductsForSale, type Product, stockOf } from '../catalog/index.ts';
import { AppError, type Context, type Lack, type LackSource } from '../platform/index.ts';
import { type Kind, kindOf } from '../services/index.ts';

const products = { page: '/staff/products', operation: 'updateProduct' } as const;

/** Why something cannot be ordered: what the provider has to do first. */
type Reason = 'products.none' | 'products.sold_out' | 'products.no_image' | 'products.no_room';

const lacks: Record<Reason, Pick<Lack, 'message' | 'mendedAt'>> = {
  'products.none': {
    message: 'Nothing is for sale: no product is active and has a price',
    mendedAt: products,
  },
  'products.sold_out': {
    message: 'Nothing can be ordered: every product is sold out',
    mendedAt: products,
  },
  'products.no_image': {
    message: 'Nothing can be ordered: no product names an operating-system image that is on offer and fits',
    mendedAt: { page: '/staff/images', operation: 'changeOperatingSystemImage' },
  },
  'products.no_room': {
    message:
      'Nothing can be ordered: where products are sold, no node that takes machines has room for the smallest, or no address is free',
    mendedAt: { page: '/staff/nodes', operation: 'updateNode' },
  },
};

/** The nearer an order comes to be taken, the later. */
const reasons = Object.keys(lacks) as Reason[];

/** That no product can be ordered, each asked for in its smallest size as an order would be. */
export const cartLacks: LackSource = {
  codes: reasons,
  find: async (ctx) => {
    let nearest: Reason = 'products.none';
    for (const product of await findProductsForSale(ctx)) {
      const reason = await reasonAgainst(ctx, product);
      if (reason === null) return [];
      if (reasons.indexOf(reason) > reasons.indexOf(nearest)) nearest = reason;
    }
    return [{ code: nearest, ...lacks[nearest] }];
  },
};

async function reasonAgainst(ctx: Context, product: Product): Promise<Reason | null> {
  const kind = kindOf(product.moduleId, product.servers !== null);
  const asOrders = (orders: Order[]) => orders.map((options) => ({ productId: product.id, options }));
  const orders = ordersOf(product, 'min').filter((order) => kind.missing(order).length === 0);
  if (product.prices.length === 0 || orders.length === 0) return 'products.none';
  if (stockOf(product) === 0) return 'products.sold_out';
  // A system that is too big for the smallest machine may fit into a bigger one.
  const problems = await kind.problems(ctx, asOrders([...orders, ...ordersOf(product, 'max')]));
  if (problems.every((each) => each.length > 0)) return 'products.no_image';
  for (const order of asOrders(orders)) if (await isAvailable(ctx, kind, order)) return null;
  return 'products.no_room';
}

async function isAvailable(
  ctx: Context,
  kind: Kind,
  order: { productId: number; options: Order },
): Promise<boolean> {
  try {
    await kind.requireAvailable(ctx, [order]);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'insufficient_stock') return false;
    throw error;
  }
}

type Order = Record<string, unknown>;

/** The product with its first choices in one size, and once more for each other choice. */
function ordersOf({ options }: Product, size: 'min' | 'max'): Order[] {
  const first = Object.fromEntries(
    options.map((option) => [option.key, option.kind === 'choice' ? option.choices[0]?.value : option[size]]),
  );
  const others = options.flatMap((option) => (option.kind === 'choice' ? othersOf(option) : []));
  return [first, ...others.map((choice) => ({ ...first, ...choice }))];
}

function othersOf({ key, choices }: ChoiceOption): Order[] {
  return choices.slice(1).map(({ value }) => ({ [key]: value }));
}
