import { statement, type TxContext } from '../platform/index.ts';
import type { Product } from './products.ts';
import { insertProduct } from './write.ts';

type Given =
  | 'id'
  | 'group'
  | 'status'
  | 'downgrade'
  | 'traffic'
  | 'updatedAt'
  | 'position'
  | 'retiredOptions'
  | 'servers';

export type NewProduct = Omit<Product, Given> & {
  /** By its name; made when there is none. */
  group: string;
  traffic?: Product['traffic'];
};

const findOrMakeGroup = statement<{ id: number }, { name: string }>(
  'catalog.findOrMakeGroup',
  `insert into product_groups (name, position)
   values (:name, (select least(coalesce(max(position), 0) + 1, 999999) from product_groups))
   on conflict (name) do update set name = excluded.name
   returning id`,
);

/** Puts a product on sale. Returns its id. */
export async function addProduct(ctx: TxContext, product: NewProduct): Promise<number> {
  const { id } = await ctx.db.one(findOrMakeGroup, { name: product.group });
  return insertProduct(ctx, {
    ...product,
    ...{ group: { id, name: product.group }, status: 'active', downgrade: 'now', position: null },
    ...{ retiredOptions: [], traffic: product.traffic ?? null },
  });
}
