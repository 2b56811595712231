import type { Option } from '../../catalog/index.ts';
import { statement, type TxContext } from '../../platform/index.ts';
import { affectedBy, lockCandidates } from './affected.ts';

const gatheredAtOnce = 500;

const toGather = statement<{
  id: number;
  productId: number;
  prices: Record<string, number>;
  options: Option[];
  fromOn: string;
  createdAt: Date;
  after: number;
}>(
  'services.priceMoveToGather',
  `select id, product_id as "productId", prices, options, from_on as "fromOn", created_at as "createdAt",
     gathered_to as after from price_moves
   where gathered_at is null and revoked_at is null order by id limit 1 for update`,
);
const write = statement<never, { moveId: number; now: Date; rows: string }>(
  'services.gatherForPriceMove',
  `insert into service_price_moves (move_id, service_id, organization_id, state, unit_prices, before_minor, after_minor,
     look_at)
   select :moveId, r.service_id, r.organization_id, 'waiting', r.unit_prices, r.before_minor, r.after_minor,
     :now::timestamptz
   from jsonb_to_recordset(:rows::jsonb) as r(service_id bigint, organization_id bigint, unit_prices jsonb,
     before_minor bigint, after_minor bigint)`,
);
const goOn = statement<never, { id: number; to: number; gatheredAt: Date | null }>(
  'services.markGathered',
  'update price_moves set gathered_to = :to, gathered_at = :gatheredAt::timestamptz where id = :id',
);

/** Notes what a move does to services of its product, a batch of them. Null when there is nothing to gather. */
export async function gather(tx: TxContext): Promise<'more' | null> {
  const move = await tx.db.maybe(toGather);
  if (move === null) return null;
  const { id: moveId, productId, after, fromOn, createdAt: orderedBy, prices: cycles, options } = move;
  const found = await lockCandidates(tx, { productId, after, orderedBy, limit: gatheredAtOnce });
  const rows = found.flatMap((service) => {
    const affected = affectedBy({ options, cycles, fromOn }, service);
    if (affected === null) return [];
    return {
      service_id: service.id,
      organization_id: service.organizationId,
      unit_prices: affected.unitPrices,
      before_minor: affected.beforeMinor,
      after_minor: affected.afterMinor,
    };
  });
  const now = tx.clock.now();
  if (rows.length > 0) await tx.db.run(write, { moveId, now, rows: JSON.stringify(rows) });
  const isAll = found.length < gatheredAtOnce;
  await tx.db.run(goOn, { id: moveId, to: found.at(-1)?.id ?? after, gatheredAt: isAll ? now : null });
  return 'more';
}
