import { randomBytes } from 'node:crypto';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type StripeStandIn, startStripe } from '../../../../test/stripe/standIn.ts';
import { parseMoney } from '../../../platform/index.ts';
import {
  describePayments,
  type MessageAbout,
  type PaymentsUnderTest,
  type TestMethod,
} from '../conformance.ts';
import { fromStripe, toStripe } from './amounts.ts';
import { stripeApiVersion, stripePayments } from './engine.ts';

const tokens: Record<TestMethod, string> = {
  good: 'pm_card_visa',
  declined: 'pm_card_chargeCustomerFail',
  authenticates: 'pm_card_authenticationRequired',
};
const numbers: Record<TestMethod, string> = {
  good: '4242424242424242',
  declined: '4000000000000002',
  authenticates: '4000002760003184',
};

interface Place {
  secretKey: string;
  webhookSecret: string;
  url?: string;
}

/** The driver with what arranges things at Stripe past it: the library itself. */
function underTest(
  place: Place,
  more: Pick<PaymentsUnderTest, 'click' | 'payOut'> & { close?: () => Promise<void> },
) {
  const payments = stripePayments(place);
  const { protocol, hostname: host, port } = new URL(place.url ?? 'https://api.stripe.com');
  const stripe = new Stripe(place.secretKey, {
    ...{ host, port: port || 443, protocol: protocol === 'http:' ? 'http' : 'https' },
    apiVersion: stripeApiVersion,
  });
  return {
    payments,
    currency: 'EUR',
    click: more.click,
    payOut: more.payOut,
    save: async (customer: string, method: TestMethod) =>
      (await stripe.paymentMethods.attach(tokens[method], { customer })).id,
    message: (about: MessageAbout, agedS = 0) => {
      const payload = messageAbout(about);
      const timestamp = Math.floor(Date.now() / 1_000) - agedS;
      const signed = { payload, secret: place.webhookSecret, timestamp };
      const signature = stripe.webhooks.generateTestHeaderString(signed);
      return { body: Buffer.from(payload), headers: { 'stripe-signature': signature } };
    },
    close: async () => {
      await payments.close();
      await more.close?.();
    },
  };
}

function messageAbout(about: MessageAbout): string {
  const id = typeof about === 'string' ? 'pi_1' : 'payment' in about ? about.payment : about.payout;
  const kind = typeof about === 'object' && 'payout' in about ? 'payout' : 'payment_intent';
  const isOther = about === 'other kind';
  return JSON.stringify({
    ...{ id: 'evt_1', object: 'event', created: 1_790_000_000, api_version: stripeApiVersion },
    ...(about === 'other account' && { account: 'acct_other' }),
    livemode: about === 'other mode',
    type: isOther ? 'plan.created' : kind === 'payout' ? 'payout.paid' : 'payment_intent.succeeded',
    data: { object: { id, object: isOther ? 'plan' : kind } },
  });
}

describePayments('Stripe, as the stand-in has it', async () => {
  const standIn = await startStripe();
  const click = async (page: string, method: TestMethod) => {
    await standIn.click(page, { number: numbers[method] });
  };
  const payOut = async (amount: number, outcome: 'arrives' | 'fails') => {
    const { id } = standIn.account.payOut(amount, 'eur');
    standIn.account.arrivePayout(id);
    if (outcome === 'fails') standIn.account.failPayout(id);
    return id;
  };
  return underTest(standIn, { click, payOut, close: () => standIn.close() });
});

const testKey = process.env.STRIPE_TEST_KEY ?? '';

describePayments(
  "Stripe's test mode",
  async () => {
    const webhookSecret = `whsec_${randomBytes(16).toString('hex')}`;
    return underTest({ secretKey: testKey, webhookSecret }, { click: null, payOut: null });
  },
  testKey === '' ? 'STRIPE_TEST_KEY is not set' : null,
);

