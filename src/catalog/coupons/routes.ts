import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import * as S from './schema.ts';
import { changeCoupon, createCoupon, endCoupon, listCoupons, lockCoupon, readCoupon } from './staff.ts';

const staffRoles = ['administrator', 'billing'];
const group = { tag: 'Staff: coupons', about: 'What makes orders cheaper.', examples };

export const couponStaffRoutes = routes('/staff/coupons', group, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      area: 'billing',
      operation: 'listCoupons',
      summary: 'List coupons',
      description: 'Every coupon, also those that have ended, newest first.',
      query: S.CouponQuery,
      data: S.CouponList,
    },
    (ctx, req) => listCoupons(ctx, req.query),
  );
  route.post(
    '',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'createCoupon',
      summary: 'Create a coupon',
      description:
        'Takes per cent or an amount off orders of some products and cycles, or of all. An order holds its use from ' +
        'checkout on, and gives it back when nobody pays.',
      body: S.NewCoupon,
      data: S.CouponData,
      errors: ['conflict', 'currency_not_sold'],
    },
    (ctx, req) => createCoupon(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      auth: 'staff',
      area: 'billing',
      operation: 'getCoupon',
      summary: 'Get a coupon',
      description: 'One coupon with how often it was used.',
      params: IdParams,
      data: S.CouponData,
      errors: ['not_found'],
      etag: { without: ['uses'] },
    },
    (ctx, req) => readCoupon(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'updateCoupon',
      summary: 'Change a coupon',
      description:
        'Changes for which orders it is. What it takes off stays: for another discount, make another coupon.',
      params: IdParams,
      body: S.CouponChange,
      data: S.CouponData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockCoupon(tx, req.params.id),
    },
    (ctx, req) => changeCoupon(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/end',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'endCoupon',
      summary: 'End a coupon',
      description: 'From now on nobody orders with it. What was ordered with it keeps it, renewals included.',
      params: IdParams,
      data: S.CouponData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => endCoupon(ctx, req.params.id),
  );
});
