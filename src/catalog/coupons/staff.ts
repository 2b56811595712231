import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList, type SortKey } from '../../platform/http/index.ts';
import {
  attempt,
  type Context,
  type ErrorDetail,
  fail,
  formatMoney,
  isDuplicate,
  parseMoney,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { requireSold } from '../currencies.ts';
import type { Cycle } from '../cycles.ts';
import { couponChanged, couponCreated, couponEnded } from '../events.ts';
import { findProducts } from '../products.ts';
import { anyOrder, type Terms, type TermsChange, toldOf } from './terms.ts';

interface CouponRow {
  id: number;
  code: string;
  percent: number | null;
  amount_minor: number | null;
  currency: string | null;
  product_ids: number[] | null;
  cycles: Cycle[] | null;
  recurring: boolean;
  max_uses: number | null;
  max_uses_per_customer: number | null;
  uses: number;
  starts_at: Date | null;
  expires_at: Date | null;
  active: boolean;
  created_at: Date;
  by_code: string;
}

const byCode = 'lower(c.code) collate "C"';
const selectCoupon = `
  select c.id, c.code, c.percent, c.amount_minor, c.currency, c.product_ids::float8[] as product_ids, c.cycles,
    c.recurring, c.max_uses, c.max_uses_per_customer, c.uses, c.starts_at, c.expires_at, c.active, c.created_at,
    ${byCode} as by_code
  from coupons c`;

const code: SortKey<CouponRow> = { by: byCode, type: 'text', of: (row) => row.by_code };
const coupons = pagedList<CouponRow>({
  name: 'catalog.coupons',
  from: 'coupons c',
  select: selectCoupon,
  filters: { active: 'c.active = :active' },
  key: { by: 'c.id', type: 'bigint', of: (row) => row.id },
  sorts: { created_at: null },
  order: '-created_at',
  search: [code],
});
const couponForStaff = statement<CouponRow, { id: number }>(
  'catalog.couponForStaff',
  `${selectCoupon} where c.id = :id`,
);
const lockById = statement<CouponRow, { id: number }>(
  'catalog.lockCoupon',
  `${selectCoupon} where c.id = :id for update`,
);
const insertCoupon = statement<
  { id: number },
  {
    code: string;
    percent: number | null;
    amountMinor: number | null;
    currency: string | null;
    recurring: boolean;
    terms: string;
    now: Date;
  }
>(
  'catalog.insertCoupon',
  `insert into coupons (code, percent, amount_minor, currency, recurring, created_at, product_ids, cycles, max_uses,
     max_uses_per_customer, starts_at, expires_at)
   select :code, :percent::int, :amountMinor::bigint, :currency, :recurring::boolean, :now::timestamptz, t.product_ids, t.cycles, t.max_uses,
     t.max_uses_per_customer, t.starts_at, t.expires_at
   from jsonb_to_record(:terms::jsonb) as t(product_ids bigint[], cycles text[], max_uses int,
     max_uses_per_customer int, starts_at timestamptz, expires_at timestamptz)
   returning id`,
);
const writeTerms = statement<never, { id: number; terms: string }>(
  'catalog.writeCouponTerms',
  `update coupons set product_ids = t.product_ids, cycles = t.cycles, max_uses = t.max_uses,
     max_uses_per_customer = t.max_uses_per_customer, starts_at = t.starts_at, expires_at = t.expires_at
   from jsonb_to_record(:terms::jsonb) as t(product_ids bigint[], cycles text[], max_uses int,
     max_uses_per_customer int, starts_at timestamptz, expires_at timestamptz)
   where id = :id`,
);
const markEnded = statement<never, { id: number }>(
  'catalog.endCoupon',
  'update coupons set active = false where id = :id',
);

export interface NewCoupon extends TermsChange {
  code: string;
  percent?: number | undefined;
  amount?: string | undefined;
  currency?: string | undefined;
  recurring?: boolean | undefined;
}

/** Every coupon, also those that have ended, newest first. */
export async function listCoupons(ctx: Context, query: ListRequest & { active?: boolean | undefined }) {
  const { rows, at } = await coupons(ctx, query, { active: query.active });
  return listData('coupons', rows.map(view), at);
}

export async function readCoupon(ctx: Context, id: number) {
  return { coupon: view(await requireRow(ctx, couponForStaff, { id })) };
}

/** Nobody uses or changes the coupon until the transaction ends. */
export async function lockCoupon(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lockById, { id });
}