describe('Stripe that is not well', () => {
  let standIn: StripeStandIn;
  let payments: ReturnType<typeof stripePayments>;
  beforeEach(async () => {
    standIn = await startStripe();
    payments = stripePayments({ ...standIn, timeoutMs: 300 });
  });
  afterEach(async () => {
    await payments.close();
    await standIn.close();
  });

  const open = () => payments.openCustomer({ key: 'k', organizationId: 7, name: 'A', email: null });
  const failure = (code: string, permanent: boolean) =>
    expect.objectContaining({ code, permanent, message: expect.not.stringContaining(standIn.secretKey) });

  it.each([
    ['error', 'provider_unreachable'],
    ['limited', 'provider_refused'],
    ['gone', 'provider_unreachable'],
    ['silent', 'provider_unreachable'],
    ['lost', 'provider_unreachable'],
    ['garbage', 'provider_unreachable'],
  ] as const)('and is %s fails for now', async (fault, code) => {
    standIn.fail(/customers/, fault, 2);
    await expect(open()).rejects.toEqual(failure(code, false));
  });

  it('did the work all the same, and the same key finds it', async () => {
    standIn.fail(/customers/, 'silent');
    await expect(open()).rejects.toEqual(failure('provider_unreachable', false));
    const [made] = standIn.account.objects.every('customer');
    expect(await open()).toBe(made?.id);
    expect(standIn.account.objects.every('customer')).toHaveLength(1);
  });

  it('and is nowhere fails for now', async () => {
    const nowhere = stripePayments({ ...standIn, url: 'http://127.0.0.1:9' });
    const asked = nowhere.openCustomer({ key: 'k', organizationId: 7, name: 'A', email: null });
    await expect(asked).rejects.toEqual(failure('provider_unreachable', false));
  });

  it('refuses a key that is not its own, for good', async () => {
    const stranger = stripePayments({ ...standIn, secretKey: 'sk_test_stranger' });
    const asked = stranger.openCustomer({ key: 'k', organizationId: 7, name: 'A', email: null });
    await expect(asked).rejects.toEqual(failure('provider_refused', true));
  });

  it('is asked in one version of its API', async () => {
    await open();
    expect([...standIn.versions]).toEqual([stripeApiVersion]);
    expect(stripeApiVersion).toMatch(/^\d{4}-\d\d-\d\d\.\w+$/);
  });
});

it('a payment that went back in more parts than Stripe lists at once is read to the last of them', async () => {
  const standIn = await startStripe();
  const { payments, save, close } = underTest(standIn, {
    ...{ click: null, payOut: null, close: () => standIn.close() },
  });
  const customer = await payments.openCustomer({ key: 'c', organizationId: 7, name: 'A', email: null });
  const about = {
    key: 'p',
    id: 8,
    customer,
    amountMinor: 500,
    currency: 'EUR',
    organizationId: 7,
    invoiceId: 9,
  };
  const asked = { ...about, method: await save(customer, 'good'), description: 'Invoice 9' };
  const { reference } = await payments.confirmCharge(await payments.prepareCharge(asked));
  for (let part = 0; part < 101; part += 1) standIn.account.refund(reference, 1, {});
  const seen = await payments.look({ kind: 'payment', reference });
  expect(seen?.kind === 'payment' && seen.refunds).toHaveLength(101);
  await close();
});

// Source: https://docs.stripe.com/currencies#zero-decimal and #special-cases
describe('an amount at Stripe', () => {
  it.each([
    ['EUR', '19.90', 1_990],
    ['HUF', '1990.00', 199_000],
    ['COP', '1990.50', 199_050],
    ['IDR', '1990.00', 199_000],
    ['PKR', '1990.00', 199_000],
    ['JPY', '1990', 1_990],
    ['ISK', '1990', 199_000],
    ['UGX', '1990', 199_000],
    ['MGA', '1990.00', 1_990],
    ['KWD', '1.990', 1_990],
  ])('of %s %s is %i', (currency, text, amount) => {
    const minor = parseMoney(text, currency) ?? Number.NaN;
    expect(toStripe(minor, currency)).toBe(amount);
    expect(fromStripe(amount, currency)).toBe(minor);
  });

  it('that it cannot take is refused', () => {
    for (const [minor, currency] of [
      [199_001, 'MGA'],
      [1_991, 'KWD'],
    ] as const)
      expect(() => toStripe(minor, currency)).toThrow(expect.objectContaining({ code: 'payment_invalid' }));
  });
});
