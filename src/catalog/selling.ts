import type { Context, ErrorDetail } from '../platform/index.ts';
import type { Product } from './products.ts';

/** What the room that sells products knows of them; `api.ts` hands it over, since it stands above. */
export interface Selling {
  /** Why nobody could order or deliver such a product. Empty when all is well. */
  problems: (product: Pick<Product, 'type' | 'moduleId' | 'options'>) => ErrorDetail[];
  /** Whether somebody has it, had it, or is about to become it. */
  isSold: (ctx: Context, productId: number) => Promise<boolean>;
}
