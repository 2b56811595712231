import type { MethodTruth } from '../../drivers/payments/index.ts';
import { record } from '../../events/index.ts';
import { ownerOf, statusOfOrganization } from '../../organizations/index.ts';
import { enqueue, type NamedJob, newId, statement, type TxContext } from '../../platform/index.ts';
import { organizationAt } from '../charges/customer.ts';
import { paymentMethodRemoved, paymentMethodSaved } from '../events.ts';
import { lockForTax } from '../tax/taxOf.ts';
import { lockMethods, type MethodRow, methodColumns, nameOfMethod } from './method.ts';

const insertMethod = statement<
  MethodRow,
  { row: Omit<MethodTruth, 'customer'>; id: number; organizationId: number; driver: string; now: Date }
>(
  'billing.insertMethod',
  `insert into payment_methods (id, organization_id, driver, reference, type, brand, last4, expires_month, expires_year,
     is_default, created_at)
   select :id, :organizationId, :driver, r.reference, r.type, r.brand, r.last4, r."expiresMonth", r."expiresYear",
     not exists (select 1 from payment_methods where organization_id = :organizationId and is_default), :now
   from jsonb_to_record(:row::jsonb) as r(reference text, type text, brand text, last4 text, "expiresMonth" int,
     "expiresYear" int)
   returning ${methodColumns}`,
);
const updateMethod = statement<never, { row: Omit<MethodTruth, 'customer'>; id: number }>(
  'billing.updateMethod',
  `update payment_methods m set brand = r.brand, last4 = r.last4, expires_month = r."expiresMonth",
     expires_year = r."expiresYear"
   from jsonb_to_record(:row::jsonb) as r(brand text, last4 text, "expiresMonth" int, "expiresYear" int)
   where m.id = :id`,
);
const methodOf = statement<{ organization_id: number }, { driver: string; reference: string }>(
  'billing.methodOfProvider',
  'select organization_id from payment_methods where driver = :driver and reference = :reference',
);
const removeMethod = statement<never, { id: number; now: Date }>(
  'billing.removeMethod',
  'update payment_methods set removed_at = :now, is_default = false where id = :id',
);

/** See `forgetMethod` in `methods.ts`. */
const forget: NamedJob<{ reference: string; customer: string }> = { name: 'billing.forgetMethod' };

/**
 * Keeps what the provider knows of a saved method: a new one, a card that its bank renewed, one that is gone. Of customers
 * that are none of ours nothing is kept. The first method of an organization is its default.
 */
export async function keepMethod(tx: TxContext, truth: MethodTruth): Promise<void> {
  const driver = tx.config.payments;
  const { customer, ...row } = truth;
  const known = await tx.db.maybe(methodOf, { driver, reference: row.reference });
  const organizationId = known?.organization_id ?? (customer && (await organizationAt(tx, driver, customer)));
  if (!organizationId) return;
  // Nobody closes it meanwhile. Whoever saved one and closed the account wants it forgotten where it is kept, too.
  await lockForTax(tx, organizationId);
  if ((await statusOfOrganization(tx, organizationId)) === 'closed') {
    if (known === null && customer !== null)
      await enqueue(tx, forget, { reference: row.reference, customer });
    return;
  }
  const methods = await tx.db.many(lockMethods, { organizationId });
  const before = methods.find((method) => method.driver === driver && method.reference === row.reference);
  if (before === undefined) {
    if (customer !== null) await save(tx, organizationId, row);
    return;
  }
  // One that was taken away here stays away, whatever an old event says.
  if (before.removed_at !== null) return;
  if (customer !== null) await tx.db.run(updateMethod, { row, id: before.id });
  else await noteRemoved(tx, before);
}

/** Takes away a method that the provider has not got any more, if it is one of ours. */
export async function noteGone(tx: TxContext, reference: string): Promise<void> {
  const driver = tx.config.payments;
  const known = await tx.db.maybe(methodOf, { driver, reference });
  if (known === null) return;
  const methods = await tx.db.many(lockMethods, { organizationId: known.organization_id });
  const method = methods.find((each) => each.driver === driver && each.reference === reference);
  if (method?.removed_at === null) await noteRemoved(tx, method);
}

async function save(
  tx: TxContext,
  organizationId: number,
  row: Omit<MethodTruth, 'customer'>,
): Promise<void> {
  const by = { id: newId(), organizationId, driver: tx.config.payments, now: tx.clock.now() };
  const method = await tx.db.one(insertMethod, { row, ...by });
  await record(tx, paymentMethodSaved, {
    subject: { type: 'payment_method', id: method.id },
    organizationId,
    data: {
      user_id: await ownerOf(tx, organizationId),
      method: nameOfMethod(method),
      is_default: method.is_default,
    },
  });
}

/** Takes a method away, whose row is locked; others stay as they are. */
export async function noteRemoved(tx: TxContext, method: MethodRow): Promise<void> {
  const { id, organization_id: organizationId } = method;
  await tx.db.run(removeMethod, { id, now: tx.clock.now() });
  await record(tx, paymentMethodRemoved, {
    subject: { type: 'payment_method', id },
    organizationId,
    data: {
      user_id: await ownerOf(tx, organizationId),
      method: nameOfMethod(method),
      is_default: method.is_default,
    },
  });
}
