import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import Stripe from 'stripe';
import type { NewPage, Page, PaidFor, Payments, PaymentTruth } from '../contract.ts';
import { toStripe } from './amounts.ts';
import { failureOf, isMissing, isOfOtherMode, isTold } from './errors.ts';
import { eventTypes, readMessage, viewEvent } from './events.ts';
import { stripeLeastMinor } from './least.ts';
import { idFields, methodTruth, pageTruth, paymentTruth, payoutTruth, refundTruth } from './truths.ts';

export interface StripeOptions {
  secretKey: string;
  /** Of the endpoint that Stripe sends events to. */
  webhookSecret: string;
  /** Where its API answers, when that is not Stripe itself. */
  url?: string | null;
  timeoutMs?: number;
}

/** The version of Stripe's API that this engine was written for, whatever the account's default is. */
export const stripeApiVersion = '2026-10-28.endive';

/** Stripe lists a hundred at once; so many refunds or disputes of one payment are read, page by page. */
const mostOfPayment = 10_000;

/**
 * Payments by Stripe, over its own library: Checkout for pages, payment intents for charges of saved methods. What a call
 * makes carries our id in its metadata, by which it is found again after the day that Stripe remembers a key for.
 * Source: https://docs.stripe.com/api
 */
export function stripePayments(options: StripeOptions): Payments {
  const { secretKey, webhookSecret } = options;
  const { agent, ...place } = placeOf(options.url ?? 'https://api.stripe.com');
  const stripe = new Stripe(secretKey, {
    ...place,
    apiVersion: stripeApiVersion,
    httpAgent: agent,
    // Who calls tries again, with pauses of its own and the same key.
    maxNetworkRetries: 0,
    timeout: options.timeoutMs ?? 15_000,
    telemetry: false,
  });
  const isLive = /^(sk|rk)_live_/.test(secretKey);
  const call = async <T>(
    what: string,
    work: () => Promise<T>,
    about: { kind: 'method' | 'customer' | 'made'; customer?: string } | null = null,
  ): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw failureOf(error, what, secretKey, (await isOfAnother(error, about)) ? 'account' : about?.kind);
    }
  };
  // Under a key of another account, or of another mode, every customer and every method is missing, and all that we have made.
  const isOfAnother = async (error: unknown, about: { kind: string; customer?: string } | null) => {
    if (about === null || !isMissing(error)) return false;
    return about.kind === 'made' || (about.customer !== undefined && !(await knowsCustomer(about.customer)));
  };
  /** Null for what is not in our account. */
  const found = <T>(what: string, work: () => Promise<T>): Promise<T | null> =>
    call(what, () =>
      work().catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      }),
    );

  // One that was deleted is still read in the account that it was in, and in no other.
  const knowsCustomer = async (reference: string): Promise<boolean> =>
    (await found('looking at a customer', () => stripe.customers.retrieve(reference))) !== null;

  const paymentOf = async (intent: Stripe.PaymentIntent): Promise<PaymentTruth> => {
    const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null;
    if (charge?.paid !== true) return paymentTruth(intent, [], []);
    const about = { payment_intent: intent.id, limit: 100 };
    const refunds = await stripe.refunds.list(about).autoPagingToArray({ limit: mostOfPayment });
    const disputes = charge.disputed
      ? await stripe.disputes.list(about).autoPagingToArray({ limit: mostOfPayment })
      : [];
    return paymentTruth(intent, refunds, disputes);
  };
  const retrieveIntent = (reference: string) =>
    stripe.paymentIntents.retrieve(reference, { expand: ['latest_charge.balance_transaction'] });

  const opened = (session: Stripe.Checkout.Session): Page => {
    if (session.url === null) throw new TypeError('Stripe opened a page without an address');
    return { reference: session.id, url: session.url, expiresAt: new Date(session.expires_at * 1_000) };
  };

  return {
    kind: 'stripe',
    isTest: !isLive,
    capabilities: ['pages', 'off_session', 'refunds'],
    leastMinor: stripeLeastMinor,

    openCustomer({ key, organizationId, name, email }) {
      const customer = {
        name,
        ...(email !== null && { email }),
        metadata: idFields('organization', organizationId),
      };
      return call('making a customer', async () => {
        return (await stripe.customers.create(customer, { idempotencyKey: key })).id;
      });
    },

    openPaymentPage({ amountMinor, description, ...page }) {
      const price = {
        currency: page.currency.toLowerCase(),
        unit_amount: toStripe(amountMinor, page.currency),
        product_data: { name: description },
      };
      return call(
        'opening a page to pay on',
        async () => {
          const session = await stripe.checkout.sessions.create(
            {
              ...shared(page),
              mode: 'payment',
              line_items: [{ quantity: 1, price_data: price }],
              payment_intent_data: { description, metadata: forWhat(page) },
            },
            { idempotencyKey: page.key },
          );
          return opened(session);
        },
        { kind: 'customer', customer: page.customer },
      );
    },

    openSavingPage(page) {
      return call(
        'opening a page to save a method on',
        async () => {
          const session = await stripe.checkout.sessions.create(
            { ...shared(page), mode: 'setup', currency: page.currency.toLowerCase() },
            { idempotencyKey: page.key },
          );
          return opened(session);
        },
        { kind: 'customer', customer: page.customer },
      );
    },

    knowsCustomer,
    isCustomerOfTests(reference) {
      return call('looking at a customer', async () => {
        try {
          await stripe.customers.retrieve(reference);
          return !isLive;
        } catch (error) {
          if (!isMissing(error)) throw error;
          return isOfOtherMode(error) ? isLive : null;
        }
      });
    },

    async closePage(reference) {
      const closed = await found('closing a page', async () => {
        const session = await stripe.checkout.sessions.retrieve(reference);
        if (session.status === 'open') await stripe.checkout.sessions.expire(reference);
        return true;
      });
      return closed ?? false;
    },

    prepareCharge({ key, customer, method, amountMinor, currency, description, ...paid }) {
      const amount = toStripe(amountMinor, currency);
      return call(
        'preparing a charge',
        async () => {
          const intent = await stripe.paymentIntents.create(
            {
              ...{ amount, currency: currency.toLowerCase(), customer, payment_method: method, description },
              // Nobody is there to be sent elsewhere.
              automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
              metadata: forWhat(paid),
            },
            { idempotencyKey: key },
          );
          return intent.id;
        },
        { kind: 'method', customer },
      );
    },

    confirmCharge(reference) {
      return call(
        'charging a saved method',
        async () => {
          const before = await call('looking at a charge', () => retrieveIntent(reference), { kind: 'made' });
          // An intent is taken once whoever asks how often, so it needs no key, under which Stripe would repeat its own
          // failure for a day.
          if (before.status !== 'requires_confirmation')
            return withoutCustomer(await paymentOf(before), before);
          try {
            const taken = await stripe.paymentIntents.confirm(reference, {
              off_session: true,
              expand: ['latest_charge.balance_transaction'],
            });
            // This moment, so nothing of it can have gone back.
            return withoutCustomer(paymentTruth(taken, [], []), taken);
          } catch (error) {
            if (!isTold(error)) throw error;
          }
          const after = await retrieveIntent(reference);
          return withoutCustomer(await paymentOf(after), after);
        },
        { kind: 'method' },
      );
    },

    refund({ key, id, payment, amountMinor, currency }) {
      const amount = toStripe(amountMinor, currency);
      return call('giving money back', async () => {
        const before = await stripe.refunds
          .list({ payment_intent: payment, limit: 100 })
          .autoPagingToArray({ limit: mostOfPayment });
        const done = before.find((each) => refundTruth(each).id === id);
        const metadata = idFields('refund', id);
        const made =
          done ??
          (await stripe.refunds.create(
            { payment_intent: payment, amount, metadata },
            { idempotencyKey: key },
          ));
        return refundTruth(made);
      });
    },

    forgetMethod(reference, customer) {
      return call(
        'forgetting a method',
        async () => {
          try {
            const method = await stripe.paymentMethods.retrieve(reference);
            if (method.customer !== null) await stripe.paymentMethods.detach(reference);
          } catch (error) {
            if (!isMissing(error) || !(await knowsCustomer(customer))) throw error;
          }
        },
        { kind: 'made' },
      );
    },

    forgetCustomer(reference) {
      return call(
        'forgetting a customer',
        async () => {
          const customer = await stripe.customers.retrieve(reference);
          if (customer.deleted !== true) await stripe.customers.del(reference);
        },
        { kind: 'made' },
      );
    },

    readEvent(body, headers) {
      return viewEvent(readMessage(stripe, body, headers, webhookSecret), isLive);
    },

    async look({ kind, reference }) {
      if (kind === 'page') {
        const session = await found('looking at a page', () =>
          stripe.checkout.sessions.retrieve(reference, { expand: ['setup_intent.payment_method'] }),
        );
        return session && { kind, ...pageTruth(session) };
      }
      if (kind === 'method') {
        const method = await found('looking at a method', () =>
          stripe.paymentMethods.retrieve(reference, { expand: ['customer'] }),
        );
        return method && { kind, ...methodTruth(method) };
      }
      if (kind === 'payout') {
        const expand = ['balance_transaction', 'failure_balance_transaction'];
        const payout = await found('looking at a payout', () =>
          stripe.payouts.retrieve(reference, { expand }),
        );
        return payout && { kind, ...payoutTruth(payout) };
      }
      const truth = await found('looking at a payment', async () =>
        paymentOf(await retrieveIntent(reference)),
      );
      return truth && { kind, ...truth };
    },

    eventsSince(since, after) {
      return call('asking what happened', async () => {
        const page = await stripe.events.list({
          created: { gte: Math.floor(since.getTime() / 1_000) },
          types: [...eventTypes],
          limit: 100,
          ...(after !== null && { starting_after: after }),
        });
        const events = page.data.map((event) => viewEvent(event, isLive));
        return { events, after: page.has_more ? (events.at(-1)?.reference ?? null) : null };
      });
    },

    async close() {
      agent.destroy();
    },
  };
}

