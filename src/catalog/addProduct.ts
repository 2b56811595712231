import { statement, type TxContext } from '../platform/index.ts';
import type { Product } from './products.ts';

export type NewProduct = Omit<Product, 'id' | 'group' | 'status' | 'downgrade' | 'updatedAt'> & {
  group: string;
};

const findOrMakeGroup = statement<{ id: number }, { name: string }>(
  'catalog.findOrMakeGroup',
  `insert into product_groups (name) values (:name) on conflict (name) do update set name = excluded.name
   returning id`,
);
const insertProduct = statement<
  { id: number },
  {
    type: 'Hosting' | 'Domain';
    moduleId: number;
    groupId: number;
    name: string;
    description: string;
    currency: string;
    stock: number | null;
    now: Date;
  }
>(
  'catalog.insertProduct',
  `insert into products (type, module_id, group_id, name, description, currency, stock, created_at, updated_at)
   values (:type, :moduleId, :groupId, :name, :description, :currency, :stock, :now, :now) returning id`,
);
const insertPrices = statement<never, { productId: number; prices: string }>(
  'catalog.insertPrices',
  `insert into product_prices (product_id, cycle, price_minor, setup_fee_minor)
   select :productId, p.cycle, p.price_minor, p.setup_fee_minor
   from jsonb_to_recordset(:prices::jsonb) as p(cycle text, price_minor bigint, setup_fee_minor bigint)`,
);
const insertOptions = statement<never, { productId: number; options: string }>(
  'catalog.insertOptions',
  `insert into product_options (product_id, key, name, label, kind, min, max, step, choices, unit_price_minor, required)
   select :productId, o.key, o.name, o.label, o.kind, o.min, o.max, o.step, o.choices, o.unit_price_minor,
     o.required
   from jsonb_to_recordset(:options::jsonb) as o(key text, name text, label text, kind text, min int, max int,
     step int,
     choices jsonb, unit_price_minor bigint, required boolean)`,
);

/** Puts a product on sale. Returns its id. */
export async function addProduct(ctx: TxContext, product: NewProduct): Promise<number> {
  const group = await ctx.db.one(findOrMakeGroup, { name: product.group });
  const { id } = await ctx.db.one(insertProduct, {
    type: product.type,
    moduleId: product.moduleId,
    groupId: group.id,
    name: product.name,
    description: product.description,
    currency: product.currency,
    stock: product.stock,
    now: ctx.clock.now(),
  });
  const prices = product.prices.map((price) => ({
    cycle: price.cycle,
    price_minor: price.priceMinor,
    setup_fee_minor: price.setupFeeMinor,
  }));
  const options = product.options.map(({ key, name, label, kind, required, ...option }) => ({
    ...{ key, name, label, kind, required, unit_price_minor: 0 },
    ...('choices' in option
      ? {
          choices: option.choices.map(({ priceMinor, ...choice }) => ({
            ...choice,
            price_minor: priceMinor,
          })),
        }
      : { min: option.min, max: option.max, step: option.step, unit_price_minor: option.unitPriceMinor }),
  }));
  // As text, because the driver would write a JavaScript array as a PostgreSQL array.
  await ctx.db.run(insertPrices, { productId: id, prices: JSON.stringify(prices) });
  await ctx.db.run(insertOptions, { productId: id, options: JSON.stringify(options) });
  return id;
}
