import type { Cycle } from '../cycles.ts';

/** For which orders a coupon is; null is no limit. Moments are ISO 8601. */
export interface Terms {
  product_ids: number[] | null;
  cycles: Cycle[] | null;
  max_uses: number | null;
  max_uses_per_customer: number | null;
  starts_at: string | null;
  expires_at: string | null;
}

export const anyOrder: Terms = {
  ...{ product_ids: null, cycles: null, max_uses: null, max_uses_per_customer: null },
  ...{ starts_at: null, expires_at: null },
};

/** What is absent stays as it is. */
export type TermsChange = { [name in keyof Terms]?: Terms[name] | undefined };

/** Those of the terms that are told. */
export function toldOf(told: TermsChange): Partial<Terms> {
  const names = Object.keys(anyOrder) as (keyof Terms)[];
  return Object.fromEntries(
    names.flatMap((name) => (told[name] === undefined ? [] : [[name, told[name]]])),
  ) as Partial<Terms>;
}
