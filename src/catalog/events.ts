import { event } from '../events/index.ts';
import type { GroupChange, ProductChange } from './change.ts';
import type { TermsChange } from './coupons/terms.ts';

interface ProductCreated {
  name: string;
  currency: string;
  status: 'active' | 'hidden' | 'retired';
}

interface ProductUpdated {
  change: ProductChange;
  /** What the change names, as it was. */
  before: Record<string, unknown>;
}

interface GroupCreated {
  name: string;
}

interface GroupUpdated {
  change: GroupChange;
  before: Required<GroupChange>;
}

interface CouponNamed {
  code: string;
}

interface CouponChanged {
  code: string;
  change: TermsChange;
}

export const couponCreated = event<CouponNamed>('coupon.created', 'staff made a coupon');
export const couponChanged = event<CouponChanged>(
  'coupon.updated',
  'staff changed for which orders a coupon is',
);
export const couponEnded = event<CouponNamed>(
  'coupon.ended',
  'staff ended a coupon: nobody orders with it any more',
);
export const groupCreated = event<GroupCreated>('product_group.created', 'staff made a product group');
export const groupUpdated = event<GroupUpdated>(
  'product_group.updated',
  'staff renamed a product group, or put it elsewhere',
);
export const productCreated = event<ProductCreated>('product.created', 'staff made a product');
export const productUpdated = event<ProductUpdated>('product.updated', 'staff changed a product');
