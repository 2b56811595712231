import { createHash } from 'node:crypto';
import { type About, PaymentError, type Payments } from '../../drivers/payments/index.ts';
import { ownerAddress } from '../../organizations/index.ts';
import { type Context, statement } from '../../platform/index.ts';

const findCustomer = statement<{ reference: string }, { organizationId: number; driver: string }>(
  'billing.findProviderCustomer',
  'select reference from provider_customers where organization_id = :organizationId and driver = :driver',
);
const keepCustomer = statement<
  never,
  { organizationId: number; driver: string; reference: string; now: Date }
>(
  'billing.keepProviderCustomer',
  `insert into provider_customers (organization_id, driver, reference, created_at)
   values (:organizationId, :driver, :reference, :now) on conflict (organization_id, driver) do nothing`,
);
const organizationOf = statement<{ organization_id: number }, { driver: string; reference: string }>(
  'billing.organizationOfCustomer',
  'select organization_id from provider_customers where driver = :driver and reference = :reference',
);

const replaceCustomer = statement<
  never,
  { organizationId: number; driver: string; reference: string; before: string }
>(
  'billing.replaceProviderCustomer',
  `update provider_customers set reference = :reference
   where organization_id = :organizationId and driver = :driver and reference = :before`,
);

/**
 * Does what needs to be about the provider's customer that an organization is. One that was deleted there, by hand, is made
 * known anew: otherwise it could never pay again. Outside of a transaction.
 */
export async function withCustomerAt<T>(
  ctx: Context,
  payments: Payments,
  organizationId: number,
  work: (customer: string) => Promise<T>,
): Promise<T> {
  const before = await customerAt(ctx, payments, organizationId);
  try {
    return await work(before);
  } catch (error) {
    if (!(error instanceof PaymentError) || error.code !== 'customer_unknown') throw error;
  }
  const reference = await openCustomer(ctx, payments, organizationId, before);
  await ctx.db.run(replaceCustomer, { organizationId, driver: payments.kind, reference, before });
  return work(await customerAt(ctx, payments, organizationId));
}

/** Who an organization is at the provider; the first time it is made known there. Outside of a transaction. */
export async function customerAt(ctx: Context, payments: Payments, organizationId: number): Promise<string> {
  const who = { organizationId, driver: payments.kind };
  const known = await ctx.db.maybe(findCustomer, who);
  if (known !== null) return known.reference;
  const reference = await openCustomer(ctx, payments, organizationId, null);
  await ctx.db.run(keepCustomer, { ...who, reference, now: ctx.clock.now() });
  // Of two at once the first one counts.
  return (await ctx.db.one(findCustomer, who)).reference;
}

/** `instead`: whom the provider knew before and has forgotten. */
async function openCustomer(
  ctx: Context,
  payments: Payments,
  organizationId: number,
  instead: string | null,
): Promise<string> {
  const { name, email } = await ownerAddress(ctx, organizationId);
  // Asked again under another name, it is another request.
  const told = createHash('sha256')
    .update(JSON.stringify(instead === null ? [name, email] : [name, email, instead]))
    .digest('hex')
    .slice(0, 12);
  const key = `customer-${organizationId}-${told}`;
  return payments.openCustomer({ key, organizationId, name, email });
}

// Whose it is, and otherwise whoever was made known last: that a payout is missing, or what we never heard of, says so as well.
const customerBehind = statement<
  { reference: string | null },
  { driver: string; kind: string; reference: string }
>(
  'billing.customerBehind',
  `select coalesce(
     (select p.reference from charges c
      join provider_customers p on p.organization_id = c.organization_id and p.driver = c.driver
      where :kind = 'page' and c.driver = :driver and c.page_reference = :reference limit 1),
     (select p.reference from charges c
      join provider_customers p on p.organization_id = c.organization_id and p.driver = c.driver
      where :kind = 'payment' and c.driver = :driver and c.reference = :reference limit 1),
     (select p.reference from payment_methods m
      join provider_customers p on p.organization_id = m.organization_id and p.driver = m.driver
      where :kind = 'method' and m.driver = :driver and m.reference = :reference limit 1),
     (select reference from provider_customers where driver = :driver order by created_at desc limit 1)) as reference
   from (values (1)) one`,
);

/** A customer who is known in the account in which that is; null where we never made one known. */
export async function customerBehindOf(
  ctx: Context,
  driver: string,
  { kind, reference }: About,
): Promise<string | null> {
  return (await ctx.db.one(customerBehind, { driver, kind, reference })).reference;
}

/**
 * What the provider does not know is not there, but not when it does not know its customer either: then we ask an account
 * that is another's, by a key that is wrong, and at ours it is all there. Outside of a transaction.
 */
export async function requireOurAccount(ctx: Context, payments: Payments, about: About): Promise<void> {
  const customer = await customerBehindOf(ctx, payments.kind, about);
  if (customer === null || (await payments.knowsCustomer(customer))) return;
  const message = `the payment provider knows neither the ${about.kind} ${about.reference} nor a customer of ours: is the key of another account or mode?`;
  throw new PaymentError('provider_refused', message);
}

/** Whose customer it is at the provider; null when none of ours. */
export async function organizationAt(
  ctx: Context,
  driver: string,
  reference: string,
): Promise<number | null> {
  return (await ctx.db.maybe(organizationOf, { driver, reference }))?.organization_id ?? null;
}
