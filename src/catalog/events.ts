import { event } from '../events/index.ts';
import type { ProductChange } from './change.ts';

interface ProductUpdated {
  change: ProductChange;
}

export const productUpdated = event<ProductUpdated>('product.updated', 'staff changed a product');
