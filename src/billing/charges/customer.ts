import { createHash } from 'node:crypto';
import { type About, PaymentError, type Payments } from '../../drivers/payments/index.ts';
import { ownerAddress } from '../../organizations/index.ts';
import { type Context, statement } from '../../platform/index.ts';

interface Known {
  reference: string;
  /** Null of those from before it was written down. */
  is_test: boolean | null;
}

/** So many are read at once. */
const learntAtOnce = 200;
/** In a row: then it is the provider that is away, or the key. */
const failuresAtMost = 10;

const findCustomer = statement<Known, { organizationId: number; driver: string }>(
  'billing.findProviderCustomer',
  'select reference, is_test from provider_customers where organization_id = :organizationId and driver = :driver',
);
const keepCustomer = statement<
  never,
  { organizationId: number; driver: string; reference: string; isTest: boolean; now: Date }
>(
  'billing.keepProviderCustomer',
  `insert into provider_customers (organization_id, driver, reference, is_test, created_at)
   values (:organizationId, :driver, :reference, :isTest, :now) on conflict (organization_id, driver) do nothing`,
);
const organizationOf = statement<{ organization_id: number }, { driver: string; reference: string }>(
  'billing.organizationOfCustomer',
  'select organization_id from provider_customers where driver = :driver and reference = :reference',
);

const setMode = statement<never, { driver: string; reference: string; isTest: boolean }>(
  'billing.setCustomerMode',
  'update provider_customers set is_test = :isTest where driver = :driver and reference = :reference and is_test is null',
);
const withoutMode = statement<
  { organization_id: number; reference: string },
  { driver: string; after: number; limit: number }
>(
  'billing.customersWithoutMode',
  `select organization_id, reference from provider_customers
   where driver = :driver and is_test is null and organization_id > :after order by organization_id limit :limit`,
);
const replaceCustomer = statement<
  never,
  { organizationId: number; driver: string; reference: string; isTest: boolean; before: string }
