/** The stand-in for Stripe in a process of its own, so that what it costs is nobody else's; started by `nightly.ts`. */
import { startStripe } from '../test/stripe/standIn.ts';

/** What whoever started it is told first. */
export interface ProviderReady {
  url: string;
  secretKey: string;
  webhookSecret: string;
  /** Customers with a saved card each. */
  cards: { customer: string; method: string }[];
}

const stripe = await startStripe();
stripe.events.hold(); // they would only say again what the jobs know
const cards = Array.from({ length: Number(process.argv[2]) }, () => {
  const { id: customer } = stripe.account.makeCustomer({});
  return { customer, method: stripe.account.attach('pm_card_visa', customer).id };
});
const { url, secretKey, webhookSecret } = stripe;
const ready: ProviderReady = { url, secretKey, webhookSecret, cards };
process.send?.(ready);
process.once('disconnect', () => process.exit(0));
