/**
 * What is for sale: products with their cycles, prices and options, how many there are, and coupons. It says
 * what a configuration costs; whether anybody buys it is the cart's business.
 */

import './errors.ts';

export { addProduct, type NewProduct } from './addProduct.ts';
export { lockProduct } from './changeProduct.ts';
export { checkOptions, missingOptions, type Price, priceOf } from './configure.ts';
export { type CouponLine, discountOf } from './coupons/discount.ts';
export { codeGuess } from './coupons/limits.ts';
export { couponStaffRoutes } from './coupons/routes.ts';
export {
  type Coupon,
  redeemCoupon,
  renewalDiscountOf,
  requireCoupon,
  returnCoupon,
} from './coupons/use.ts';
export { requireSold } from './currencies.ts';
export { addMonths, type Cycle, cycles, isCycle, monthsOf } from './cycles.ts';
export { groupStaffRoutes } from './groups/routes.ts';
export { ChosenOptions, optionMeanings } from './optionSchema.ts';
export type { Options } from './options.ts';
export { catalogPersonal } from './personal.ts';
export type { ChoiceOption, Option } from './products.ts';
export {
  countsStock,
  findProducts,
  findProductsForSale,
  findProductsOfKind,
  type Product,
  stockOf,
} from './products.ts';
export { catalogRoutes } from './routes.ts';
export { CycleName, ProductGroup, ProductType } from './schema.ts';
export type { Selling } from './selling.ts';
export { catalogStaffRoutes } from './staffRoutes.ts';
export { reserveStock, returnStock } from './stock.ts';
export {
  type TrafficRow,
  type TrafficTerms,
  trafficFromRow,
  trafficRow,
  viewTrafficTerms,
} from './traffic.ts';
export { TrafficTerms as TrafficTermsSchema } from './trafficSchema.ts';
export { changedPrice, changeLots, followLots, type Lots, lotsOf, monthlyOf } from './units.ts';
