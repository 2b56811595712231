import { statement, type TxContext } from '../platform/index.ts';
import type { Option, Product } from './products.ts';
import { type TrafficRow, trafficRow } from './traffic.ts';

/** All that is written of a product. */
export type Draft = Omit<Product, 'id' | 'updatedAt' | 'position' | 'servers'> & {
  /** Null: behind the others of its group. */
  position: number | null;
};

interface Row {
  type: Product['type'];
  moduleId: number;
  groupId: number;
  name: string;
  description: string;
  stock: number | null;
  status: Product['status'];
  downgrade: Product['downgrade'];
  traffic: TrafficRow | null;
  position: number | null;
  now: Date;
}

const insert = statement<{ id: number }, Row & { currency: string }>(
  'catalog.insertProduct',
  `insert into products (type, module_id, group_id, name, description, currency, stock, status, downgrade, traffic, position,
     created_at, updated_at)
   values (:type, :moduleId, :groupId, :name, :description, :currency, :stock, :status, :downgrade,
     :traffic::jsonb, coalesce(:position::int, (select least(coalesce(max(o.position), 0) + 1, 999999) from products o
       where o.group_id = :groupId)), :now, :now)
   returning id`,
);
const update = statement<never, Row & { id: number }>(
  'catalog.updateProduct',
  `update products set type = :type, module_id = :moduleId, group_id = :groupId, name = :name,
     description = :description, stock = :stock, status = :status, downgrade = :downgrade, traffic = :traffic::jsonb,
     position = coalesce(:position::int, position), updated_at = :now
   where id = :id`,
);
const dropPrices = statement<never, { productId: number; cycles: string[] }>(
  'catalog.dropPrices',
  'delete from product_prices where product_id = :productId and cycle <> all(:cycles::text[])',
);
const writePrices = statement<never, { productId: number; prices: string }>(
  'catalog.writePrices',
  `insert into product_prices (product_id, cycle, price_minor, setup_fee_minor)
   select :productId, p.cycle, p.price_minor, p.setup_fee_minor
   from jsonb_to_recordset(:prices::jsonb) as p(cycle text, price_minor bigint, setup_fee_minor bigint)
   on conflict (product_id, cycle) do update set price_minor = excluded.price_minor,
     setup_fee_minor = excluded.setup_fee_minor`,
);
const writeOptions = statement<never, { productId: number; options: string }>(
  'catalog.writeOptions',
  `insert into product_options (product_id, key, name, label, kind, min, max, step, choices, unit_price_minor, required,
     retired)
   select :productId, o.key, o.name, o.label, o.kind, o.min, o.max, o.step, o.choices, o.unit_price_minor,
     o.required, o.retired
   from jsonb_to_recordset(:options::jsonb) as o(key text, name text, label text, kind text, min int, max int,
     step int, choices jsonb, unit_price_minor bigint, required boolean, retired boolean)
   on conflict (product_id, key) do update set name = excluded.name, label = excluded.label, kind = excluded.kind,
     min = excluded.min, max = excluded.max, step = excluded.step, choices = excluded.choices,
     unit_price_minor = excluded.unit_price_minor, required = excluded.required, retired = excluded.retired`,
);
const place = statement<never, { groupId: number }>(
  'catalog.placeProducts',
  // The group is locked, so that it cannot move between the reading and the writing.
  `with g as materialized (select id, position::bigint * 1000000 as place from product_groups where id = :groupId
     for no key update)
   update products p set place = g.place + p.position from g
   where g.id = p.group_id and p.place <> g.place + p.position`,
);

/** Writes a new product. Returns its id. */
export async function insertProduct(tx: TxContext, draft: Draft): Promise<number> {
  const { id } = await tx.db.one(insert, { ...rowOf(tx, draft), currency: draft.currency });
  await writeParts(tx, id, draft);
  return id;
}

/** Writes what a product is from now on; its row is locked. Its currency stays. */
export async function updateProduct(tx: TxContext, id: number, draft: Draft): Promise<void> {
  await tx.db.run(update, { ...rowOf(tx, draft), id });
  await writeParts(tx, id, draft);
}

/** Puts the products of a group where customers see them. */
export async function placeProducts(tx: TxContext, groupId: number): Promise<void> {
  await tx.db.run(place, { groupId });
}

async function writeParts(tx: TxContext, productId: number, draft: Draft): Promise<void> {
  await placeProducts(tx, draft.group.id);
  const prices = draft.prices.map((price) => ({
    cycle: price.cycle,
    price_minor: price.priceMinor,
    setup_fee_minor: price.setupFeeMinor,
  }));
  const options = [
    ...draft.options.map((option) => optionRow(option, false)),
    ...draft.retiredOptions.map((option) => optionRow(option, true)),
  ];
  await tx.db.run(dropPrices, { productId, cycles: prices.map(({ cycle }) => cycle) });
  // As text, because the driver would write a JavaScript array as a PostgreSQL array.
  await tx.db.run(writePrices, { productId, prices: JSON.stringify(prices) });
  await tx.db.run(writeOptions, { productId, options: JSON.stringify(options) });
}

function rowOf(tx: TxContext, draft: Draft): Row {
  const { type, moduleId, group, name, description, stock, status, downgrade, position } = draft;
  const now = tx.clock.now();
  const traffic = trafficRow(draft.traffic);
  return {
    ...{ type, moduleId, groupId: group.id, name, description, stock, status, downgrade, traffic, position },
    now,
  };
}

function optionRow({ key, name, label, kind, required, ...option }: Option, retired: boolean) {
  const common = { key, name, label, kind, required, retired, unit_price_minor: 0 };
  if (!('choices' in option)) {
    const { min, max, step, unitPriceMinor } = option;
    return { ...common, min, max, step, unit_price_minor: unitPriceMinor };
  }
  const choices = option.choices.map(({ value, label: text, priceMinor }) => ({
    ...{ value, label: text },
    price_minor: priceMinor,
  }));
  return { ...common, choices };
}