>(
  'billing.replaceProviderCustomer',
  `update provider_customers set reference = :reference, is_test = :isTest
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
  await makeAnew(ctx, payments, organizationId, before);
  return work(await customerAt(ctx, payments, organizationId));
}

async function makeAnew(
  ctx: Context,
  payments: Payments,
  organizationId: number,
  before: string,
): Promise<void> {
  const reference = await openCustomer(ctx, payments, organizationId, before);
  const { kind: driver, isTest } = payments;
  await ctx.db.run(replaceCustomer, { organizationId, driver, reference, isTest, before });
}

/**
 * Who an organization is at the provider; the first time it is made known there, and anew once that is in earnest. Real customers do
 * not become others under a key that is for tests. Outside of a transaction.
 */
export async function customerAt(ctx: Context, payments: Payments, organizationId: number): Promise<string> {
  const who = { organizationId, driver: payments.kind };
  const known = await ctx.db.maybe(findCustomer, who);
  if (known !== null && !(await isOfTests(ctx, payments, known))) return known.reference;
  if (known !== null) await makeAnew(ctx, payments, organizationId, known.reference);
  else {
    const reference = await openCustomer(ctx, payments, organizationId, null);
    await ctx.db.run(keepCustomer, { ...who, reference, isTest: payments.isTest, now: ctx.clock.now() });
  }
  // Of two at once the first one counts.
  return (await ctx.db.one(findCustomer, who)).reference;
}

/** Whether somebody was made known in the provider's test mode, whose key is real now. */
async function isOfTests(ctx: Context, payments: Payments, known: Known): Promise<boolean> {
  const isTest = known.is_test ?? (await learnMode(ctx, payments, known.reference));
  return isTest === true && !payments.isTest;
}

/** Who was made known before that was written down: the provider says it, once. Null when it does not. */
async function learnMode(ctx: Context, payments: Payments, reference: string): Promise<boolean | null> {
  const isTest = await payments.isCustomerOfTests(reference);
  if (isTest !== null) await ctx.db.run(setMode, { driver: payments.kind, reference, isTest });
  return isTest;
}

/**
 * The same of all of them, each night: who is asked about under a key for tests is known as such also once it is real, whatever
 * the provider says of them then. Nothing waits for it: one about whom it fails keeps nobody else from being asked about, and when
 * it fails about everybody, the next night asks. Outside of a transaction.
 */
export async function learnModes(ctx: Context, payments: Payments): Promise<void> {
  let [after, failed] = [0, 0];
  for (;;) {
    const unknown = await ctx.db.many(withoutMode, { driver: payments.kind, after, limit: learntAtOnce });
    for (const { reference } of unknown) {
      failed = (await triesToLearn(ctx, payments, reference)) ? 0 : failed + 1;
      if (failed >= failuresAtMost) return;
    }
    if (unknown.length < learntAtOnce) return;
    after = unknown.at(-1)?.organization_id ?? after;
  }
}

async function triesToLearn(ctx: Context, payments: Payments, reference: string): Promise<boolean> {
  try {
    await learnMode(ctx, payments, reference);
    return true;
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    ctx.log.warn(
      { customer: reference, err: error },
      'the payment provider does not say which mode a customer is of',
    );
    return false;
  }
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

// What was tried out before the key was real says nothing of what is real.
const isOfMode = '(p.is_test is not true or :isTest)';
// Whose it is, and otherwise whoever was made known last: that a payout is missing, or what we never heard of, says so as well.
const customerBehind = statement<
  { reference: string | null },
  { driver: string; isTest: boolean; kind: string; reference: string }
>(
  'billing.customerBehind',
  `select coalesce(
     (select p.reference from charges c
      join provider_customers p on p.organization_id = c.organization_id and p.driver = c.driver and ${isOfMode}
      where :kind = 'page' and c.driver = :driver and c.page_reference = :reference limit 1),
     (select p.reference from charges c
      join provider_customers p on p.organization_id = c.organization_id and p.driver = c.driver and ${isOfMode}
      where :kind = 'payment' and c.driver = :driver and c.reference = :reference limit 1),
     (select p.reference from payment_methods m
      join provider_customers p on p.organization_id = m.organization_id and p.driver = m.driver and ${isOfMode}
      where :kind = 'method' and m.driver = :driver and m.reference = :reference limit 1),
     (select p.reference from provider_customers p where p.driver = :driver and ${isOfMode} order by p.created_at desc limit 1)) as reference
   from (values (1)) one`,
);

/** A customer who is known in the account in which that is; null where we never made one known. */
export async function customerBehindOf(
  ctx: Context,
  payments: Payments,
  { kind, reference }: About,
): Promise<string | null> {
  const { kind: driver, isTest } = payments;
  for (;;) {
    const { reference: customer } = await ctx.db.one(customerBehind, { driver, isTest, kind, reference });
    // Whoever turns out to be of tests is left out the next time.
    if (customer === null || !(await isCustomerOfTests(ctx, payments, customer))) return customer;
  }
}

/**
 * What the provider does not know is not there, but not when it does not know its customer either: then we ask an account
 * that is another's, by a key that is wrong, and at ours it is all there. Outside of a transaction.
 */
export async function requireOurAccount(ctx: Context, payments: Payments, about: About): Promise<void> {
  const customer = await customerBehindOf(ctx, payments, about);
  if (customer === null || (await payments.knowsCustomer(customer))) return;
  const message = `the payment provider knows neither the ${about.kind} ${about.reference} nor a customer of ours: is the key of another account or mode?`;
  throw new PaymentError('provider_refused', message);
}

const customerByReference = statement<Known, { driver: string; reference: string }>(
  'billing.customerByReference',
  'select reference, is_test from provider_customers where driver = :driver and reference = :reference',
);

/** Whether somebody was made known in the provider's test mode alone, and nothing of theirs is real. */
export async function isCustomerOfTests(
  ctx: Context,
  payments: Payments,
  reference: string,
): Promise<boolean> {
  if (payments.isTest) return false;
  const known = await ctx.db.maybe(customerByReference, { driver: payments.kind, reference });
  // One that another has taken the place of is in no row any more.
  return isOfTests(ctx, payments, known ?? { reference, is_test: null });
}

/** Whose customer it is at the provider; null when none of ours. */
export async function organizationAt(
  ctx: Context,
  driver: string,
  reference: string,
): Promise<number | null> {
  return (await ctx.db.maybe(organizationOf, { driver, reference }))?.organization_id ?? null;
}
