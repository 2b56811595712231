import { beginEarning, couponOf, holdInvoice, isRefunded } from '../../billing/index.ts';
import { addMonths, isCycle, monthsOf } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import {
  type Context,
  dayOf,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { secretOf } from '../create.ts';
import { serviceFailed, serviceProvisioned } from '../events.ts';
import { kindOf } from '../kinds/table.ts';
import { writePeriod } from '../periods.ts';
import { cancelUndelivered, lockServicesOf } from './cancelUndelivered.ts';

/** What delivering a service needs to know of it. */
export interface Order {
  id: number;
  organizationId: number;
  userId: number;
  productId: number;
  moduleId: number;
  onServer: boolean;
  productName: string;
  invoiceId: number;
  status: string;
  provisioningState: string;
  domain: string | null;
  cycle: string;
  options: Record<string, unknown>;
}

const orderById = statement<Order, { serviceId: number }>(
  'services.order',
  `select s.id, s.organization_id as "organizationId", s.user_id as "userId", s.product_id as "productId",
     p.module_id as "moduleId", s.on_server as "onServer", p.name as "productName", s.invoice_id as "invoiceId", s.status,
     s.provisioning_state as "provisioningState", s.domain, s.cycle, s.options
   from services s join products p on p.id = s.product_id where s.id = :serviceId`,
);
const sealedPassword = statement<{ sealed: Buffer }, { serviceId: number }>(
  'services.sealedPassword',
  'select sealed from service_secrets where service_id = :serviceId',
);
const dropSecret = statement<never, { serviceId: number }>(
  'services.dropSecret',
  'delete from service_secrets where service_id = :serviceId',
);
const setProvisioning = statement<
  never,
  { serviceId: number; provisioningState: 'running' | 'failed'; now: Date }
>(
  'services.setProvisioning',
  `update services set provisioning_state = :provisioningState,
     delivery_since = case when provisioning_state = :provisioningState then delivery_since else :now end
   where id = :serviceId`,
);
const activate = statement<never, { id: number; duedate: string; periodStart: string }>(
  'services.activate',
  `update services set status = 'active', provisioning_state = 'done', duedate = :duedate,
     period_start = :periodStart, anchor_day = extract(day from :periodStart::date)
   where id = :id and status = 'pending'`,
);

/** The order of a service, whoever owns it; `not_found`. */
export function requireOrder(ctx: Context, serviceId: number): Promise<Order> {
  return requireRow(ctx, orderById, { serviceId });
}

/** The password the customer ordered with, in clear; null once the machine has it. */
export async function openPassword(ctx: Context, serviceId: number): Promise<string | null> {
  const row = await ctx.db.maybe(sealedPassword, { serviceId });
  return row === null ? null : ctx.seal.open(row.sealed, secretOf(serviceId));
}

export async function dropPassword(ctx: Context, serviceId: number): Promise<void> {
  await ctx.db.run(dropSecret, { serviceId });
}

/** A delivery is under way from the moment it is asked for; the service's row is locked. */
export async function markDelivering(tx: TxContext, serviceId: number): Promise<void> {
  await tx.db.run(setProvisioning, { serviceId, provisioningState: 'running', now: tx.clock.now() });
}

/** The first step of a delivery: it is under way, unless {@link requireWanted} says that it is for nothing. */
export async function markProvisioning(ctx: Context, serviceId: number): Promise<void> {
  await transaction(ctx, 'services.markProvisioning', async (tx) => {
    const { invoiceId } = await requireOrder(tx, serviceId);
    await lockServicesOf(tx, invoiceId);
    await requireWanted(tx, serviceId);
    await markDelivering(tx, serviceId);
  });
}

/**
 * Fails for good when there is nothing to deliver any more: the order was cancelled, or its money was given back,
 * after the delivery was asked for.
 */
export async function requireWanted(ctx: Context, serviceId: number): Promise<void> {
  const { status, invoiceId } = await requireOrder(ctx, serviceId);
  if (status !== 'pending') throw unwanted(`the service is ${status}`);
  if (await isRefunded(ctx, invoiceId)) throw unwanted('the invoice was refunded');
}

/** Code of a delivery's failure that is nobody's fault: it is wanted no more. */
export const notWanted = 'not_wanted';

function unwanted(message: string): Error {
  return Object.assign(new Error(message), { code: notWanted, permanent: true, unwanted: true });
}

/**
 * The service is delivered: it is active and its first period starts today. Of a delivery and a refund at one moment
 * the second sees the first: `not_wanted` when the money was given back.
 */
export async function completeDelivery(
  ctx: TxContext,
  order: Order,
  facts: { hostname: string | null; primaryIp: string | null },
): Promise<void> {
  await lockServicesOf(ctx, order.invoiceId);
  await holdInvoice(ctx, order.invoiceId);
  await requireWanted(ctx, order.id);
  const today = dayOf(ctx.clock.now());
  if (!isCycle(order.cycle)) throw new Error(`there is no cycle ${order.cycle}`);
  const duedate = addMonths(today, monthsOf[order.cycle]);
  await ctx.db.run(activate, { id: order.id, duedate, periodStart: today });
  await writePeriod(ctx, order.id, { invoiceId: order.invoiceId, startsOn: today, endsOn: duedate });
  await beginEarning(ctx, { invoiceId: order.invoiceId, serviceId: order.id, from: today, to: duedate });
  await ctx.db.run(dropSecret, { serviceId: order.id });
  await record(ctx, serviceProvisioned, {
    subject: { type: 'service', id: order.id },
    organizationId: order.organizationId,
    data: {
      user_id: order.userId,
      product: order.productName,
      hostname: facts.hostname,
      primary_ip: facts.primaryIp,
    },
  });
}

/**
 * Delivery failed for good and left nothing behind; staff can retry it or pay the money back. `unwanted` when that was
 * done already, or the order was cancelled: then nothing failed, and the service is cancelled.
 */
export async function failDelivery(
  ctx: TxContext,
  serviceId: number,
  reason: string,
): Promise<'unwanted' | undefined> {
  const order = await requireOrder(ctx, serviceId);
  const isPending = (await lockServicesOf(ctx, order.invoiceId)).some(
    (service) => service.id === serviceId && service.status === 'pending',
  );
  if (!isPending) return 'unwanted';
  await ctx.db.run(setProvisioning, { serviceId, provisioningState: 'failed', now: ctx.clock.now() });
  // Held since checkout, and not by a step: a delivery that failed before it took them over still lets go of them.
  await kindOf(order.moduleId, order.onServer).giveBack(ctx, serviceId);
  if (await isRefunded(ctx, order.invoiceId)) {
    const services = await lockServicesOf(ctx, order.invoiceId);
    await cancelUndelivered(ctx, services, await couponOf(ctx, order.invoiceId), 'the invoice was refunded');
    return 'unwanted';
  }
  await record(ctx, serviceFailed, {
    subject: { type: 'service', id: serviceId },
    organizationId: order.organizationId,
    data: { reason },
  });
  return undefined;
}
