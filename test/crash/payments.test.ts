import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../product.ts';
import { sql } from '../sql.ts';
import { stripeEnv } from '../stripe/product.ts';
import { type StripeStandIn, startStripe } from '../stripe/standIn.ts';
import { saveMethod } from './moneyScenarios.ts';
import type { Scenario } from './scenarios.ts';
import { failpointsOf, stepsOf, sweepCrashes } from './sweep.ts';
import { openWorld, type World } from './world.ts';

/** After every effect, and after what remembers it; `money.long.test.ts` has every failpoint of every scenario with money. */
describe('kill -9 of the product while a saved method is charged', { timeout: 600_000 }, () => {
  let stripe: StripeStandIn;
  let world: World;
  let methodId: number;
  beforeAll(async () => {
    stripe = await startStripe();
    world = await openWorld({ env: { ...stripeEnv(stripe), INNKEEPER_REPEAT_STEPS: 'on' } });
    methodId = await saveMethod(world, stripe);
  });
  afterAll(async () => {
    await world?.stop();
    await stripe.close();
  });

  const order = async () => {
    const item = { id: world.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
    const { body } = await world.customer.post('/cart/checkout/invoice', { products: [item] });
    return body.data.invoice_id as number;
  };
  const paying: Scenario<number> = {
    name: 'charge a saved method',
    arrange: order,
    start: (_, id) =>
      world.customer.post(`/dashboard/invoices/${id}/pay`, { method: 'card', payment_method_id: methodId }),
    done: async (_, id) => {
      await until(
        () => world.customer.get(`/dashboard/invoices/${id}`),
        ({ body }) => body.data?.invoice.status === 'paid',
        180_000,
      );
    },
  };

  it('takes the money once and books it once, wherever it dies', async () => {
    const failpoints = await failpointsOf(world, paying as Scenario);
    expect(stepsOf(failpoints)).toEqual(
      expect.arrayContaining(['billing.chargeSaved/prepare', 'billing.chargeSaved/charge']),
    );
    const middle = failpoints.filter(isInTheMiddle);
    expect(middle.length).toBeGreaterThanOrEqual(5);
    const swept = await sweepCrashes(world, paying as Scenario, middle);
    console.log(`killed while charging: ${JSON.stringify(swept)}`);
    const [booked] = await sql<{ minor: number; invoices: number }>(
      world,
      `select (select sum(e.amount_minor) from ledger_entries e join ledger_accounts a on a.id = e.account_id
         where a.kind = 'provider')::bigint as minor,
         (select count(*)::int from invoices i join payments p on p.invoice_id = i.id and p.method = 'stripe') as invoices`,
    );
    const taken = stripe.account.objects.every('charge').filter(({ paid }) => paid);
    expect(taken).toHaveLength(middle.length + 1);
    expect(booked).toEqual({ minor: stripe.account.balance('eur'), invoices: taken.length });
  });
});

/** Between what was done at the provider, what remembers it, and what is booked. */
function isInTheMiddle(name: string): boolean {
  const step = /^billing\.chargeSaved\/(prepare|charge|book): (after do|recorded)$/;
  return step.test(name) || /^billing\.chargeSaved: done: (before|after) commit$/.test(name);
}
