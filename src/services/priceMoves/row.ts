import type { Option } from '../../catalog/index.ts';
import { statement, type TxContext } from '../../platform/index.ts';

/** A move of prices as it stands in the database. Days are `YYYY-MM-DD` in UTC. */
export interface MoveRow {
  id: number;
  productId: number;
  product: string;
  currency: string;
  fromOn: string;
  noticeDays: number;
  prices: Record<string, number>;
  userId: number | null;
  createdAt: Date;
  gatheredAt: Date | null;
  revokedAt: Date | null;
  /** How many services are in which state. */
  counts: Partial<Record<'waiting' | 'telling' | 'told' | 'moved' | 'ended' | 'revoked', number>>;
}

// Counted by an index of its own, of nothing but the states.
export const selectMove = `
  select t.id, t.product_id as "productId", p.name as product, p.currency, t.from_on as "fromOn",
    t.notice_days as "noticeDays", t.prices, t.user_id as "userId", t.created_at as "createdAt",
    t.gathered_at as "gatheredAt", t.revoked_at as "revokedAt",
    coalesce((select jsonb_object_agg(c.state, c.services) from
      (select r.state, count(*) as services from service_price_moves r where r.move_id = t.id group by r.state) c),
      '{}') as counts
  from price_moves t join products p on p.id = t.product_id`;

export const moveById = statement<MoveRow, { id: number }>(
  'services.priceMove',
  `${selectMove} where t.id = :id`,
);
const insertMove = statement<
  { id: number },
  {
    productId: number;
    fromOn: string;
    noticeDays: number;
    prices: Record<string, number>;
    options: string;
    userId: number | null;
    now: Date;
  }
>(
  'services.insertPriceMove',
  `insert into price_moves (product_id, from_on, notice_days, prices, options, user_id, created_at)
   values (:productId, :fromOn, :noticeDays, :prices, :options::jsonb, :userId, :now) returning id`,
);
export const lockMove = statement<{ id: number; revokedAt: Date | null }, { id: number }>(
  'services.lockPriceMove',
  'select id, revoked_at as "revokedAt" from price_moves where id = :id for update',
);
const markRevoked = statement<never, { id: number; now: Date }>(
  'services.revokePriceMove',
  'update price_moves set revoked_at = :now, gathered_at = coalesce(gathered_at, :now) where id = :id',
);

export async function writeMove(
  tx: TxContext,
  move: Pick<MoveRow, 'productId' | 'fromOn' | 'noticeDays' | 'prices'> & { options: Option[] },
): Promise<number> {
  const options = JSON.stringify(move.options);
  const by = { userId: tx.actor.userId, now: tx.clock.now() };
  const { id } = await tx.db.one(insertMove, { ...move, options, ...by });
  return id;
}

export async function writeRevoked(tx: TxContext, id: number): Promise<void> {
  await tx.db.run(markRevoked, { id, now: tx.clock.now() });
}
