import type { Lots } from '../catalog/index.ts';
import { type Context, statement, type TxContext } from '../platform/index.ts';

export interface UpgradableRow {
  id: number;
  organization_id: number;
  product_id: number;
  module_id: number;
  status: string;
  domain: string | null;
  cycle: string;
  currency: string;
  price_minor: number;
  duedate: string | null;
  period_start: string | null;
  options: Record<string, unknown>;
  unit_prices: Lots;
}

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

const selectUpgradable = `
  select s.id, s.organization_id, s.product_id, p.module_id, s.status, s.domain, s.cycle, s.currency, s.price_minor,
    s.duedate, s.period_start, s.options, s.unit_prices
  from services s join products p on p.id = s.product_id where s.id = :id`;
const upgradable = statement<UpgradableRow, { id: number }>('services.upgradable', selectUpgradable);
const upgradableLocked = statement<UpgradableRow, { id: number }>(
  'services.upgradableLocked',
  `${selectUpgradable} for no key update of s`,
);

const selectWaiting = `
  select u.id, u.organization_id, u.service_id, u.invoice_id, u.options, u.price_minor, u.unit_prices, u.charge_minor, u.credit_minor,
    i.status as invoice_status, i.total_minor
  from service_upgrades u join invoices i on i.id = u.invoice_id where u.state = 'waiting'`;
const waitingOfService = statement<WaitingUpgrade, { serviceId: number }>(
  'services.waitingUpgrade',
  `${selectWaiting} and u.service_id = :serviceId`,
);
const waitingOfInvoice = statement<WaitingUpgrade, { invoiceId: number }>(
  'services.upgradeOfInvoice',
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
  'services.insertUpgrade',
  `insert into service_upgrades (id, organization_id, service_id, invoice_id, options, price_minor, unit_prices, charge_minor,
     credit_minor, state, created_at)
   values (:id, :organizationId, :serviceId, :invoiceId, :options, :priceMinor, :unitPrices, :chargeMinor, :creditMinor,
     :state, :now)`,
);
const endUpgrade = statement<never, { id: number; state: 'applied' | 'expired' }>(
  'services.endUpgrade',
  'update service_upgrades set state = :state where id = :id',
);
const setSize = statement<
  never,
  { serviceId: number; changes: object; priceMinor: number; unitPrices: Lots }
>(
  'services.setSize',
  `update services set options = options || :changes::jsonb, price_minor = :priceMinor,
     unit_prices = :unitPrices where id = :serviceId`,
);

export function findUpgradable(ctx: Context, id: number): Promise<UpgradableRow | null> {
  return ctx.db.maybe(upgradable, { id });
}

/** The same, its row locked: of two changes to it, the second sees the first. */
export function lockUpgradable(ctx: TxContext, id: number): Promise<UpgradableRow> {
  return ctx.db.one(upgradableLocked, { id });
}

export function findWaiting(ctx: Context, by: { serviceId: number } | { invoiceId: number }) {
  return 'serviceId' in by
    ? ctx.db.maybe(waitingOfService, { serviceId: by.serviceId })
    : ctx.db.maybe(waitingOfInvoice, { invoiceId: by.invoiceId });
}

export interface NewUpgrade {
  id: number;
  organizationId: number;
  serviceId: number;
  /** Null: nothing was to pay. */
  invoiceId: number | null;
  changes: Record<string, unknown>;
  newPriceMinor: number;
  /** What all units will have been sold for. */
  lots: Lots;
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

/** Gives a service its new size and price on paper. */
export async function writeSize(
  ctx: TxContext,
  serviceId: number,
  {
    changes,
    newPriceMinor: priceMinor,
    lots: unitPrices,
  }: Pick<NewUpgrade, 'changes' | 'newPriceMinor' | 'lots'>,
): Promise<void> {
  await ctx.db.run(setSize, { serviceId, changes, priceMinor, unitPrices });
}
