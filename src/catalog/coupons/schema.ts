import { Type } from 'typebox';
import {
  CurrencyCode,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  Nullable,
  named,
  Search,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { CycleName } from '../schema.ts';

const Moment = Type.String({ format: 'date-time', examples: ['2026-12-01T00:00:00.000Z'] });

const Limit = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });

const ProductIds = Type.Array(Id, { minItems: 1, maxItems: 1_000, description: 'Null: every product' });
const Cycles = Type.Array(CycleName, { minItems: 1, maxItems: 6, description: 'Null: every cycle' });

const recurring = Type.Boolean({
  description: 'Whether it counts for renewals too, for as long as the service lasts',
});

export const Coupon = named(
  'Coupon',
  Type.Object({
    id: Id,
    code: Type.String(),
    percent: Nullable(Type.Integer()),
    amount: Nullable(MoneyText),
    currency: Nullable(Type.String()),
    product_ids: Nullable(Type.Array(Id)),
    cycles: Nullable(Type.Array(CycleName)),
    recurring,
    max_uses: Nullable(Type.Integer()),
    max_uses_per_customer: Nullable(Type.Integer()),
    uses: Type.Integer({ description: 'Orders that hold or held it, without those that came to nothing' }),
    starts_at: Nullable(Timestamp),
    expires_at: Nullable(Timestamp),
    active: Type.Boolean({ description: 'Staff has not ended it' }),
    created_at: Timestamp,
  }),
  'Makes orders cheaper by so many per cent or an amount',
);

export const CouponData = named('CouponAnswer', Type.Object({ coupon: Coupon }));
export const CouponList = named('CouponList', listOf('coupons', Coupon));
export const CouponQuery = ListQuery({
  active: Type.Optional(Type.Boolean()),
  search: Search('Finds codes that begin with this, in their order; `sort` is left out of account'),
  sort: SortBy(['created_at'], '-created_at'),
});

const terms = {
  product_ids: Type.Optional(Nullable(ProductIds)),
  cycles: Type.Optional(Nullable(Cycles)),
  max_uses: Type.Optional(Nullable(Limit)),
  max_uses_per_customer: Type.Optional(Nullable(Limit)),
  starts_at: Type.Optional(Nullable(Moment)),
  expires_at: Type.Optional(Nullable(Moment)),
};

export const NewCoupon = named(
  'NewCoupon',
  Strict({
    code: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{1,39}$',
      'x-message': 'must be 2 to 40 letters, digits, hyphens and underscores',
      description: 'Small and capital letters are the same',
      examples: ['WELCOME10'],
    }),
    percent: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'This or `amount`' })),
    amount: Type.Optional(
      Type.String({ maxLength: 20, description: 'This or `percent`; with `currency`', examples: ['5.00'] }),
    ),
    currency: Type.Optional(CurrencyCode({ examples: ['EUR'] })),
    recurring: Type.Optional(recurring),
    ...terms,
  }),
);

export const CouponChange = named('CouponChange', Strict(terms));
