import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  dayOf,
  fail,
  requireRow,
  statement,
  type TxContext,
  transaction,
  wrongWithCountry,
} from '../../platform/index.ts';
import { taxRateAdded, taxRateEnded, taxRateRemoved } from '../events.ts';

interface RateRow {
  id: number;
  country: string;
  rate_basis_points: number | null;
  valid_from: string;
  valid_until: string | null;
}

// The end of a rate is a row without one, which another rate of that day replaces. A rate counts until the day before the next row of its country, whether that is another rate or its end.
const selectRate = `
  select r.id, r.country, r.rate_basis_points, r.valid_from,
    (select min(n.valid_from) - 1 from tax_rates n where n.country = r.country and n.valid_from > r.valid_from)
      as valid_until
  from tax_rates r`;

const rates = pagedList<RateRow>({
  name: 'billing.rates',
  from: 'tax_rates r',
  select: selectRate,
  within: 'r.rate_basis_points is not null',
  filters: { country: 'r.country = :country' },
  key: { by: 'r.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    country: { by: 'r.country', type: 'text', of: (row) => row.country },
    valid_from: { by: 'r.valid_from::text collate "C"', type: 'text', of: (row) => row.valid_from },
  },
  order: 'country',
});
const rateById = statement<RateRow, { id: number }>(
  'billing.rate',
  `${selectRate} where r.id = :id and r.rate_basis_points is not null`,
);
const insertRate = statement<
  { id: number },
  { country: string; rateBasisPoints: number | null; validFrom: string }
>(
  'billing.insertRate',
  `insert into tax_rates (country, rate_basis_points, valid_from) values (:country, :rateBasisPoints, :validFrom)
   on conflict on constraint tax_rates_once do update set rate_basis_points = excluded.rate_basis_points
     where tax_rates.rate_basis_points is null
   returning id`,
);
const lockById = statement<{ id: number }, { id: number }>(
  'billing.lockRate',
  'select id from tax_rates where id = :id for update',
);
const deleteRate = statement<never, { id: number }>(
  'billing.deleteRate',
  'delete from tax_rates where id = :id',
);

/** All rates that ever counted or will, with the days on which they do. */
export async function listRates(ctx: Context, query: ListRequest & { country?: string | undefined }) {
  const { rows, at } = await rates(ctx, query, { country: query.country });
  return listData('rates', rows.map(view), at);
}

export async function readRate(ctx: Context, id: number) {
  return { rate: view(await requireRow(ctx, rateById, { id })) };
}

/** Nobody changes the rate until the transaction ends. */
export async function lockRate(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lockById, { id });
}

/** Lists a country's rate from a day on; the one before it counts until the day before. `conflict` when that day has one. */
export async function addRate(ctx: Context, rate: { country: string; rate: string; valid_from: string }) {
  const { country, valid_from: validFrom } = rate;
  const rateBasisPoints = basisPointsOf(rate.rate);
  const problem = wrongWithCountry(country);
  const details = [
    ...(problem === null ? [] : [{ field: 'country', message: problem }]),
    ...(rateBasisPoints === null
      ? [
          {
            field: 'rate',
            message: 'must be per cent from 0 to 100 with two digits at most, such as "21.00"',
          },
        ]
      : []),
  ];
  if (rateBasisPoints === null || details.length > 0) throw fail('invalid_request', { details });
  return transaction(ctx, 'billing.addRate', async (tx) => {
    const row = await tx.db.maybe(insertRate, { country, rateBasisPoints, validFrom });
    if (row === null)
      throw fail('conflict', { message: `A rate of ${country} begins on ${validFrom} already` });
    const { id } = row;
    await record(tx, taxRateAdded, {
      subject: { type: 'tax_rate', id },
      organizationId: null,
      data: { country, rate: rate.rate, valid_from: validFrom },
    });
    return readRate(tx, id);
  });
}

/** Lets a rate count until a day, and none after it. `not_found`, `conflict` when it ends by then anyway. */
export async function endRate(ctx: Context, id: number, { valid_until: until }: { valid_until: string }) {
  return transaction(ctx, 'billing.endRate', async (tx) => {
    const rate = await requireRow(tx, rateById, { id });
    if (until < rate.valid_from) {
      const message = `must be ${rate.valid_from}, when it begins, or later`;
      throw fail('invalid_request', { details: [{ field: 'valid_until', message }] });
    }
    if (rate.valid_until !== null && rate.valid_until <= until) {
      throw fail('conflict', { message: `This rate ends on ${rate.valid_until} already` });
    }
    await tx.db.maybe(insertRate, {
      country: rate.country,
      rateBasisPoints: null,
      validFrom: dayAfter(until),
    });
    await record(tx, taxRateEnded, {
      subject: { type: 'tax_rate', id },
      organizationId: null,
      data: { country: rate.country, valid_until: until },
    });
    return readRate(tx, id);
  });
}

/** Takes a rate back that does not count yet. `not_found`, `conflict` for one that an invoice may carry. */
export async function removeRate(ctx: Context, id: number) {
  return transaction(ctx, 'billing.removeRate', async (tx) => {
    const rate = await requireRow(tx, rateById, { id });
    if (rate.valid_from <= dayOf(tx.clock.now())) {
      throw fail('conflict', { message: 'This rate counts already; end it, or add one that follows it' });
    }
    await tx.db.run(deleteRate, { id });
    await record(tx, taxRateRemoved, {
      subject: { type: 'tax_rate', id },
      organizationId: null,
      data: { country: rate.country, valid_from: rate.valid_from },
    });
    return {};
  });
}

/** `"21.00"` is 2100; null for what is no rate. */
function basisPointsOf(text: string): number | null {
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text);
  if (!match) return null;
  const points = Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
  return points <= 10_000 ? points : null;
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}

function view({ rate_basis_points: points, ...row }: RateRow) {
  return { ...row, rate: ((points ?? 0) / 100).toFixed(2) };
}
