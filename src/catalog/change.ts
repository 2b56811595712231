import type { Cycle } from './cycles.ts';
import type { TrafficChange } from './traffic.ts';

/** What staff may change of a product; the rest stays as it is. */
export interface ProductChange {
  type?: 'Hosting' | 'Domain';
  moduleId?: number;
  group_id?: number;
  name?: string;
  description?: string;
  currency?: string;
  /** Null: as many as are asked for. */
  stock?: number | null;
  status?: 'active' | 'hidden' | 'retired';
  downgrade?: 'now' | 'period_end';
  /** Null: nothing of its traffic is billed. */
  traffic?: TrafficChange | null;
  /** Where it stands in its group; lower ones first. */
  position?: number;
  prices?: PriceChange[];
  options?: OptionChange[];
}

/** What staff may change of a product group. */
export interface GroupChange {
  name?: string;
  /** Where it stands among the groups; lower ones first. */
  position?: number;
}

export interface PriceChange {
  cycle: Cycle;
  /** Null: it is no longer sold so. */
  price: string | null;
  setup_fee?: string;
}

/** An option as it is to be; what is absent stays. It is a number from `min` to `max`, or one of `values`. */
export interface OptionChange {
  key: string;
  name?: string;
  label?: string;
  required?: boolean;
  min?: number;
  max?: number;
  step?: number;
  unit_price?: string;
  values?: { value: string; label: string; price?: string }[];
  /** Nobody orders with it any more; what was bought with it keeps it. */
  retired?: boolean;
}

/** What a new product must say. */
export type ProductToCreate = ProductChange &
  Required<Pick<ProductChange, 'type' | 'moduleId' | 'group_id' | 'name' | 'currency'>>;
