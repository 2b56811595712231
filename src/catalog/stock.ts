import { fail, statement, type TxContext } from '../platform/index.ts';

// Rows are taken in the order of their ids, so two orders never wait for each other in a circle. Lists stand in
// `(select …)` so that the plan is made once; one for each list costs more than to take the stock.
const takeStock = statement<{ id: number }, { productIds: number[]; counts: number[] }>(
  'catalog.takeStock',
  `with wanted as (select * from unnest((select :productIds::bigint[]), (select :counts::int[])) as w(id, count)),
   locked as (select p.id, w.count from products p join wanted w on w.id = p.id
              where p.stock is not null order by p.id for no key update of p)
   update products p set stock = p.stock - locked.count from locked
   where p.id = locked.id and p.stock >= locked.count returning p.id`,
);

const giveStock = statement<never, { productIds: number[]; counts: number[] }>(
  'catalog.giveStock',
  `with given as (select * from unnest((select :productIds::bigint[]), (select :counts::int[])) as g(id, count)),
   locked as (select p.id, g.count from products p join given g on g.id = p.id
              where p.stock is not null order by p.id for no key update of p)
   update products p set stock = p.stock + locked.count from locked where p.id = locked.id`,
);

/** Takes so many of each limited product; `insufficient_stock`, and nothing is taken, when one runs out. */
export async function reserveStock(ctx: TxContext, wanted: Map<number, number>): Promise<void> {
  if (wanted.size === 0) return;
  const taken = await ctx.db.many(takeStock, {
    productIds: [...wanted.keys()],
    counts: [...wanted.values()],
  });
  if (taken.length < wanted.size) throw fail('insufficient_stock');
}

/** Puts back what an order held. */
export async function returnStock(ctx: TxContext, counts: Map<number, number>): Promise<void> {
  if (counts.size === 0) return;
  await ctx.db.run(giveStock, { productIds: [...counts.keys()], counts: [...counts.values()] });
}
