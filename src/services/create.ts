import type { Lots } from '../catalog/index.ts';
import { type SealedValue, statement, type TxContext } from '../platform/index.ts';

export interface NewService {
  id: number;
  productId: number;
  domain: string | null;
  cycle: string;
  firstPriceMinor: number;
  priceMinor: number;
  /** What its units are sold for; kept for when some of them are given up. */
  lots: Lots;
  options: Record<string, unknown>;
  /** Whether the order took one from the product's stock. */
  holdsStock: boolean;
  /** Whether it is delivered on a server out of the rack. */
  onServer: boolean;
  /** A machine's first password; kept sealed until the machine has it. */
  password: string | null;
}

const insertServices = statement<
  never,
  { organizationId: number; userId: number; invoiceId: number; currency: string; now: Date; services: string }
>(
  'services.insert',
  `insert into services (id, organization_id, position, user_id, product_id, invoice_id, status, provisioning_state,
     domain, cycle, currency, first_price_minor, price_minor, unit_prices, options, holds_stock, on_server, traffic, created_at)
   select s.id, :organizationId, base.position + s.ordinal, :userId, s.product_id, :invoiceId, 'pending',
     'queued', s.domain, s.cycle, :currency,
     s.first_price_minor, s.price_minor, s.unit_prices, s.options, s.holds_stock, s.on_server,
     (select p.traffic from products p where p.id = s.product_id), :now
   from jsonb_to_recordset(:services::jsonb) as s(ordinal int, id bigint, product_id bigint, domain text,
     cycle text, first_price_minor bigint, price_minor bigint, unit_prices jsonb, options jsonb, holds_stock boolean, on_server boolean),
     (select coalesce(max(position), 0) as position from services
       where organization_id = :organizationId) base`,
);

const insertSecrets = statement<never, { organizationId: number; serviceIds: number[]; sealed: string[] }>(
  'services.insertSecrets',
  `insert into service_secrets (service_id, organization_id, sealed)
   select s.id, :organizationId, decode(s.sealed, 'base64')
     from unnest(:serviceIds::bigint[], :sealed::text[]) as s(id, sealed)`,
);

/** First passwords, to prove the secret key by; bound to what {@link secretOf} says. */
export const sealedPasswords = statement<SealedValue, { limit: number }>(
  'services.sealed',
  `select sealed, 'service ' || service_id as context from service_secrets limit :limit`,
);

/**
 * Writes what an order is going to deliver, pending until its invoice is paid. The caller holds the
 * organization's lock, so the services are numbered in order.
 */
export async function createServices(
  ctx: TxContext,
  order: { organizationId: number; userId: number; invoiceId: number; currency: string },
  services: NewService[],
): Promise<void> {
  const rows = services.map((service, index) => ({
    ordinal: index + 1,
    id: service.id,
    product_id: service.productId,
    domain: service.domain,
    cycle: service.cycle,
    first_price_minor: service.firstPriceMinor,
    price_minor: service.priceMinor,
    unit_prices: service.lots,
    options: service.options,
    holds_stock: service.holdsStock,
    on_server: service.onServer,
  }));
  const { organizationId, userId, invoiceId, currency } = order;
  const secret = services.flatMap(({ id, password }) => (password === null ? [] : [{ id, password }]));
  const ids = secret.map(({ id }) => id);
  const sealed = secret.map(({ id, password }) => ctx.seal.close(password, secretOf(id)).toString('base64'));
  const json = JSON.stringify(rows);
  await Promise.all([
    ctx.db.run(insertServices, {
      organizationId,
      userId,
      invoiceId,
      currency,
      now: ctx.clock.now(),
      services: json,
    }),
    ids.length > 0 && ctx.db.run(insertSecrets, { organizationId, serviceIds: ids, sealed }),
  ]);
}

/** What a service's sealed password is bound to. */
export function secretOf(serviceId: number): string {
  return `service ${serviceId}`;
}
