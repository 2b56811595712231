import {
  beginEarning,
  carryEarning,
  holdInvoice,
  isRefunded,
  lockForTax,
  ordererOf,
  refundInvoice,
} from '../../billing/index.ts';
import { findProducts, returnCoupon, returnStock } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import { statusOfOrganization } from '../../organizations/index.ts';
import {
  dayOf,
  doEach,
  findHeldRestore,
  formatMoney,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { askByHand } from '../byHand/tasks.ts';
import { leaveCalendar } from '../calendar/row.ts';
import { productChanged, productChangeEnded } from '../events.ts';
import { writePeriod } from '../periods.ts';
import { endPriceMoves } from '../priceMoves/queries.ts';
import { endAppliedRenewals } from '../renew/queries.ts';
import { lockTerms, type Terms } from '../terms.ts';
import {
  becomeProduct,
  type Change,
  dueChangesJob,
  endChange,
  findChange,
  findDueChanges,
  keepBefore,
} from './queries.ts';

/**
 * Makes a change count: the service is the other product, at its price, and whoever looks after its kind follows. Its
 * row is locked.
 */
export async function applyChange(tx: TxContext, service: Terms, change: Change): Promise<void> {
  await endChange(tx, change.id, 'applied');
  await keepBefore(tx, change.id, service);
  if (service.holdsStock) await returnStock(tx, new Map([[service.productId, 1]]));
  await becomeProduct(tx, change);
  // It was bought as what it is now at today's price.
  await endPriceMoves(tx, [service.id]);
  const { invoiceId } = change;
  const from = dayOf(tx.clock.now());
  if (invoiceId !== null) {
    // What it costs is for the days that remain, or for the period that begins with it.
    const rest = service.duedate === null || service.duedate < from ? from : service.duedate;
    const [startsOn, endsOn] = [change.startsOn ?? from, change.endsOn ?? rest];
    await writePeriod(tx, service.id, { invoiceId, startsOn, endsOn });
    await beginEarning(tx, { invoiceId, serviceId: service.id, from: startsOn, to: endsOn });
  }
  if (invoiceId !== null && change.startsOn !== null && change.endsOn !== null) {
    await carryEarning(tx, {
      serviceId: service.id,
      into: invoiceId,
      from: change.startsOn,
      to: change.endsOn,
    });
    await endAppliedRenewals(tx, service.id);
    // It is due on another day, and the calendar takes it up anew when that is near.
    await leaveCalendar(tx, service.id);
  }
  await askByHand(tx, service, 'change');
  const product = (await findProducts(tx, [change.productId])).get(change.productId);
  await record(tx, productChanged, {
    subject: { type: 'service', id: service.id },
    organizationId: service.organizationId,
    data: {
      user_id: service.userId,
      module_id: service.moduleId,
      hostname: service.domain,
      product_before: service.productName,
      product: product?.name ?? '',
      before: service.options,
      after: change.options,
      cycle: change.cycle ?? service.cycle,
      duedate: change.endsOn ?? service.duedate,
      price: formatMoney(change.priceMinor, service.currency),
      currency: service.currency,
    },
  });
}

/** The invoice of a change was paid. Repeating it changes nothing. */
export async function applyPaidChange(tx: TxContext, invoiceId: number): Promise<void> {
  await withOpen(tx, { invoiceId }, async (service, change) => {
    // Between the payment and this moment somebody may have given the money back.
    await holdInvoice(tx, invoiceId);
    if (await isRefunded(tx, invoiceId)) return giveUpChange(tx, service, change);
    const isBlocked = (await statusOfOrganization(tx, service.organizationId)) === 'blocked';
    if (!isBlocked && (service.status === 'active' || service.status === 'suspended'))
      return applyChange(tx, service, change);
    await giveUpChange(tx, service, change);
    const was = isBlocked ? 'the organization was blocked' : `the service was ${service.status}`;
    const reason = `${was} before it was changed`;
    await refundInvoice(tx, invoiceId, { method: 'credit', reason });
  });
}

/** The invoice of a change ended without a payment that stands. Repeating it changes nothing. */
export function endUnpaidChange(tx: TxContext, invoiceId: number): Promise<void> {
  return withOpen(tx, { invoiceId }, (service, change) => giveUpChange(tx, service, change));
}

/** Gives up a change that waits: what it held is free again. The service's row is locked. */
export async function giveUpChange(tx: TxContext, service: Terms, change: Change): Promise<void> {
  await endChange(tx, change.id, 'ended');
  if (change.couponId !== null) {
    // Whoever asked for the change, which need not be who ordered the service.
    const userId = change.invoiceId === null ? null : await ordererOf(tx, change.invoiceId);
    await returnCoupon(tx, change.couponId, { organizationId: service.organizationId, userId });
  }
  if (change.holdsStock) await returnStock(tx, new Map([[change.productId, 1]]));
  await record(tx, productChangeEnded, {
    subject: { type: 'service', id: service.id },
    organizationId: service.organizationId,
    data: { module_id: service.moduleId, invoice_id: change.invoiceId, product_id: change.productId },
  });
}

const batch = 50;

/** When a change counts next, for {@link applyDueChanges}. */
export const nextChange = statement<{ at: Date | null }>(
  'services.nextChange',
  `select min(effective_on)::timestamp at time zone 'UTC' as at from service_changes where state = 'scheduled'`,
);

/**
 * Makes changes count whose day has come, a batch of them. After a restore they wait until staff has released it: one may have been
 * called off since the backup, and a machine that is made smaller loses what its customer still pays for. Whoever waits has the
 * larger one a few days longer.
 */
export async function applyDueChanges(tx: TxContext): Promise<'more' | 'done'> {
  if ((await findHeldRestore(tx)) !== null) return 'done';
  const due = await findDueChanges(tx, batch);
  await doEach(tx, dueChangesJob, due, (one, { id: serviceId }) =>
    withOpen(one, { serviceId }, (service, change) =>
      service.status === 'active' || service.status === 'suspended'
        ? applyChange(one, service, change)
        : giveUpChange(one, service, change),
    ),
  );
  return due.length === batch ? 'more' : 'done';
}

async function withOpen(
  tx: TxContext,
  by: { serviceId: number } | { invoiceId: number },
  work: (service: Terms, change: Change) => Promise<void>,
): Promise<void> {
  const found = await findChange(tx, by);
  if (found === null) return;
  // In the order of every invoice: the organization first, for one that is given back is numbered.
  if ('invoiceId' in by) await lockForTax(tx, found.organizationId);
  const service = await lockTerms(tx, found.serviceId);
  // Again, now that nobody else can change it.
  const change = await findChange(tx, by);
  if (change !== null) await work(service, change);
}
