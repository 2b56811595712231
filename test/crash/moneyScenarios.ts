import { expect } from 'vitest';
import { until } from '../product.ts';
import { sql } from '../sql.ts';
import { camt, sendStatement } from '../statements.ts';
import type { StripeStandIn } from '../stripe/standIn.ts';
import { ask, type Order, pay, refund, type Scenario, scenario } from './scenarios.ts';
import type { World } from './world.ts';

/**
 * What happens with money, to services that staff delivers by hand: no machine is made for them. Each comes to its end
 * exactly once, whatever dies on the way; what happened at the payment provider is counted there.
 */
export function moneyScenarios(stripe: StripeStandIn): Scenario[] {
  const methods = new WeakMap<World, Promise<number>>();
  const savedMethod = (world: World): Promise<number> => {
    const method = methods.get(world) ?? saveMethod(world, stripe);
    methods.set(world, method);
    return method;
  };
  const charge = async (world: World, { invoiceId }: Order) => {
    const payment_method_id = await savedMethod(world);
    const body = { method: 'card', payment_method_id };
    await ask(world.customer.post(`/dashboard/invoices/${invoiceId}/pay`, body));
  };
  const takenFor = (invoiceId: number) =>
    stripe.account.objects
      .every('payment_intent')
      .filter(({ status, description }) => status === 'succeeded' && description === `Invoice ${invoiceId}`);
  const isCharged = async (world: World, { invoiceId }: Order) => {
    await invoiceBecomes(world, invoiceId, 'paid');
    expect(takenFor(invoiceId)).toHaveLength(1);
  };
  const charged = async (world: World): Promise<Order> => {
    const given = await ordered(world);
    await charge(world, given);
    await isCharged(world, given);
    await world.settle();
    return given;
  };
  /** The provider was asked once, for what it took. */
  const isSentBack = async (world: World, { invoiceId }: Order) => {
    const text = `select state from refunds where invoice_id = $1 and state = 'done'`;
    await until(
      () => sql(world, text, invoiceId),
      (rows) => rows.length === 1,
      patienceMs,
    );
    const [intent] = takenFor(invoiceId);
    const refunds = stripe.account.objects
      .every('refund')
      .filter((each) => each.payment_intent === intent?.id);
    expect(refunds.map(({ amount }) => amount)).toEqual([intent?.amount]);
  };

  return [
    scenario('charge a saved method', ordered, charge, isCharged),
    scenario('refund by the provider', charged, refund({ method: 'original', reason: 'test' }), isSentBack),
    scenario('bank statement', ordered, transferByStatement, (world, { invoiceId }) =>
      invoiceBecomes(world, invoiceId, 'paid'),
    ),
    scenario('cancel at once', delivered, cancelAtOnce, isCancelled),
    ofCalendar('renew by a saved method', {
      from: async (world) => {
        await savedMethod(world);
        return dunned(world, 'reminder', 0);
      },
      becomes: async (world, given) => {
        await isRenewed(world, given);
        expect(takenFor(given.renewalId)).toHaveLength(1);
      },
    }),
    ofCalendar('renew from credit, and the rest by a saved method', {
      from: async (world) => {
        await savedMethod(world);
        const given = await dunned(world, 'reminder', 0);
        await creditFirst(world, true);
        await leaveCredit(world, creditMinor);
        return given;
      },
      becomes: async (world, given) => {
        await isRenewed(world, given);
        const payments = await sql(
          world,
          `select method, amount_minor::int as minor from payments where invoice_id = $1 order by method`,
          given.renewalId,
        );
        const [taken, ...more] = takenFor(given.renewalId);
        expect(more).toEqual([]);
        expect(payments).toEqual([
          { method: 'credit', minor: creditMinor },
          { method: 'stripe', minor: taken?.amount },
        ]);
        expect(await creditOf(world)).toBe(0);
        await giveCredit(world);
        await creditFirst(world, false);
      },
    }),
    ...steps.map(([step, after, days]) =>
      ofCalendar(`unpaid: ${step}`, { from: (world) => dunned(world, after, days), becomes: isDone(step) }),
    ),
    ofCalendar('unpaid: terminate', { from: suspendedLongAgo, becomes: isDone('terminate') }),
  ];
}

