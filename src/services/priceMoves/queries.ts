import { followLots, type Lots, type Options } from '../../catalog/index.ts';
import { type Context, forMany, statement, type TxContext } from '../../platform/index.ts';
import type { Coming } from './coming.ts';

/** New prices of a service that were not revoked and do not count for it yet, as JSON; `s` is the service's id. */
export const comingOfService = (s: string) => `
  select jsonb_agg(jsonb_build_object('moveId', r.move_id, 'state', r.state, 'cycles', m.prices,
    'unitPrices', r.unit_prices, 'fromOn', m.from_on, 'noticeDays', m.notice_days, 'countsOn', r.counts_on))
  from service_price_moves r join price_moves m on m.id = r.move_id and m.revoked_at is null
  where r.service_id = ${s} and r.state in ('waiting', 'telling', 'told')`;

const coming = forMany(
  statement<{ coming: Coming[] | null }, { serviceId: number }>(
    'services.comingPrices',
    `select (${comingOfService(':serviceId')}) as coming`,
  ),
  { serviceId: 'bigint' },
);
const openUnits = statement<{ moveId: number; unitPrices: Lots }, { serviceId: number }>(
  'services.openPriceMoves',
  `select move_id as "moveId", unit_prices as "unitPrices" from service_price_moves
   where service_id = :serviceId and state in ('waiting', 'telling', 'told') order by move_id for update`,
);
const writeUnits = statement<never, { moveId: number; serviceId: number; unitPrices: Lots }>(
  'services.writeComingUnits',
  'update service_price_moves set unit_prices = :unitPrices where move_id = :moveId and service_id = :serviceId',
);
const comingByMove = statement<Pick<Coming, 'cycles' | 'unitPrices'>, { moveId: number; serviceId: number }>(
  'services.comingByMove',
  `select m.prices as cycles, r.unit_prices as "unitPrices"
   from service_price_moves r join price_moves m on m.id = r.move_id
   where r.move_id = :moveId and r.service_id = :serviceId and r.state = 'told' for update of r`,
);
// Of several the one that was decided last counts; those before it are over.
const mark = statement<
  never,
  { moveId: number; serviceId: number; movedOn: string; beforeMinor: number; afterMinor: number }
>(
  'services.markMoved',
  `update service_price_moves set state = case when move_id = :moveId then 'moved' else 'ended' end,
     moved_on = case when move_id = :moveId then :movedOn::date end,
     before_minor = case when move_id = :moveId then :beforeMinor::bigint else before_minor end,
     after_minor = case when move_id = :moveId then :afterMinor::bigint else after_minor end
   where service_id = :serviceId and move_id <= :moveId and state in ('waiting', 'telling', 'told')`,
);
const end = statement<never, { serviceIds: number[] }>(
  'services.endPriceMoves',
  `update service_price_moves set state = 'ended'
   where service_id = any(:serviceIds::bigint[]) and state in ('waiting', 'telling', 'told')`,
);

/** The new prices of a service that do not count for it yet. */
export async function comingOf(ctx: Context, serviceId: number): Promise<Coming[]> {
  return (await ctx.db.one(coming, { serviceId })).coming ?? [];
}

/** What a service costs by a move that its customer was told of; null when that is over. The service's row is locked. */
export function findComing(tx: TxContext, serviceId: number, moveId: number) {
  return tx.db.maybe(comingByMove, { serviceId, moveId });
}

/** A service pays a new price from that day on; its row is locked. */
export async function markMoved(
  tx: TxContext,
  moved: { moveId: number; serviceId: number; movedOn: string; beforeMinor: number; afterMinor: number },
): Promise<void> {
  await tx.db.run(mark, moved);
}

/** Services have ended, or became something else: no new price waits for them any more. */
export async function endPriceMoves(tx: TxContext, serviceIds: number[]): Promise<void> {
  await tx.db.run(end, { serviceIds });
}

/** A service has another size: what waits for it changes likewise. Its row is locked; `before` is how it was. */
export async function followTerms(
  tx: TxContext,
  before: { id: number; options: Options },
  { changes, lots }: { changes: Options; lots: Lots },
): Promise<void> {
  for (const { moveId, unitPrices } of await tx.db.many(openUnits, { serviceId: before.id })) {
    const change = { before: before.options, changes, sold: lots };
    const followed = followLots(unitPrices, change);
    await tx.db.run(writeUnits, { moveId, serviceId: before.id, unitPrices: followed });
  }
}
