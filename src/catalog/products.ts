import { dedicatedModule, listServerOffers, type ServerOffer } from '../fleet/index.ts';
import { type ListRequest, listData, pagedList, type SortKey } from '../platform/http/index.ts';
import { type Context, fail, formatMoney, forSame, statement } from '../platform/index.ts';
import { type Cycle, cycles } from './cycles.ts';
import { type TrafficRow, type TrafficTerms, trafficFromRow, viewTrafficTerms } from './traffic.ts';

export interface IntegerOption {
  key: string;
  name: string;
  label: string;
  kind: 'integer';
  min: number;
  max: number;
  step: number;
  /** A month's price of each unit above `min`. */
  unitPriceMinor: number;
  required: boolean;
}

export interface ChoiceOption {
  key: string;
  name: string;
  label: string;
  kind: 'choice';
  choices: { value: string; label: string; priceMinor: number }[];
  required: boolean;
}

export type Option = IntegerOption | ChoiceOption;

export interface Product {
  id: number;
  type: 'Hosting' | 'Domain';
  /** Its kind of service: `services/kinds/table.ts`. */
  moduleId: number;
  group: { id: number; name: string };
  name: string;
  description: string;
  currency: string;
  /** How many are left as staff counts them; null: as many as are wanted. Of what is sold out of the rack it counts for nothing. */
  stock: number | null;
  /** What can be chosen of a product that is sold out of the rack: of such its ready servers are the stock. Null: it is not. */
  servers: ServerOffer[] | null;
  status: 'active' | 'hidden' | 'retired';
  /** When a change of a service to what costs less counts: at once, or with its next period. */
  downgrade: 'now' | 'period_end';
  /** How traffic beyond what its price includes is billed, of servers; null: not at all. */
  traffic: TrafficTerms | null;
  /** Where it stands in its group; lower ones first. */
  position: number;
  updatedAt: Date;
  prices: { cycle: Cycle; priceMinor: number; setupFeeMinor: number }[];
  options: Option[];
  /** What nobody orders with any more; what was bought with it keeps it. */
  retiredOptions: Option[];
}

interface ProductRow {
  id: number;
  type: 'Hosting' | 'Domain';
  module_id: number;
  group_id: number;
  group_name: string;
  name: string;
  description: string;
  currency: string;
  stock: number | null;
  status: 'active' | 'hidden' | 'retired';
  downgrade: 'now' | 'period_end';
  traffic: TrafficRow | null;
  position: number;
  place: number;
  updated_at: Date;
  prices: { cycle: Cycle; price_minor: number; setup_fee_minor: number }[];
  options: OptionRow[];
}

interface OptionRow {
  key: string;
  name: string;
  label: string;
  kind: 'integer' | 'choice';
  min: number | null;
  max: number | null;
  step: number | null;
  choices: { value: string; label: string; price_minor: number }[] | null;
  unit_price_minor: number;
  required: boolean;
  retired: boolean;
}

const selectProduct = `
  select p.id, p.type, p.module_id, p.group_id, g.name as group_name, p.name, p.description, p.currency, p.stock,
    p.status, p.downgrade, p.traffic, p.position, p.place, p.updated_at,
    (select coalesce(jsonb_agg(jsonb_build_object('cycle', c.cycle, 'price_minor', c.price_minor,
        'setup_fee_minor', c.setup_fee_minor)), '[]')
       from product_prices c where c.product_id = p.id) as prices,
    (select coalesce(jsonb_agg(to_jsonb(o) - 'product_id' order by o.key), '[]')
       from product_options o where o.product_id = p.id) as options
  from products p join product_groups g on g.id = p.group_id`;

