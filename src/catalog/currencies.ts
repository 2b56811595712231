import { type Context, fail, statement } from '../platform/index.ts';

const soldIn = statement<{ currency: string }>(
  'catalog.currencies',
  'select distinct currency from products order by currency',
);

/** The currencies that the provider sells in, or has sold in: those of its products, retired ones too. */
export async function soldCurrencies(ctx: Context): Promise<string[]> {
  return (await ctx.db.many(soldIn)).map(({ currency }) => currency);
}

/** Refuses money in a currency that nothing could ever be paid with. `currency_not_sold`. */
export async function requireSold(ctx: Context, currency: string): Promise<void> {
  const sold = await soldCurrencies(ctx);
  if (sold.includes(currency)) return;
  const those = sold.length === 0 ? 'no product has a price yet' : `products are sold in ${sold.join(', ')}`;
  throw fail('currency_not_sold', { message: `Nothing is sold in ${currency}; ${those}` });
}
