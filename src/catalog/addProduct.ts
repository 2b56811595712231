import { statement, type TxContext } from '../platform/index.ts';
import type { Product } from './products.ts';

export type NewProduct = Omit<Product, 'id' | 'group' | 'status' | 'updatedAt'> & { group: string };

const findOrMakeGroup = statement<{ id: number }>(
  'catalog.findOrMakeGroup',
  `insert into product_groups (name) values ($1) on conflict (name) do update set name = excluded.name returning id`,
);
const insertProduct = statement<{ id: number }>(
  'catalog.insertProduct',
  `insert into products (type, module_id, group_id, name, description, currency, stock, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $8) returning id`,
);
const insertPrices = statement(
  'catalog.insertPrices',
  `insert into product_prices (product_id, cycle, price_minor, setup_fee_minor)
   select $1, p.cycle, p.price_minor, p.setup_fee_minor
   from jsonb_to_recordset($2::jsonb) as p(cycle text, price_minor bigint, setup_fee_minor bigint)`,
);
const insertOptions = statement(
  'catalog.insertOptions',
  `insert into product_options (product_id, key, name, label, kind, min, max, step, choices, unit_price_minor, required)
   select $1, o.key, o.name, o.label, o.kind, o.min, o.max, o.step, o.choices, o.unit_price_minor, o.required
   from jsonb_to_recordset($2::jsonb) as o(key text, name text, label text, kind text, min int, max int, step int,
     choices jsonb, unit_price_minor bigint, required boolean)`,
);

/** Puts a product on sale. Returns its id. */
export async function addProduct(ctx: TxContext, product: NewProduct): Promise<number> {
  const group = await ctx.db.one(findOrMakeGroup, product.group);
  const { id } = await ctx.db.one(
    insertProduct,
    product.type,
    product.moduleId,
    group.id,
    product.name,
    product.description,
    product.currency,
    product.stock,
    ctx.clock.now(),
  );
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
  await ctx.db.run(insertPrices, id, JSON.stringify(prices));
  await ctx.db.run(insertOptions, id, JSON.stringify(options));
  return id;
}
