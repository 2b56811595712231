import type { Cycle } from './cycles.ts';

/** What staff may change of a product; the rest stays as it is. */
export interface ProductChange {
  name?: string;
  description?: string;
  /** Null: as many as are asked for. */
  stock?: number | null;
  status?: 'active' | 'hidden' | 'retired';
  downgrade?: 'now' | 'period_end';
  prices?: { cycle: Cycle; price: string; setup_fee?: string }[];
  options?: { key: string; min?: number; max?: number; step?: number; unit_price?: string }[];
}
