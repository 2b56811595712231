import type { Lots, Option } from '../../catalog/index.ts';
import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { type Coming, type Priced, priceWith, unitsToday } from './coming.ts';
import { comingOfService } from './queries.ts';

/** A service that a move of its product's prices may concern. */
export interface Candidate extends Priced {
  id: number;
  organizationId: number;
  organization: string;
  status: 'pending' | 'active' | 'suspended';
  hostname: string | null;
  cancelled: boolean;
  duedate: string | null;
  anchorDay: number | null;
  /** End of the period that an open invoice asks for at a price of its own. */
  openUntil: string | null;
  coming: Coming[] | null;
}

/** What a move does to the price of a period of a service, in minor units. */
export interface Affected {
  service: Candidate;
  unitPrices: Lots;
  beforeMinor: number;
  afterMinor: number;
}

const select = `
  select t.id, t.organization_id as "organizationId", o.name as organization, t.status, t.domain as hostname,
    t.cancelled, t.cycle, t.price_minor as "priceMinor", t.options, t.unit_prices as "unitPrices", t.duedate,
    t.anchor_day as "anchorDay", (${comingOfService('t.id')}) as coming,
    (select w.ends_on from service_renewals w where w.service_id = t.id and w.state = 'waiting') as "openUntil"
  from services t join organizations o on o.id = t.organization_id
  where t.product_id = :productId and t.id > :after and t.status in ('pending', 'active', 'suspended')
    and t.created_at <= :orderedBy
  order by t.id limit :limit`;
interface Place {
  productId: number;
  after: number;
  /** Whoever ordered later did so at the prices of that day. */
  orderedBy: Date;
  limit: number;
}
const candidates = statement<Candidate, Place>('services.ofProduct', select);
// Whoever changes one of them meanwhile changes what waits for it too, and finds it there.
const candidatesLocked = statement<Candidate, Place>(
  'services.ofProductLocked',
  `${select} for no key update of t`,
);

/** Services of a product in the order of their ids, so many after that one; with `lock` nobody changes them meanwhile. */
export function readCandidates(ctx: Context, place: Place): Promise<Candidate[]> {
  return ctx.db.many(candidates, place);
}

export function lockCandidates(tx: TxContext, place: Place): Promise<Candidate[]> {
  return tx.db.many(candidatesLocked, place);
}

/**
 * The one rule of whom a move concerns: whose price would be another one with the catalogue as the move has it. Null for
 * those who pay it already, or will by a move that comes no later.
 */
export function affectedBy(
  move: { options: Option[]; cycles: Record<string, number>; fromOn: string },
  service: Candidate,
): Affected | null {
  const unitPrices = unitsToday(move, service);
  const afterMinor = priceWith({ cycles: move.cycles, unitPrices }, service);
  if (afterMinor === null) return null;
  const earlier = service.coming ?? [];
  const last = earlier.reduce<Coming | null>(
    (found, each) => (each.moveId > (found?.moveId ?? 0) ? each : found),
    null,
  );
  const beforeMinor = (last && priceWith(last, service)) ?? service.priceMinor;
  const isLater = last !== null && last.fromOn > move.fromOn;
  if (afterMinor === beforeMinor && !isLater) return null;
  return { service, unitPrices, beforeMinor, afterMinor };
}
