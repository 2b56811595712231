import { record } from '../events/index.ts';
import { type Context, fail, parseMoney, statement, type TxContext, transaction } from '../platform/index.ts';
import type { ProductChange } from './change.ts';
import type { Cycle } from './cycles.ts';
import { productUpdated } from './events.ts';
import { findProducts, type Product, viewProductForStaff } from './products.ts';

const lock = statement<{ id: number }, { id: number }>(
  'catalog.lock',
  'select id from products where id = :id for update',
);
const updateProduct = statement<
  never,
  {
    id: number;
    name: string;
    description: string;
    stock: number | null;
    status: 'active' | 'hidden' | 'retired';
    downgrade: 'now' | 'period_end';
    now: Date;
  }
>(
  'catalog.updateProduct',
  `update products set name = :name, description = :description, stock = :stock, status = :status,
     downgrade = :downgrade, updated_at = :now where id = :id`,
);
const writePrice = statement<
  never,
  {
    productId: number;
    cycle: Cycle;
    priceMinor: number;
    setupFeeMinor: number;
  }
>(
  'catalog.writePrice',
  `insert into product_prices (product_id, cycle, price_minor, setup_fee_minor)
   values (:productId, :cycle, :priceMinor, :setupFeeMinor)
   on conflict (product_id, cycle) do update set price_minor = excluded.price_minor,
     setup_fee_minor = excluded.setup_fee_minor`,
);
const writeOption = statement<
  never,
  { productId: number; key: string; min: number; max: number; step: number; unitPriceMinor: number }
>(
  'catalog.writeOption',
  `update product_options set min = :min, max = :max, step = :step, unit_price_minor = :unitPriceMinor
   where product_id = :productId and key = :key`,
);

/** A product as staff sees it, hidden and retired ones included. */
export async function readProductForStaff(ctx: Context, id: number) {
  const product = (await findProducts(ctx, [id])).get(id);
  if (!product) throw fail('not_found');
  return { product: viewProductForStaff(product) };
}

/** Nobody changes the product until the transaction ends. */
export async function lockProduct(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lock, { id });
}

/**
 * Changes stock, price and bounds of a product. What is absent stays; invoices and services that exist keep
 * their terms.
 */
export async function changeProduct(ctx: Context, id: number, change: ProductChange) {
  return transaction(ctx, 'catalog.changeProduct', async (tx) => {
    await lockProduct(tx, id);
    const product = (await findProducts(tx, [id])).get(id);
    if (!product) throw fail('not_found');
    await tx.db.run(updateProduct, {
      id,
      name: change.name ?? product.name,
      description: change.description ?? product.description,
      stock: change.stock === undefined ? product.stock : change.stock,
      status: change.status ?? product.status,
      downgrade: change.downgrade ?? product.downgrade,
      now: tx.clock.now(),
    });
    for (const [index, price] of (change.prices ?? []).entries())
      await changePrice(tx, product, price, index);
    for (const [index, option] of (change.options ?? []).entries())
      await changeOption(tx, product, option, index);
    await record(tx, productUpdated, {
      subject: { type: 'product', id },
      organizationId: null,
      data: { change },
    });
    return readProductForStaff(tx, id);
  });
}

async function changePrice(
  tx: TxContext,
  product: Product,
  price: NonNullable<ProductChange['prices']>[number],
  index: number,
): Promise<void> {
  const known = product.prices.find((candidate) => candidate.cycle === price.cycle);
  const setupFee =
    price.setup_fee === undefined
      ? (known?.setupFeeMinor ?? 0)
      : amount(price.setup_fee, product.currency, `prices[${index}].setup_fee`);
  const priceMinor = amount(price.price, product.currency, `prices[${index}].price`);
  await tx.db.run(writePrice, {
    productId: product.id,
    cycle: price.cycle,
    priceMinor,
    setupFeeMinor: setupFee,
  });
}

async function changeOption(
  tx: TxContext,
  product: Product,
  change: NonNullable<ProductChange['options']>[number],
  index: number,
): Promise<void> {
  const known = product.options.find((option) => option.key === change.key);
  if (known?.kind !== 'integer') {
    throw invalid(`options[${index}].key`, `${product.name} has no integer option ${change.key}`);
  }
  const next = {
    min: change.min ?? known.min,
    max: change.max ?? known.max,
    step: change.step ?? known.step,
  };
  if (next.min > next.max) throw invalid(`options[${index}].max`, 'must not be below min');
  const unitPrice =
    change.unit_price === undefined
      ? known.unitPriceMinor
      : amount(change.unit_price, product.currency, `options[${index}].unit_price`);
  await tx.db.run(writeOption, {
    productId: product.id,
    key: change.key,
    min: next.min,
    max: next.max,
    step: next.step,
    unitPriceMinor: unitPrice,
  });
}

function amount(text: string, currency: string, field: string): number {
  const minor = parseMoney(text, currency);
  if (minor === null) throw invalid(field, `must be an amount in ${currency}, such as "12.50"`);
  return minor;
}

function invalid(field: string, message: string) {
  return fail('invalid_request', { details: [{ field, message }] });
}
