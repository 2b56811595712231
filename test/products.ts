import { addProduct, type NewProduct } from '../src/catalog/index.ts';
import { transaction } from '../src/platform/index.ts';
import { kinds } from '../src/services/index.ts';
import type { TestProduct } from './product.ts';

/** Puts web hosting on sale at so much a month, in a currency of its own or whatever else differs. Returns its id. */
export function newHosting(
  product: TestProduct,
  priceMinor: number,
  change: Partial<NewProduct> = {},
): Promise<number> {
  return transaction(product.ctx, 'test.newHosting', (tx) =>
    addProduct(tx, {
      type: 'Hosting',
      moduleId: kinds.hosting.id,
      group: 'Web hosting',
      name: 'Space',
      description: 'Space for a web site.',
      currency: 'EUR',
      stock: null,
      prices: [
        { cycle: 'monthly', priceMinor, setupFeeMinor: 0 },
        { cycle: 'annually', priceMinor: priceMinor * 10, setupFeeMinor: 0 },
      ],
      options: [],
      ...change,
    }),
  );
}