/** Where the library is to send its requests. */
function placeOf(address: string) {
  const { protocol, hostname, port } = new URL(address);
  const isPlain = protocol === 'http:';
  return {
    protocol: isPlain ? ('http' as const) : ('https' as const),
    host: hostname,
    port: port || (isPlain ? '80' : '443'),
    agent: isPlain ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true }),
  };
}

/** Our ids, by which a payment is known again when all that we have is an older backup. */
function forWhat({ id, organizationId, invoiceId }: PaidFor & { id: number }): Record<string, string> {
  return {
    ...idFields('charge', id),
    ...idFields('organization', organizationId),
    ...idFields('invoice', invoiceId),
  };
}

function shared({ id, customer, returnUrl, cancelUrl }: NewPage) {
  return {
    customer,
    client_reference_id: String(id),
    metadata: idFields('charge', id),
    success_url: returnUrl,
    cancel_url: cancelUrl,
  };
}

/** A charge whose customer is away, and which still waits for something after it was tried, waits for the customer. */
function withoutCustomer(truth: PaymentTruth, { status }: Stripe.PaymentIntent): PaymentTruth {
  if (status !== 'requires_action') return truth;
  const message = 'Your bank wants you to confirm this payment.';
  const decline = { code: 'authentication_required', message, needsCustomer: true, mayRetry: false };
  return { ...truth, state: 'failed', decline: truth.decline ?? decline };
}
