import type { Lots } from '../catalog/index.ts';
import { type Context, fail, forMany, statement, type TxContext } from '../platform/index.ts';
import { followTerms } from './priceMoves/queries.ts';
import type { ServiceStatus } from './states.ts';

/** What a service is, what it costs and what is paid for: whoever changes any of it looks here. */
export interface Terms {
  id: number;
  organizationId: number;
  /** Who ordered it. */
  userId: number;
  productId: number;
  productName: string;
  moduleId: number;
  /** When a change to what costs less counts. */
  downgrade: 'now' | 'period_end';
  status: ServiceStatus;
  provisioningState: string;
  /** It ends with its period, as its customer asked. */
  cancelled: boolean;
  domain: string | null;
  /** When it was ordered. */
  createdAt: Date;
  cycle: string;
  currency: string;
  priceMinor: number;
  duedate: string | null;
  periodStart: string | null;
  /** The day of the month that its periods begin on. */
  anchorDay: number | null;
  options: Record<string, unknown>;
  /** Whether it took one from the stock of its product. */
  holdsStock: boolean;
  /** Whether it is on a server out of the rack. */
  onServer: boolean;
  unitPrices: Lots;
}

/** What a change of a service leaves: the options that are different, and the price of each period from now on. */
export interface NewTerms {
  changes: Record<string, unknown>;
  newPriceMinor: number;
  /** What all units will have been sold for. */
  lots: Lots;
}

const columns = `
  select s.id, s.organization_id as "organizationId", s.user_id as "userId", s.product_id as "productId",
    p.name as "productName", p.module_id as "moduleId", p.downgrade, s.status,
    s.provisioning_state as "provisioningState", s.cancelled, s.domain, s.created_at as "createdAt", s.cycle, s.currency, s.price_minor as "priceMinor", s.duedate, s.period_start as "periodStart",
    s.anchor_day as "anchorDay", s.options, s.holds_stock as "holdsStock", s.on_server as "onServer", s.unit_prices as "unitPrices"`;
const withProduct = 'join products p on p.id = s.product_id';
const termsById = forMany(
  statement<Terms, { id: number }>(
    'services.terms',
    `${columns} from services s ${withProduct} where s.id = :id`,
  ),
  { id: 'bigint' },
);
// The row first, and then what belongs to it: where both are one join, a service that becomes another product while it is
// waited for would be no service at all.
const termsLocked = forMany(
  statement<Terms, { id: number }>(
    'services.termsLocked',
    `with locked as materialized (select * from services where id = :id for no key update)
   ${columns} from locked s ${withProduct}`,
  ),
  { id: 'bigint' },
);
const setTerms = statement<never, { id: number; changes: object; priceMinor: number; unitPrices: Lots }>(
  'services.setTerms',
  `update services set options = options || :changes::jsonb, price_minor = :priceMinor,
     unit_prices = :unitPrices where id = :id`,
);

/** The terms of a service that is there. */
export function requireTerms(ctx: Context, id: number): Promise<Terms> {
  return ctx.db.one(termsById, { id });
}

/**
 * The same, its row locked: of two changes to it, the second sees the first. `forbidden` for a customer from whose organization it
 * was moved while they waited.
 */
export async function lockTerms(ctx: TxContext, id: number): Promise<Terms> {
  const terms = await ctx.db.one(termsLocked, { id });
  const { actor, organizationId } = ctx;
  const isMember = actor.type === 'user' || actor.type === 'api_key';
  if (isMember && organizationId !== null && terms.organizationId !== organizationId) throw fail('forbidden');
  return terms;
}

/** Gives a service, as it was `before`, new options and a new price on paper; its row is locked. */
export async function changeTerms(tx: TxContext, before: Terms, terms: NewTerms): Promise<void> {
  const { changes, newPriceMinor: priceMinor, lots: unitPrices } = terms;
  await tx.db.run(setTerms, { id: before.id, changes, priceMinor, unitPrices });
  await followTerms(tx, before, terms);
}
