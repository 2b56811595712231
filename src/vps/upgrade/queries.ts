import type { Lots } from '../../catalog/index.ts';
import { type Context, statement, type TxContext } from '../../platform/index.ts';
import type { NewTerms } from '../../services/index.ts';

/** An upgrade that waits for its money, with what its invoice says. */
export interface WaitingUpgrade {
  id: number;
  organization_id: number;
  service_id: number;
  invoice_id: number;
  /** Only what changes. */
  options: Record<string, unknown>;
  price_minor: number;
  unit_prices: Lots;
  charge_minor: number;
  credit_minor: number;
  invoice_status: string;
  total_minor: number;
}

const selectWaiting = `
  select u.id, u.organization_id, u.service_id, u.invoice_id, u.options, u.price_minor, u.unit_prices, u.charge_minor, u.credit_minor,
    i.status as invoice_status, i.total_minor
  from vps_upgrades u join invoices i on i.id = u.invoice_id where u.state = 'waiting'`;
const waitingOfService = statement<WaitingUpgrade, { serviceId: number }>(
  'vps.waitingUpgrade',
  `${selectWaiting} and u.service_id = :serviceId`,
);
const waitingOfInvoice = statement<WaitingUpgrade, { invoiceId: number }>(
  'vps.upgradeOfInvoice',
  `${selectWaiting} and u.invoice_id = :invoiceId`,
);

const insertUpgrade = statement<
  never,
  {
    id: number;
    organizationId: number;
    serviceId: number;
    invoiceId: number | null;
    options: object;
    priceMinor: number;
    unitPrices: Lots;
    chargeMinor: number;
    creditMinor: number;
    state: 'waiting' | 'applied';
    now: Date;
  }
>(
  'vps.insertUpgrade',
  `insert into vps_upgrades (id, organization_id, service_id, invoice_id, options, price_minor, unit_prices, charge_minor,
     credit_minor, state, created_at)
   values (:id, :organizationId, :serviceId, :invoiceId, :options, :priceMinor, :unitPrices, :chargeMinor, :creditMinor,
     :state, :now)`,
);
const endUpgrade = statement<never, { id: number; state: 'applied' | 'expired' }>(
  'vps.endUpgrade',
  'update vps_upgrades set state = :state where id = :id',
);
export function findWaiting(ctx: Context, by: { serviceId: number } | { invoiceId: number }) {
  return 'serviceId' in by
    ? ctx.db.maybe(waitingOfService, { serviceId: by.serviceId })
    : ctx.db.maybe(waitingOfInvoice, { invoiceId: by.invoiceId });
}

export interface NewUpgrade extends NewTerms {
  id: number;
  organizationId: number;
  serviceId: number;
  /** Null: nothing was to pay. */
  invoiceId: number | null;
  chargeMinor: number;
  creditMinor: number;
  state: 'waiting' | 'applied';
}

export async function writeUpgrade(ctx: TxContext, upgrade: NewUpgrade): Promise<void> {
  await ctx.db.run(insertUpgrade, {
    id: upgrade.id,
    organizationId: upgrade.organizationId,
    serviceId: upgrade.serviceId,
    invoiceId: upgrade.invoiceId,
    options: upgrade.changes,
    priceMinor: upgrade.newPriceMinor,
    unitPrices: upgrade.lots,
    chargeMinor: upgrade.chargeMinor,
    creditMinor: upgrade.creditMinor,
    state: upgrade.state,
    now: ctx.clock.now(),
  });
}

export async function markUpgrade(ctx: TxContext, id: number, state: 'applied' | 'expired'): Promise<void> {
  await ctx.db.run(endUpgrade, { id, state });
}
