import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  enqueue,
  fail,
  job,
  newId,
  type OrganizationContext,
  requireOwn,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { customerBehindOf, isCustomerOfTests } from '../charges/customer.ts';
import { linkOf } from '../charges/link.ts';
import { providerOutages, requireProvider } from '../charges/provider.ts';
import { paymentMethodChosen } from '../events.ts';
import { noteRemoved } from './keep.ts';
import {
  lockMethods,
  type MethodRow,
  methodById,
  methodColumns,
  nameOfMethod,
  viewMethod,
} from './method.ts';

/** A link to save a method is somebody's errand of today. */
const linkMs = 86_400_000;

const methods = pagedList<MethodRow>({
  name: 'billing.methods',
  from: 'payment_methods t',
  select: `select ${methodColumns} from payment_methods t`,
  within: 't.organization_id = :organizationId and t.removed_at is null',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: {
      by: `date_trunc('milliseconds', t.created_at)`,
      type: 'timestamptz',
      of: (row) => row.created_at.toISOString(),
    },
  },
  order: 'created_at',
});
const choose = statement<never, { id: number; isDefault: boolean }>(
  'billing.chooseMethod',
  'update payment_methods set is_default = :isDefault where id = :id',
);

/** The saved methods of the caller's organization. */
export async function listMethods(ctx: OrganizationContext, query: ListRequest) {
  const { rows, at } = await methods(ctx, query, { organizationId: ctx.organizationId });
  return listData('payment_methods', rows.map(viewMethod), at);
}

/** One of them; `forbidden` when it is another organization's. */
export async function readMethod(ctx: OrganizationContext, id: number) {
  return { payment_method: viewMethod(await requireOwn(ctx, methodById, { id })) };
}

/** Nobody changes the organization's methods until this transaction ends. */
export async function lockOwnMethods(tx: OrganizationContext & TxContext): Promise<void> {
  await tx.db.many(lockMethods, { organizationId: tx.organizationId });
}

/** Where to save a method. It is there once the provider says so. `payment_provider_missing`. */
export function addMethod(ctx: OrganizationContext) {
  requireProvider(ctx);
  const { organizationId } = ctx;
  const expiresMs = ctx.clock.now().getTime() + linkMs;
  const errand = { kind: 'method', organizationId, nonce: newId(), expiresMs } as const;
  return { redirect_url: linkOf(ctx, errand), expires_at: new Date(expiresMs) };
}

/** Makes a method the one that renewals are charged to, or leaves the organization without one. */
export async function changeMethod(ctx: OrganizationContext, id: number, change: { is_default?: boolean }) {
  return transaction(ctx, 'billing.changeMethod', async (tx) => {
    await requireOwn(tx, methodById, { id });
    const all = await tx.db.many(lockMethods, { organizationId: tx.organizationId });
    const { is_default: isDefault } = change;
    const method = all.find((each) => each.id === id && each.removed_at === null);
    if (method === undefined) throw fail('not_found');
    if (isDefault !== undefined && isDefault !== method.is_default) {
      const before = all.find((each) => each.is_default);
      if (before !== undefined) await tx.db.run(choose, { id: before.id, isDefault: false });
      if (isDefault) await tx.db.run(choose, { id, isDefault });
      await record(tx, paymentMethodChosen, {
        subject: { type: 'payment_method', id },
        data: { method: nameOfMethod(method), is_default: isDefault },
      });
    }
    return readMethod(tx, id);
  });
}

/** Takes a method away: nothing is charged to it from now on, and the provider forgets it. */
export async function removeOwnMethod(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'billing.removeMethod', async (tx) => {
    await requireOwn(tx, methodById, { id });
    const all = await tx.db.many(lockMethods, { organizationId: tx.organizationId });
    const method = all.find((each) => each.id === id && each.removed_at === null);
    if (method === undefined) throw fail('not_found');
    await noteRemoved(tx, method);
    await enqueue(tx, forgetMethod, { reference: method.reference });
    return { deleted: true };
  });
}

/** Has the provider forget a customer whose organization was closed, with all methods. */
export const forgetCustomer = job<{ reference: string }>(
  'billing.forgetCustomer',
  async ({ ctx, drivers: { payments }, payload: { reference } }) => {
    if (!(await isCustomerOfTests(ctx, payments, reference))) await payments.forgetCustomer(reference);
  },
  { attempts: 12, outages: providerOutages },
);

/** Has the provider forget a method that its owner took away. */
export const forgetMethod = job<{ reference: string; customer?: string }>(
  'billing.forgetMethod',
  async ({ ctx, drivers: { payments }, payload: { reference, customer } }) => {
    const whose = customer ?? (await customerBehindOf(ctx, payments, { kind: 'method', reference }));
    // Nobody was ever made known there, so nothing is saved either; what was saved in tests is nobody's.
    if (whose === null || (await isCustomerOfTests(ctx, payments, whose))) return;
    await payments.forgetMethod(reference, whose);
  },
  { attempts: 12, outages: providerOutages },
);
