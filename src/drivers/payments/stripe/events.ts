import type Stripe from 'stripe';
import { type About, type MessageHeaders, PaymentError, type ProviderEvent } from '../contract.ts';

/** Seconds that a message may have been on its way; older ones may be somebody's who listened. */
const toleranceS = 300;

/** What we look at. The endpoint at Stripe is to be told of these; others do no harm. */
export const eventTypes = [
  ...(['checkout.session.completed', 'checkout.session.expired'] as const),
  ...(['checkout.session.async_payment_succeeded', 'checkout.session.async_payment_failed'] as const),
  ...(['payment_intent.succeeded', 'payment_intent.payment_failed'] as const),
  ...(['payment_intent.processing', 'payment_intent.canceled'] as const),
  ...(['charge.refunded', 'charge.updated', 'refund.updated', 'refund.failed'] as const),
  ...(['charge.dispute.created', 'charge.dispute.updated', 'charge.dispute.closed'] as const),
  ...(['charge.dispute.funds_withdrawn', 'charge.dispute.funds_reinstated'] as const),
  ...(['payout.created', 'payout.updated', 'payout.paid', 'payout.failed', 'payout.canceled'] as const),
  ...(['payment_method.detached', 'payment_method.updated', 'payment_method.automatically_updated'] as const),
] as const;

const known: readonly string[] = eventTypes;

/**
 * A message that Stripe signed. The signature is compared in constant time, and its age is told by this host's clock,
 * which is the world's and not one that tests move. Source: https://docs.stripe.com/webhooks#verify-manually
 */
export function readMessage(
  stripe: Stripe,
  body: Buffer,
  headers: MessageHeaders,
  secret: string,
): Stripe.Event {
  const header = headers['stripe-signature'];
  if (typeof header !== 'string')
    throw new PaymentError('signature_invalid', 'the header Stripe-Signature is missing', {
      permanent: true,
    });
  try {
    return stripe.webhooks.constructEvent(body, header, secret, toleranceS);
  } catch (cause) {
    const isStale = cause instanceof Error && /tolerance/.test(cause.message);
    const code = isStale ? 'signature_stale' : 'signature_invalid';
    const message = isStale
      ? `the signature is older than ${toleranceS} seconds`
      : 'the signature is not that of this body under our secret';
    throw new PaymentError(code, message, { permanent: true, cause });
  }
}

/** What an event is about. Of another account or another mode it is about nothing of ours. */
export function viewEvent(event: Stripe.Event, isLive: boolean): ProviderEvent {
  const { id, type, created, account, livemode } = event;
  const isOurs = account === undefined && livemode === isLive && known.includes(type);
  return {
    reference: id,
    type,
    about: isOurs ? aboutOf(event.data.object as unknown as Subject) : null,
    madeAt: new Date(created * 1_000),
  };
}

/** What the objects of our events have in common. */
interface Subject {
  object: string;
  id: string;
  payment_intent?: string | { id: string } | null;
}

function aboutOf({ object, id, payment_intent: intent }: Subject): About | null {
  if (object === 'checkout.session') return { kind: 'page', reference: id };
  if (object === 'payout') return { kind: 'payout', reference: id };
  if (object === 'payment_method') return { kind: 'method', reference: id };
  if (object === 'payment_intent') return { kind: 'payment', reference: id };
  // A charge, a refund, a dispute: part of a payment.
  const reference = typeof intent === 'object' ? intent?.id : intent;
  return reference ? { kind: 'payment', reference } : null;
}