const patienceMs = 180_000;

/** Each step of the calendar for an invoice that nobody pays, after which one, and how many days after it was due. */
const steps = [
  ['reminder', 'invoice', -2],
  ['overdue', 'charge', 3],
  ['last_reminder', 'overdue', 9],
  ['late_fee', 'last_reminder', 12],
  ['suspend', 'late_fee', 20],
] as const;

/** As if the customer had saved a card and the provider had told of it. */
export async function saveMethod(world: World, stripe: StripeStandIn): Promise<number> {
  const customer = stripe.account.makeCustomer({}).id;
  const organizationId = world.demo.customer.organization_id;
  await sql(
    world,
    `insert into provider_customers (organization_id, driver, reference, created_at) values ($1, 'stripe', $2, now())`,
    ...[organizationId, customer],
  );
  const [row] = await sql<{ id: number }>(
    world,
    `insert into payment_methods (id, organization_id, driver, reference, type, is_default, created_at)
     values (7, $1, 'stripe', $2, 'card', true, now()) returning id`,
    ...[organizationId, stripe.account.attach('pm_card_visa', customer).id],
  );
  return Number(row?.id);
}

/** So much credit pays its part of a renewal, and leaves enough for the method. */
const creditMinor = 120;

async function creditOf(world: World): Promise<number> {
  const { body } = await world.customer.get('/dashboard/invoices?limit=1');
  return Math.round(Number(body.data.credit_balance) * 100);
}

/** Has the customer spend all but so much of their credit. */
async function leaveCredit(world: World, minor: number): Promise<void> {
  const hasMinor = await creditOf(world);
  const line = { description: 'What takes the credit', unit_price: ((hasMinor - minor) / 100).toFixed(2) };
  const asked = { organization_id: world.demo.customer.organization_id, currency: 'EUR', lines: [line] };
  const { body } = await world.staff.post('/staff/invoices', asked);
  await pay(world, { invoiceId: body.data.invoice.id, serviceId: 0 });
  await world.settle();
  expect(await creditOf(world)).toBe(minor);
}

async function giveCredit(world: World): Promise<void> {
  const path = `/staff/organizations/${world.demo.customer.organization_id}/credit`;
  const grant = { amount: '100000.00', currency: 'EUR', description: 'For the crash sweep' };
  await ask(world.staff.post(path, grant));
}

async function creditFirst(world: World, isFirst: boolean): Promise<void> {
  await ask(world.staff.patch('/staff/settings', { payments: { credit_first: isFirst } }));
}

