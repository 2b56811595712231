import { type Example, onlyPage } from '../../platform/http/index.ts';

const coupon = {
  id: 1,
  code: 'WELCOME10',
  percent: 10,
  amount: null,
  currency: null,
  product_ids: [1],
  cycles: ['monthly', 'annually'],
  recurring: false,
  max_uses: 500,
  max_uses_per_customer: 1,
  uses: 0,
  starts_at: null,
  expires_at: '2099-12-31T23:00:00.000Z',
  active: true,
  created_at: '2026-01-31T22:02:16.911Z',
};

const changed = { ...coupon, max_uses: 1_000, cycles: null };

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  createCoupon: {
    body: {
      code: 'WELCOME10',
      percent: 10,
      product_ids: [1],
      cycles: ['monthly', 'annually'],
      max_uses: 500,
      max_uses_per_customer: 1,
      expires_at: '2099-12-31T23:00:00.000Z',
    },
    data: { coupon },
  },
  getCoupon: { params: { id: 1 }, data: { coupon } },
  updateCoupon: { params: { id: 1 }, body: { max_uses: 1_000, cycles: null }, data: { coupon: changed } },
  listCoupons: { query: { search: 'welc', active: true }, data: { coupons: [changed], ...onlyPage(1) } },
  endCoupon: { params: { id: 1 }, data: { coupon: { ...changed, active: false } } },
} satisfies Record<string, Example>;