/** Makes a coupon. `invalid_request`, `currency_not_sold`, `conflict` when the code is taken. */
export async function createCoupon(ctx: Context, coupon: NewCoupon) {
  return transaction(ctx, 'catalog.createCoupon', async (tx) => {
    const { percent = null, recurring = false, code: text } = coupon;
    const { amountMinor, currency } = await amountOf(tx, coupon);
    const terms = { ...anyOrder, ...toldOf(coupon) };
    await check(tx, terms, 0);
    const row = { code: text, percent, amountMinor, currency, recurring, now: tx.clock.now() };
    const { id } = await attempt(tx, (inner) =>
      inner.db.one(insertCoupon, { ...row, terms: JSON.stringify(terms) }),
    ).catch((error: unknown) => {
      if (!isDuplicate(error, 'coupons_code')) throw error;
      throw fail('conflict', { message: `There is a coupon ${text} already` });
    });
    await record(tx, couponCreated, {
      subject: { type: 'coupon', id },
      organizationId: null,
      data: { code: text },
    });
    return readCoupon(tx, id);
  });
}

/** Changes for which orders a coupon is; those that hold it keep it. `not_found`, `invalid_request`, `conflict`. */
export async function changeCoupon(ctx: Context, id: number, change: TermsChange) {
  return transaction(ctx, 'catalog.changeCoupon', async (tx) => {
    const row = await requireRow(tx, lockById, { id });
    requireActive(row);
    const { starts_at, expires_at, product_ids, cycles, max_uses, max_uses_per_customer } = row;
    const before: Terms = {
      ...{ product_ids, cycles, max_uses, max_uses_per_customer },
      starts_at: starts_at?.toISOString() ?? null,
      expires_at: expires_at?.toISOString() ?? null,
    };
    const terms = { ...before, ...toldOf(change) };
    await check(tx, terms, row.uses);
    await tx.db.run(writeTerms, { id, terms: JSON.stringify(terms) });
    const data = { code: row.code, change: toldOf(change) };
    await record(tx, couponChanged, { subject: { type: 'coupon', id }, organizationId: null, data });
    return readCoupon(tx, id);
  });
}

/** From now on nobody orders with it; what was ordered with it keeps it. `not_found`, `conflict` when it has ended. */
export async function endCoupon(ctx: Context, id: number) {
  return transaction(ctx, 'catalog.endCoupon', async (tx) => {
    const row = await requireRow(tx, lockById, { id });
    requireActive(row);
    await tx.db.run(markEnded, { id });
    const data = { code: row.code };
    await record(tx, couponEnded, { subject: { type: 'coupon', id }, organizationId: null, data });
    return readCoupon(tx, id);
  });
}

function requireActive({ active, code: text }: CouponRow): void {
  if (!active) throw fail('conflict', { message: `${text} has ended; make another coupon` });
}

async function amountOf(tx: TxContext, { percent, amount, currency }: NewCoupon) {
  if ((percent === undefined) === (amount === undefined)) {
    throw invalid([{ field: 'percent', message: 'send either percent or amount with currency' }]);
  }
  if (amount === undefined) {
    if (currency !== undefined) throw invalid([{ field: 'currency', message: 'is for an amount' }]);
    return { amountMinor: null, currency: null };
  }
  if (currency === undefined) throw invalid([{ field: 'currency', message: 'is needed with an amount' }]);
  await requireSold(tx, currency);
  const amountMinor = parseMoney(amount, currency);
  if (amountMinor === null || amountMinor === 0) {
    throw invalid([{ field: 'amount', message: `must be an amount of ${currency} above zero` }]);
  }
  return { amountMinor, currency };
}

async function check(tx: TxContext, terms: Terms, uses: number): Promise<void> {
  const problems: ErrorDetail[] = [];
  const ids = terms.product_ids ?? [];
  const known = await findProducts(tx, ids);
  const strange = ids.filter((id) => !known.has(id));
  if (strange.length > 0) {
    problems.push({ field: 'product_ids', message: `there is no product ${strange.join(', ')}` });
  }
  const { starts_at: from, expires_at: until, max_uses: most } = terms;
  if (from !== null && until !== null && Date.parse(from) >= Date.parse(until))
    problems.push({ field: 'expires_at', message: 'must be after starts_at' });
  if (most !== null && most < uses)
    problems.push({ field: 'max_uses', message: `must not be below ${uses}, as often as it was used` });
  if (problems.length > 0) throw invalid(problems);
}

function invalid(details: ErrorDetail[]) {
  return fail('invalid_request', { details });
}

function view({ amount_minor: minor, by_code: _, ...row }: CouponRow) {
  const amount = minor === null || row.currency === null ? null : formatMoney(minor, row.currency);
  return { ...row, amount };
}