async function ordered(world: World): Promise<Order> {
  const item = { id: world.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { body } = await world.customer.post('/cart/checkout/invoice', { products: [item] });
  return { invoiceId: body.data.invoice_id, serviceId: body.data.service_ids[0] };
}

async function delivered(world: World): Promise<Order> {
  const given = await ordered(world);
  await pay(world, given);
  await ask(world.staff.post(`/staff/services/${given.serviceId}/deliver`));
  await world.settle();
  return given;
}

async function invoiceBecomes(world: World, id: number, status: string): Promise<void> {
  await until(
    () => world.customer.get(`/dashboard/invoices/${id}`),
    ({ body }) => body.data?.invoice.status === status,
    patienceMs,
  );
}

async function transferByStatement(world: World, { invoiceId }: Order): Promise<void> {
  const { body } = await world.customer.get(`/dashboard/invoices/${invoiceId}`);
  const entry = { text: `Invoice ${invoiceId}`, amount: body.data.invoice.total };
  await ask(sendStatement(world.staff, camt([entry], { name: `S-${invoiceId}` })));
}

/** Whoever repeats it because the answer was lost finds it done. */
async function cancelAtOnce(world: World, { serviceId }: Order): Promise<void> {
  const path = `/dashboard/services/${serviceId}/cancel`;
  const { status, body } = await world.customer.post(path, { type: 'immediate' });
  if (status !== 200) throw new Error(`cancel: ${status} ${JSON.stringify(body)}`);
}

/** All that was paid has gone back, once. */
async function isCancelled(world: World, { invoiceId, serviceId }: Order): Promise<void> {
  const [found] = await sql(
    world,
    `select s.status, i.status as invoice, (select count(*)::int from refunds r where r.invoice_id = i.id) as refunds
     from services s join invoices i on i.id = $2 where s.id = $1`,
    ...[serviceId, invoiceId],
  );
  expect(found).toEqual({ status: 'terminated', invoice: 'refunded', refunds: 1 });
}

interface Dunned extends Order {
  renewalId: number;
}

/**
 * A service with a renewal that is not paid, which was due so many days ago. `after` is what the calendar did last, long
 * enough ago, and it looks again only when it is told to.
 */
async function dunned(world: World, after: string, days: number): Promise<Dunned> {
  const given = await delivered(world);
  const { serviceId } = given;
  await ask(
    world.staff.patch('/staff/settings', {
      calendar: { late_fee_days_after: 10, late_fee_amounts: [{ currency: 'EUR', amount: '2.00' }] },
    }),
  );
  const { body } = await world.customer.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'monthly' });
  const renewalId = body.data.invoice_id as number;
  await sql(
    world,
    `with service as (update services set duedate = current_date - $2::int, calendar_on = current_date - $2::int,
         period_start = current_date - $2::int - 30, anchor_day = extract(day from current_date - $2::int)
         where id = $1),
       renewal as (update service_renewals set starts_on = current_date - $2::int where service_id = $1),
       invoice as (update invoices set expires_at = current_date - $2::int + time '23:59:59', created_at = now() - interval '90 days'
         where id = $4)
     insert into service_calendar (service_id, organization_id, due_on, look_on, invoice_id, step, warned_step, warned_on)
     values ($1, $5, current_date - $2::int, 'infinity', $4, $3, case when $3 in ('charge', 'late_fee')
       then case $3 when 'charge' then 'reminder' else 'last_reminder' end else $3 end, current_date - 50)`,
    ...[serviceId, days, after, renewalId, world.demo.customer.organization_id],
  );
  await world.settle();
  return { ...given, renewalId };
}

/** The same, and the calendar has suspended it long ago. */
async function suspendedLongAgo(world: World): Promise<Dunned> {
  const given = await dunned(world, 'late_fee', 60);
  await look(world, given);
  await isDone('suspend')(world, given);
  await world.settle();
  const text =
    'update service_calendar set warned_on = current_date - 50, warning_id = null where service_id = $1';
  await sql(world, text, given.serviceId);
  return given;
}

async function look(world: World, { serviceId }: Dunned): Promise<void> {
  await sql(world, 'update service_calendar set look_on = current_date where service_id = $1', serviceId);
}

/** What the calendar does when it looks. */
function ofCalendar(
  name: string,
  of: {
    from: (world: World) => Promise<Dunned>;
    becomes: (world: World, given: Dunned) => Promise<void>;
  },
): Scenario {
  const made = scenario(name, of.from, look, of.becomes);
  return { ...made, otherwise: true, periodic: 'services.calendar' };
}

function isDone(step: string) {
  return async (world: World, { serviceId }: Dunned): Promise<void> => {
    const done = await until(
      () =>
        sql(
          world,
          'select 1 from service_calendar_steps where service_id = $1 and step = $2',
          serviceId,
          step,
        ),
      (rows) => rows.length > 0,
      patienceMs,
    );
    expect(done).toHaveLength(1);
  };
}

async function isRenewed(world: World, { serviceId }: Order): Promise<void> {
  await until(
    () =>
      sql(
        world,
        `select 1 from service_renewals r join services s on s.id = r.service_id
         where r.service_id = $1 and r.state = 'applied' and r.ends_on = s.duedate`,
        serviceId,
      ),
    (rows) => rows.length === 1,
    patienceMs,
  );
}
