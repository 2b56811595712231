import {
  type Context,
  type ErrorDetail,
  fail,
  formatMoney,
  rehearse,
  transaction,
} from '../platform/index.ts';
import type { ProductChange } from './change.ts';
import { changeProduct, readProductForStaff } from './changeProduct.ts';
import { checkOptions, missingOptions, priceOf } from './configure.ts';
import type { Cycle } from './cycles.ts';
import type { Options } from './options.ts';
import { findProducts, type Product } from './products.ts';
import type { Selling } from './selling.ts';

export interface PreviewedProduct extends ProductChange {
  /** What somebody would order of it. */
  order?: { cycle: Cycle; options?: Options };
}

/**
 * A product as it would be after a change, what an order of it would cost, and what the change means to those who have it. It
 * is the change itself, taken back again. `not_found`; `invalid_request` and `product_sold` as the change has them, and for an
 * order that could not be.
 */
export async function previewProduct(
  ctx: Context,
  id: number,
  { order, ...change }: PreviewedProduct,
  selling: Selling,
) {
  const isChange = Object.keys(change).length > 0;
  return transaction(ctx, 'catalog.previewProduct', async (tx) => {
    const { shown, after } = await rehearse(tx, async (trial) => {
      const shown = isChange
        ? await changeProduct(trial, id, change, selling)
        : await readProductForStaff(trial, id);
      const after = (await findProducts(trial, [id])).get(id);
      if (after === undefined) throw fail('not_found');
      return { shown: { ...shown, order: order === undefined ? null : costOf(after, order) }, after };
    });
    // Only now that the change is taken back, and its lock with it: services may be many, and orders would wait meanwhile.
    return { ...shown, having: isChange ? await selling.having(tx, after) : null };
  });
}

function costOf(product: Product, { cycle, options = {} }: NonNullable<PreviewedProduct['order']>) {
  const problems: ErrorDetail[] = [
    ...checkOptions(product, options, 'order.options'),
    ...missingOptions(product, options).map((key) => ({
      field: `order.options.${key}`,
      message: 'must be there',
    })),
  ];
  const price = problems.length > 0 ? null : priceOf(product, cycle, options);
  if (problems.length === 0 && price === null)
    problems.push({ field: 'order.cycle', message: `${product.name} is not sold ${cycle}` });
  if (price === null) throw fail('invalid_request', { details: problems });
  const { currency } = product;
  return {
    ...{ cycle, currency, price: formatMoney(price.recurringMinor, currency) },
    setup_fee: formatMoney(price.setupFeeMinor, currency),
  };
}
