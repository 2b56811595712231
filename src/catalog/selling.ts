import type { Context, ErrorDetail } from '../platform/index.ts';
import type { Product } from './products.ts';

/** What the room that sells products knows of them; `api.ts` hands it over, since it stands above. */
export interface Selling {
  /** Why nobody could order or deliver such a product. Empty when all is well. */
  problems: (product: Pick<Product, 'type' | 'moduleId' | 'options' | 'servers'>) => ErrorDetail[];
  /** Whether somebody has it, had it, or is about to become it. */
  isSold: (ctx: Context, productId: number) => Promise<boolean>;
  /** Who has it, and what they would pay for it as it is now. */
  having: (ctx: Context, product: Product) => Promise<Having>;
}

/** Services of a product that are there, beside the product as it is sold. */
export interface Having {
  services: number;
  /** How many would pay another price if they were moved to it. */
  differing: number;
  cycles: { cycle: string; services: number; price_before: string; price_after: string }[];
}
