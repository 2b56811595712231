import { event } from '../events/index.ts';
import type { ProductChange } from './change.ts';
import type { TermsChange } from './coupons/terms.ts';

interface ProductUpdated {
  change: ProductChange;
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
export const productUpdated = event<ProductUpdated>('product.updated', 'staff changed a product');
