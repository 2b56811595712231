import { beginEarning, holdInvoice, isRefunded, lockForTax, refundInvoice } from '../../billing/index.ts';
import { record } from '../../events/index.ts';
import { holdMoreAddresses, returnHeldAddresses, useHeldAddresses } from '../../fleet/index.ts';
import { statusOfOrganization } from '../../organizations/index.ts';
import { enqueue, formatMoney, type TxContext } from '../../platform/index.ts';
import {
  changeTerms,
  lockTerms,
  type NewTerms,
  serviceUpgraded,
  type Terms,
  upgradeExpired,
  vpsOptions,
  writePeriod,
} from '../../services/index.ts';
import { queueAction } from '../actions/history.ts';
import { giveBackAddresses } from '../giveBack.ts';
import type { ActionRow } from '../queries.ts';
import { findWaiting, markUpgrade, type WaitingUpgrade } from './queries.ts';
import { resize } from './resize.ts';
import { holdNeeded } from './resources.ts';

/**
 * Holds what a machine needs to grow: addresses, and room on its own node. What it gives up it keeps until it
 * has really become smaller. `insufficient_stock` when there is not enough.
 */
export async function reserveGrowth(
  tx: TxContext,
  service: Terms,
  options: Record<string, unknown>,
): Promise<void> {
  const [size, now] = [vpsOptions.read(options), vpsOptions.read(service.options)];
  const ipv4Count = Math.max(0, size.ipv4Count - now.ipv4Count);
  const ipv6Count = Math.max(0, size.ipv6Count - now.ipv6Count);
  const more = { id: service.id, location: now.location, ipv4Count, ipv6Count };
  if (ipv4Count + ipv6Count > 0) await holdMoreAddresses(tx, service.organizationId, more);
  await holdNeeded(tx, service, options);
}

/**
 * Makes a change of size count: the service has its new options and price, what was held is the machine's, and
 * the machine is to follow. The service's row is locked. Returns the action, which waits for the machine's lock.
 */
export async function applyUpgrade(tx: TxContext, service: Terms, upgrade: NewTerms): Promise<ActionRow> {
  const options = { ...service.options, ...upgrade.changes };
  const { ipv4Count: count4, ipv6Count: count6 } = vpsOptions.read(options);
  await changeTerms(tx, service, upgrade);
  await useHeldAddresses(tx, service.id);
  await giveBackAddresses(tx, service.id, { count4, count6 });
  const { id: serviceId, organizationId } = service;
  const action = await queueAction(tx, { organizationId, serviceId, command: 'resize' });
  await enqueue(tx, resize, { serviceId, organizationId, actionId: action.id }, { organizationId });
  await record(tx, serviceUpgraded, {
    subject: { type: 'service', id: service.id },
    organizationId: service.organizationId,
    data: {
      before: service.options,
      after: options,
      price: formatMoney(upgrade.newPriceMinor, service.currency),
      currency: service.currency,
    },
  });
  return action;
}

/**
 * The invoice of an upgrade was paid. A service that has ended meanwhile gives the money back, as credit. Repeating it
 * changes nothing.
 */
export async function applyPaidUpgrade(tx: TxContext, invoiceId: number): Promise<void> {
  await withWaiting(tx, invoiceId, async (_, service, upgrade) => {
    // Between the payment and this moment somebody may have given the money back.
    await holdInvoice(tx, invoiceId);
    if (await isRefunded(tx, invoiceId)) return giveBackWaiting(tx, service, upgrade);
    const isBlocked = (await statusOfOrganization(tx, service.organizationId)) === 'blocked';
    if (isBlocked || (service.status !== 'active' && service.status !== 'suspended')) {
      await giveBackWaiting(tx, service, upgrade);
      const was = isBlocked ? 'the organization was blocked' : `the service was ${service.status}`;
      const reason = `${was} before it was changed`;
      await refundInvoice(tx, invoiceId, { method: 'credit', reason });
      return;
    }
    const { id, options: changes, price_minor: newPriceMinor, unit_prices: lots } = upgrade;
    await markUpgrade(tx, id, 'applied');
    const from = tx.clock.now().toISOString().slice(0, 10);
    // What it costs is for the days that remain.
    const to = service.duedate === null || service.duedate < from ? from : service.duedate;
    await beginEarning(tx, { invoiceId, serviceId: service.id, from, to });
    await applyUpgrade(tx, service, { changes, newPriceMinor, lots });
    const today = tx.clock.now().toISOString().slice(0, 10);
    if (service.duedate !== null && today < service.duedate)
      await writePeriod(tx, service.id, { invoiceId, startsOn: today, endsOn: service.duedate });
  });
}

/** The invoice of an upgrade expired, or its money was given back before it counted. Repeating it changes nothing. */
export async function giveBackUpgrade(tx: TxContext, invoiceId: number): Promise<void> {
  await withWaiting(tx, invoiceId, giveBackWaiting);
}

/** Gives back what a waiting upgrade held; the service's row is locked. */
export async function giveBackWaiting(tx: TxContext, service: Terms, upgrade: WaitingUpgrade): Promise<void> {
  await markUpgrade(tx, upgrade.id, 'expired');
  await returnHeldAddresses(tx, service.id);
  await holdNeeded(tx, service);
  await record(tx, upgradeExpired, {
    subject: { type: 'service', id: service.id },
    organizationId: service.organizationId,
    data: { invoice_id: upgrade.invoice_id, options: upgrade.options },
  });
}

async function withWaiting(
  tx: TxContext,
  invoiceId: number,
  work: (tx: TxContext, service: Terms, upgrade: WaitingUpgrade) => Promise<void>,
): Promise<void> {
  const found = await findWaiting(tx, { invoiceId });
  if (found === null) return;
  // In the order of every invoice: the organization first, for one that is given back is numbered.
  await lockForTax(tx, found.organization_id);
  const service = await lockTerms(tx, found.service_id);
  // Again, now that nobody else can change it.
  const upgrade = await findWaiting(tx, { invoiceId });
  if (upgrade !== null) await work(tx, service, upgrade);
}
