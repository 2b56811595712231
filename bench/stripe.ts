/** A stand-in for Stripe in a process of its own, as far away as the real one is; started by `nightly.ts`. */
import { startStripe } from '../test/stripe/standIn.ts';

const stripe = await startStripe();
stripe.events.hold(); // they would only say again what the jobs know
const { account, url, secretKey, webhookSecret } = stripe;
const cards = Array.from({ length: Number(process.argv[2]) }, () => {
  const customer = account.makeCustomer({});
  return { customer: customer.id, method: account.attach('pm_card_visa', customer.id).id };
});
process.send?.({ url, secretKey, webhookSecret, cards });
process.once('disconnect', () => process.exit(0));