// The list stands in `(select …)` so that the plan is made once; one for each list costs more than to read the products.
const productsById = forSame(
  statement<ProductRow, { ids: number[] }>(
    'catalog.productsById',
    `${selectProduct} where p.id = any((select :ids::bigint[])::bigint[])`,
  ),
);
const ofKind = statement<ProductRow, { moduleId: number; limit: number }>(
  'catalog.ofKind',
  `${selectProduct} where p.module_id = :moduleId and p.status = 'active' order by p.place, p.id limit :limit`,
);
const byPlace: SortKey<ProductRow> = { by: 'p.place', type: 'bigint', of: (row) => row.place };
const byName = 'lower(p.name) collate "C"';
const sold = statement<ProductRow, { limit: number }>(
  'catalog.sold',
  `${selectProduct} where p.status = 'active' order by p.place, p.id limit :limit`,
);
const everyProduct = pagedList<ProductRow & { by_name: string }>({
  name: 'catalog.all',
  from: 'products p',
  select: selectProduct.replace('p.updated_at,', `p.updated_at, ${byName} as by_name,`),
  filters: { status: 'p.status = :status' },
  key: { by: 'p.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null, position: byPlace, name: { by: byName, type: 'text', of: (row) => row.by_name } },
  order: 'id',
  search: [{ by: byName }],
});
const forSale = pagedList<ProductRow>({
  name: 'catalog.forSale',
  from: 'products p',
  select: selectProduct,
  within: `p.status = 'active'`,
  key: { by: 'p.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null, position: byPlace, name: { by: 'p.name', type: 'text', of: (row) => row.name } },
  order: 'position',
});

/** The products with these ids, whatever their status; an id without a product is missing from the answer. */
export async function findProducts(ctx: Context, ids: number[]): Promise<Map<number, Product>> {
  const products = await withServers(ctx, await ctx.db.many(productsById, { ids }));
  return new Map(products.map((product) => [product.id, product]));
}

/** The products of a kind that are for sale, at most a hundred. */
export async function findProductsOfKind(ctx: Context, moduleId: number): Promise<Product[]> {
  return withServers(ctx, await ctx.db.many(ofKind, { moduleId, limit: 100 }));
}

/** What is for sale, at most a hundred. */
export async function findProductsForSale(ctx: Context): Promise<Product[]> {
  return withServers(ctx, await ctx.db.many(sold, { limit: 100 }));
}

/** One product; `not_found` when there is none, or when customers may not see it. */
export async function readProduct(ctx: Context, id: number) {
  const product = (await findProducts(ctx, [id])).get(id);
  if (product?.status !== 'active') throw fail('not_found');
  return { product: viewProduct(product) };
}

/** What is for sale. */
export async function listProducts(ctx: Context, query: ListRequest) {
  const { rows, at } = await forSale(ctx, query);
  const products = await withServers(ctx, rows);
  return listData('products', products.map(viewProduct), at);
}

/** What the provider has ever sold, also what is hidden or retired; for staff. */
export async function listEveryProduct(ctx: Context, query: ListRequest & { status?: string | undefined }) {
  const { rows, at } = await everyProduct(ctx, query, { status: query.status });
  const products = await withServers(ctx, rows);
  return listData('products', products.map(viewProductForStaff), at);
}

/** A product as staff sees it. */
export function viewProductForStaff(product: Product) {
  const { status, downgrade, position } = product;
  const money = (minor: number) => formatMoney(minor, product.currency);
  const retired = product.retiredOptions.map((option) => viewOption(option, money));
  return { ...viewProduct(product), status, downgrade, position, retired_options: retired };
}

async function withServers(ctx: Context, rows: ProductRow[]): Promise<Product[]> {
  const mayHave = rows.filter((row) => row.module_id === dedicatedModule).map((row) => row.id);
  const offers = await listServerOffers(ctx, mayHave);
  return rows.map((row) => ({ ...fromRow(row), servers: offers.get(row.id) ?? null }));
}

/** How many are left of a product; null: as many as are wanted. */
export function stockOf({ stock, servers }: Pick<Product, 'stock' | 'servers'>): number | null {
  return servers === null ? stock : servers.reduce((sum, { ready }) => sum + ready, 0);
}

/** Whether orders take from the number that staff counts. */
export function countsStock({ stock, servers }: Pick<Product, 'stock' | 'servers'>): boolean {
  return stock !== null && servers === null;
}

function fromRow(row: ProductRow): Omit<Product, 'servers'> {
  return {
    id: row.id,
    type: row.type,
    moduleId: row.module_id,
    group: { id: row.group_id, name: row.group_name },
    name: row.name,
    description: row.description,
    currency: row.currency,
    stock: row.stock,
    status: row.status,
    downgrade: row.downgrade,
    traffic: trafficFromRow(row.traffic),
    position: row.position,
    updatedAt: row.updated_at,
    prices: row.prices
      .map((price) => ({
        cycle: price.cycle,
        priceMinor: price.price_minor,
        setupFeeMinor: price.setup_fee_minor,
      }))
      .sort((a, b) => cycles.indexOf(a.cycle) - cycles.indexOf(b.cycle)),
    options: row.options.filter(({ retired }) => !retired).map(optionFromRow),
    retiredOptions: row.options.filter(({ retired }) => retired).map(optionFromRow),
  };
}

function optionFromRow({ key, name, label, required, ...row }: OptionRow): Option {
  if (row.kind === 'choice') {
    const choices = (row.choices ?? []).map(({ price_minor, ...choice }) => ({
      ...choice,
      priceMinor: price_minor,
    }));
    return { key, name, label, required, kind: 'choice', choices };
  }
  return {
    key,
    name,
    label,
    required,
    kind: 'integer',
    min: row.min ?? 0,
    max: row.max ?? 0,
    step: row.step ?? 1,
    unitPriceMinor: row.unit_price_minor,
  };
}

/** A product as customers see it. */
function viewProduct(product: Product) {
  const money = (minor: number) => formatMoney(minor, product.currency);
  return {
    id: product.id,
    type: product.type,
    moduleId: product.moduleId,
    name: product.name,
    description: product.description,
    group: product.group,
    stock: stockOf(product),
    servers: product.servers === null ? null : product.servers.map(viewOffer),
    traffic: viewTrafficTerms(product.traffic, product.currency),
    prices: product.prices.map((price) => ({
      cycle: price.cycle,
      price: money(price.priceMinor),
      setup_fee: money(price.setupFeeMinor),
      currency: product.currency,
    })),
    options: product.options.map((option) => viewOption(option, money)),
  };
}

function viewOffer({ threads, memoryGb, storageGb, portMbps, location, ready }: ServerOffer) {
  const has = { threads, memory_gb: memoryGb, storage_gb: storageGb, port_mbps: portMbps };
  return { ...has, location, stock: ready };
}

function viewOption(option: Option, money: (minor: number) => string) {
  return {
    key: option.key,
    name: option.name,
    label: option.label,
    kind: option.kind,
    min: option.kind === 'integer' ? option.min : null,
    max: option.kind === 'integer' ? option.max : null,
    step: option.kind === 'integer' ? option.step : null,
    values:
      option.kind === 'choice'
        ? option.choices.map(({ value, label, priceMinor }) => ({ value, label, price: money(priceMinor) }))
        : [],
    unit_price: option.kind === 'integer' ? money(option.unitPriceMinor) : null,
    required: option.required,
  };
}
